//! Models that break the rules of the game, one mistake per variant. What `stubborn` says to each is tested.

use stubborn::prelude::*;

/// A counter and a flag, and a mistake.
struct Broken {
    layout: Layout,
    mistake: String,
    x: Var,
    y: Var,
    cells: Array,
}

impl Broken {
    fn new(mistake: &str) -> Self {
        let mut layout = Layout::new();
        let x = match mistake {
            "bad-range" => layout.bits("x", 77),
            // What is wrong shows only after more states than are checked without being asked.
            "late-check" | "late-read" | "slow" => layout.var("x", 0..=9_000),
            "wide" | "wide-wrong" => layout.var("x", 0..=20_000),
            _ => layout.var("x", 0..=2),
        };
        let y = layout.var(if mistake == "twice" { "x" } else { "y" }, 0..=1);
        let cells = layout.array("cells", if mistake == "too-large" { 600_000 } else { 2 }, 0..=1);
        Self { layout, mistake: mistake.to_owned(), x, y, cells }
    }

    /// True; looks at `y` only when `x` is large.
    fn late(&self, s: &State<'_>) -> bool {
        s.get(self.x) < 8_000 || s.at_most(self.y, 1)
    }

    fn has(&self, mistake: &str) -> bool {
        self.mistake == mistake
    }
}

impl Model for Broken {
    fn name(&self) -> String {
        if self.has("escape") { "\u{1b}[31mred\n".into() } else { format!("broken: {}", self.mistake) }
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn n_transitions(&self) -> usize {
        match self.mistake.as_str() {
            "no-transitions" => 0,
            "wide" | "wide-wrong" => 10_000,
            _ => 2,
        }
    }

    fn questions(&self) -> Vec<Question> {
        match self.mistake.as_str() {
            "no-questions" => Vec::new(),
            "no-such-transition" => vec![Question::Fair { often: TransitionId(7), rarely: Vec::new() }],
            _ => vec![Question::Safety],
        }
    }

    fn fire(&self, t: usize, s: &mut State<'_>) -> bool {
        match self.mistake.as_str() {
            "wide" | "wide-wrong" => {
                let may = s.is(self.x, 0);
                if may {
                    s.set(self.x, t + 1);
                }
                return may;
            }
            "slow" => std::thread::sleep(std::time::Duration::from_millis(5)),
            "late-check" | "late-read" if t == 0 => {
                let may = s.at_most(self.x, 8_999) && (!self.has("late-read") || self.late(s));
                if may {
                    s.add(self.x, 1);
                }
                return may;
            }
            _ => {}
        }
        if t == 1 {
            let may = s.is(self.y, 0);
            if may {
                s.set(self.y, 1);
                if self.has("dependent") {
                    s.set(self.x, 0);
                }
            }
            return may;
        }
        match s.get(self.x) {
            2 if self.has("too-narrow") => s.set(self.x, 3),
            2 if self.has("below-zero") => s.add(self.x, -3),
            2 if self.has("index") => s.set(self.cells[2], 1),
            2 if self.has("panics") => panic!("a mistake in the model"),
            2 if self.has("gives-up") => s.fail("x should never be two"),
            2 if self.has("changes") => {
                s.set(self.y, 1);
                return false;
            }
            2 if !self.has("slow") => return false,
            9_000 => return false,
            x => s.set(self.x, x + 1),
        }
        true
    }

    fn initial(&self, s: &mut State<'_>) {
        if self.has("initial") {
            s.set(self.x, 9);
        }
    }

    fn check(&self, s: &State<'_>) -> Result<(), String> {
        if self.has("check-index") || self.has("late-index") && s.is(self.x, 2) {
            s.get(self.cells[5]);
        }
        if self.has("late-check") && !self.late(s) {
            return Err("unreachable".into());
        }
        Ok(())
    }

    fn has_rules(&self) -> bool {
        !["footprint", "late-check", "late-read", "raises", "missing-element"]
            .contains(&self.mistake.as_str())
    }

    fn rules(&self, t: usize, _: &State<'_>, need: &mut Needs<'_>) {
        match self.mistake.as_str() {
            "rule-names-none" => need.transition(17),
            "dependent" => {}
            "wide" => need.all(),
            _ if t == 0 => {}
            _ => need.all(),
        }
    }

    fn footprint(&self, t: usize) -> Option<Footprint> {
        let f = Footprint::new();
        Some(match (self.mistake.as_str(), t) {
            // The mistake: the first transition reads x, and does not say so.
            ("footprint", 0) => f.writes(self.x),
            ("raises", 0) => f.fails_by(self.x, [1]).updates(self.x),
            ("missing-element", 0) => f.updates(self.x).reads(self.cells[2]),
            // The mistake: it reads y, too, in the end.
            ("late-read", 0) | ("late-check", 0) => f.updates(self.x),
            _ if self.has_rules() => return None,
            _ => f.updates(self.y),
        })
    }

    fn check_footprint(&self) -> Option<Footprint> {
        // The mistake: it reads y, too, in the end.
        self.has("late-check").then(|| Footprint::new().reads(self.x))
    }

    fn has_symmetry(&self) -> bool {
        self.has("symmetry")
    }

    fn represent(&self, s: &mut State<'_>) {
        // The mistake: y says nothing about x.
        if s.is(self.y, 1) {
            s.set(self.x, 0);
        }
    }
}

fn main() -> std::process::ExitCode {
    stubborn::main_with(|params| match &params.variant {
        Some(mistake) => Ok(Box::new(Broken::new(mistake))),
        None => Err("say which mistake with --variant".into()),
    })
}
