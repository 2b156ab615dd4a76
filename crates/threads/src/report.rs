//! What threads and objects are called, for reports.

use crate::runtime::state::{Registered, State, with_state};
use std::borrow::Cow;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};
use stubborn_schedule::report::{self, Counterexample, Names, Naming, Recorded};
use stubborn_schedule::{Explorer, Failure, ObjectId, ProcessId, Program, Schedule};

/// The format of reports for machines.
pub(crate) const FORMAT: &str = "stubborn-threads-1";

/// The name of a thread of which no more is known.
fn plain_name(process: ProcessId, names: &Names) -> String {
    if process == 0 { "main".to_owned() } else { format!("thread {}", names.path(process)) }
}

/// A failure of which no more is known.
pub(crate) fn bare(failure: Failure, schedule: &Schedule, names: &Mutex<Names>) -> Counterexample {
    let names = names.lock().unwrap_or_else(PoisonError::into_inner);
    let thread = failure.process.map(|process| plain_name(process, &names));
    Counterexample::bare(failure, thread, names.text(schedule))
}

/// The story of the run that was recorded last.
pub(crate) fn tell<P: Program + ?Sized>(
    explorer: &Explorer<'_, P>,
    failure: Failure,
    run: (&Schedule, u32),
    names: &Names,
) -> Counterexample {
    with_state(|state| {
        let steps = state.recording.as_deref().unwrap_or_default().iter();
        let recorded: Vec<Recorded> = steps
            .map(|step| Recorded {
                process: step.process,
                op: step.op.clone(),
                out: step.out,
                place: said(step.place),
            })
            .collect();
        let naming = Called { state, names };
        report::tell(explorer.world(), &recorded, failure, run, (names, &naming))
    })
}

struct Called<'s> {
    state: &'s State,
    names: &'s Names,
}

impl Naming for Called<'_> {
    fn process(&self, process: ProcessId) -> String {
        let thread = self.state.known(process);
        let named = thread.and_then(|thread| thread.name.clone());
        named.map_or_else(|| plain_name(process, self.names), Cow::into_owned)
    }

    /// Kind and place of creation, with a number if several come from there.
    fn object(&self, id: ObjectId) -> String {
        let objects = &self.state.objects;
        let Some(object) = objects.get(id as usize) else { return "?".to_owned() };
        if let Some(process) = object.process {
            return self.process(process);
        }
        let Some(created) = object.created else { return object.kind.to_owned() };
        let is_twin = |other: &&Registered| {
            other.kind == object.kind && other.created.is_some_and(|place| said(place) == said(created))
        };
        let twins = objects.iter().filter(is_twin).count();
        let number = objects[..id as usize].iter().filter(is_twin).count() + 1;
        let number = if twins > 1 { format!(" #{number}") } else { String::new() };
        format!("{}{number} ({}:{})", object.kind, created.file(), created.line())
    }

    fn operation(&self, code: u32, _input: u64, out: Option<u64>) -> Option<(String, String)> {
        crate::runtime::counts::words(code, out)
    }

    fn place(&self, process: ProcessId) -> Option<(String, u32)> {
        let thread = self.state.known(process);
        thread.and_then(|thread| thread.place).map(said)
    }
}

/// The path of a file as the compiler was given it, and the line.
fn said(place: &Location<'_>) -> (String, u32) {
    (place.file().to_owned(), place.line())
}
