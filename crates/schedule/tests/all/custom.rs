//! An object that the engine does not know: a register that keeps the largest number. Writes commute if nobody gets to know
//! what was there before; a table that says so saves runs and loses nothing.

use crate::common::observations;
use stubborn_schedule::objects::{CustomObject, Object, Relation};
use stubborn_schedule::{Action, Algorithm, Instruction, Op, ProcessId, Script};

const RAISE: u32 = 0;
const READ: u32 = 1;
const WAIT: u32 = 2;

#[derive(Clone, Debug)]
struct Largest {
    value: u64,
    has_table: bool,
}

impl CustomObject for Largest {
    fn enabled(&self, _: ProcessId, code: u32, input: u64) -> bool {
        code != WAIT || self.value >= input
    }

    fn execute(&mut self, _: ProcessId, code: u32, input: u64) -> u64 {
        if code == RAISE {
            self.value = self.value.max(input);
        }
        if code == READ { self.value } else { 0 }
    }

    fn relation(&self, first: (u32, u64, u64), second: (u32, u64, u64)) -> Relation {
        match (first.0, second.0) {
            (RAISE, RAISE) | (READ | WAIT, READ | WAIT) if self.has_table => Relation::Independent,
            _ => Relation::Doubtful,
        }
    }

    fn copy(&self) -> Box<dyn CustomObject> {
        Box::new(self.clone())
    }
}

fn script(has_table: bool) -> Script {
    let on = |code, input| Instruction::Do(Op::on(0, Action::Custom { code, input }));
    let object = Object::Custom(Box::new(Largest { value: 0, has_table }));
    let processes = vec![
        vec![on(RAISE, 1), on(RAISE, 3)],
        vec![on(RAISE, 2), on(READ, 0)],
        vec![on(WAIT, 2), on(READ, 0)],
    ];
    Script::new(vec![object], processes)
}

#[test]
fn objects_of_the_users_are_explored_with_and_without_a_table() {
    let (all, _, _) = observations(&script(false), Algorithm::Dfs, None, 10_000).unwrap();
    assert!(all.len() > 2);
    for algorithm in Algorithm::ALL {
        let [plain, tabled] =
            [false, true].map(|has_table| observations(&script(has_table), algorithm, None, 10_000).unwrap());
        let strip = |seen: &std::collections::BTreeSet<String>| -> Vec<String> {
            seen.iter().map(|seen| seen.replace("true", "false")).collect()
        };
        assert_eq!(plain.0, all, "{}", algorithm.word());
        assert_eq!(strip(&tabled.0), strip(&all), "{}", algorithm.word());
        assert!(tabled.1 <= plain.1, "{}", algorithm.word());
    }
}
