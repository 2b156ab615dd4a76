//! A schedule: the complete recipe for one run, and its text form.
//!
//! The text is a list of steps separated by `.`: the number of the process that moves, with `x` and a count if it
//! moves several times in a row, and with `=` and the outcome if it chose between several.
//! `0x3.1.2=1` is process 0 three times, process 1, process 2 with outcome 1.

use crate::op::ProcessId;
use std::fmt;
use std::str::FromStr;

/// Who moves, and what a choice gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// Who.
    pub process: ProcessId,
    /// Which of several outcomes.
    pub choice: u32,
}

/// Who moves, from the beginning on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule(pub Vec<Turn>);

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text_with(|process| process.to_string()))
    }
}

impl Schedule {
    /// The text, with processes by names that have none of `.`, `=` and `x` in them.
    pub fn text_with(&self, name: impl Fn(ProcessId) -> String) -> String {
        let mut text = String::new();
        let mut rest = self.0.as_slice();
        while let Some(&turn) = rest.first() {
            let n = rest.iter().take_while(|&&other| other == turn).count();
            rest = &rest[n..];
            if !text.is_empty() {
                text.push('.');
            }
            text += &name(turn.process);
            if turn.choice > 0 {
                text += &format!("={}", turn.choice);
            }
            if n > 1 {
                text += &format!("x{n}");
            }
        }
        text
    }

    /// A schedule from a text with names.
    pub fn from_text_with(
        text: &str,
        mut find: impl FnMut(&str) -> Option<ProcessId>,
    ) -> Result<Schedule, NoSchedule> {
        let mut turns = Vec::new();
        for part in text.trim().split('.').filter(|part| !part.is_empty()) {
            let no = || NoSchedule { part: part.chars().take(40).collect() };
            let (turn, times) = part.split_once('x').map_or((part, "1"), |(turn, times)| (turn, times));
            let (process, choice) = turn.split_once('=').unwrap_or((turn, "0"));
            let process = find(process.trim()).ok_or_else(no)?;
            let choice = choice.parse().map_err(|_| no())?;
            let times: usize = times.parse().map_err(|_| no())?;
            if turns.len().saturating_add(times) > MAX_STEPS {
                return Err(no());
            }
            turns.extend(std::iter::repeat_n(Turn { process, choice }, times));
        }
        Ok(Schedule(turns))
    }
}

/// A text that is no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSchedule {
    /// The part that was not understood.
    pub part: String,
}

impl fmt::Display for NoSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is no step of a schedule: expected PROCESS, PROCESS=OUTCOME, PROCESSxTIMES",
            self.part
        )
    }
}

impl std::error::Error for NoSchedule {}

/// A schedule in a text has at most so many steps.
const MAX_STEPS: usize = 1 << 24;

impl FromStr for Schedule {
    type Err = NoSchedule;

    fn from_str(text: &str) -> Result<Schedule, NoSchedule> {
        let small = |process: &ProcessId| *process <= 1 << 20;
        Schedule::from_text_with(text, |name| name.parse().ok().filter(small))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_is_read_as_it_was_written() {
        let turn = |process, choice| Turn { process, choice };
        let schedule = Schedule(vec![turn(0, 0), turn(0, 0), turn(2, 1), turn(1, 0), turn(1, 2), turn(1, 2)]);
        assert_eq!(schedule.to_string(), "0x2.2=1.1.1=2x2");
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
        assert_eq!("".parse(), Ok(Schedule::default()));
    }

    #[test]
    fn what_is_no_schedule_is_refused() {
        for text in ["a", "1x", "1=x2", "=1", "1x99999999999", "99999999999", "1,2", "4000000000"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }
}
