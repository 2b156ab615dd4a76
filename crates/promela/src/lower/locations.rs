//! Elements to locations and steps.
//!
//! A location is an element at which a process can be. Its steps are those of the basic statements with
//! which the element begins: a selection offers the first statements of all its options, a block the first
//! of its sequence. Where a step leads is found by following joins, jumps and break targets ("hunting");
//! within an atomic sequence the hunt stops before it leaves it, so that leaving is a step of its own.

use super::Lowering;
use super::flow::{Element, Flow, Kind, Label, Target};
use std::ops::Range;
use std::sync::Arc;
use stubborn_network::{Action, Location, LocationId, Step};
use stubborn_text::Diagnostic;

/// Elements that a hunt passes before it is called endless, as in SPIN.
const LONGEST_HUNT: usize = 500;

impl Lowering<'_> {
    /// The locations of the process that was built, and where it begins.
    pub(super) fn locations(&mut self) -> (Vec<Location>, LocationId) {
        let flow = std::mem::take(&mut self.flow);
        let first_number = self.n_numbered;
        self.n_numbered += flow.n_numbered;
        let mut work = Work {
            flow,
            first_number,
            jumps: Vec::new(),
            texts: Vec::new(),
            lines: Vec::new(),
            problems: Vec::new(),
        };
        work.resolve_jumps();
        work.check_d_steps();
        work.tie_loose_ends();
        work.patch_atomics();
        work.texts = work.flow.elements.iter().map(|e| self.text(e)).collect();
        work.lines = work.flow.elements.iter().map(|e| self.map.position(e.span).line).collect();
        if work.problems.is_empty() && work.flow.elements.len() > usize::from(u16::MAX) - 1 {
            let span = self.here;
            work.problems.push(Diagnostic::error("P0405", span, "the process has too many statements"));
        }
        let mut locations = Vec::new();
        let mut entry = LocationId(0);
        if work.problems.is_empty() {
            locations = work.all_locations();
            work.sequences(&mut locations);
            work.check_else(&locations);
            work.label(&mut locations);
            let first = work.flow.sequences[0].first.unwrap_or(0);
            entry = LocationId(work.hunt(first, work.flow.elements[first].is_atomic) as u16);
        }
        for label in work.flow.labels.iter().rev() {
            self.known.labels.insert(label.name.clone(), label.element as u16);
        }
        for problem in work.problems {
            self.report(problem);
        }
        (locations, entry)
    }

    /// The statement on one line.
    fn text(&self, element: &Element) -> String {
        match &element.kind {
            Kind::Stop => "-end-".to_owned(),
            Kind::Statement(Action::Else) => "else".to_owned(),
            Kind::Join | Kind::BreakTarget => "goto".to_owned(),
            _ => {
                let text = self.map.snippet(element.span);
                let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if line.chars().count() > 60 {
                    line = line.chars().take(59).chain(['…']).collect();
                }
                line
            }
        }
    }
}

struct Work {
    flow: Flow,
    /// How many elements SPIN made for what came before in the model.
    first_number: u32,
    /// The element that each jump leads to.
    jumps: Vec<Option<usize>>,
    texts: Vec<String>,
    lines: Vec<usize>,
    problems: Vec<Diagnostic>,
}

impl Work {
    fn resolve_jumps(&mut self) {
        let mut jumps = vec![None; self.flow.elements.len()];
        for (element, jump) in jumps.iter_mut().enumerate() {
            match self.flow.elements[element].kind {
                Kind::Jump(Target::Break(number)) => *jump = self.flow.breaks[number],
                Kind::Jump(Target::Label(goto)) => *jump = self.find_label(goto),
                _ => {}
            }
        }
        self.jumps = jumps;
    }

    /// The label that a `goto` means: of its own scope, else of the nearest scope around it, else any.
    fn find_label(&mut self, goto: usize) -> Option<usize> {
        let goto = &self.flow.gotos[goto];
        let nearness = |label: &&Label| {
            let common = label.scope.iter().zip(&goto.scope).take_while(|(a, b)| a == b).count();
            (common == label.scope.len(), common)
        };
        let named = self.flow.labels.iter().filter(|label| label.name == goto.name);
        let found = named.max_by_key(nearness).map(|label| label.element);
        if found.is_none() {
            let message = format!("there is no label `{}`", goto.name);
            self.problems.push(Diagnostic::error("P0328", goto.span, message));
        }
        found
    }

    /// A `d_step` begins at its beginning and goes on behind its end. SPIN also refuses jumps to the beginning,
    /// which are all right here.
    fn check_d_steps(&mut self) {
        for inside in self.d_steps() {
            for (jump, target) in self.jumps.iter().enumerate() {
                let Some(target) = target else { continue };
                let (code, message) = match (inside.contains(&jump), inside.contains(target)) {
                    (false, true) => ("P0334", "this jumps into a `d_step`"),
                    (true, false) => ("P0335", "this jumps out of a `d_step`"),
                    _ => continue,
                };
                self.problems.push(Diagnostic::error(code, self.flow.elements[jump].span, message));
            }
        }
    }

    /// The last element of a block leads to what follows the block.
    fn tie_loose_ends(&mut self) {
        // Outer blocks have larger numbers than what is in them.
        for element in (0..self.flow.elements.len()).rev() {
            if let Kind::Atomic(s) | Kind::DStep(s) | Kind::Block(s) = self.flow.elements[element].kind
                && let Some(last) = self.flow.sequences[s].last
            {
                self.flow.elements[last].next = self.flow.elements[element].next;
            }
        }
    }

    /// A jump out of an atomic sequence ends it; one from its end into one goes on with it.
    fn patch_atomics(&mut self) {
        for (element, jump) in self.jumps.clone().into_iter().enumerate() {
            let Some(target) = jump else { continue };
            let target = &self.flow.elements[target];
            let is_inside = target.is_atomic || target.is_atomic_end;
            let jump = &mut self.flow.elements[element];
            if (jump.is_atomic || jump.is_atomic_end) && !is_inside {
                jump.is_atomic = false;
                jump.is_atomic_end = true;
            } else if jump.is_atomic_end && is_inside {
                jump.is_atomic = true;
                jump.is_atomic_end = false;
            }
        }
    }

    fn endless(&mut self, element: usize) {
        let span = self.flow.elements[element].span;
        let problem = Diagnostic::error("P0329", span, "these jumps lead nowhere but round in a circle");
        if self.problems.is_empty() {
            self.problems.push(problem);
        }
    }

    /// The element at which a process is when control comes to `element`.
    fn hunt(&mut self, element: usize, is_atomic: bool) -> usize {
        let mut at = element;
        for _ in 0..LONGEST_HUNT {
            let next = match self.flow.elements[at].kind {
                Kind::Jump(_) => self.jumps[at],
                Kind::Join | Kind::BreakTarget => self.flow.elements[at].next,
                Kind::Unless(main, _) => self.flow.sequences[main].first,
                _ => return at,
            };
            let Some(next) = next else { return at };
            if is_atomic && !self.flow.elements[next].is_atomic {
                return at;
            }
            at = next;
        }
        self.endless(element);
        0
    }

    /// The element with which a sequence begins.
    fn start(&self, sequence: usize) -> usize {
        let mut at = self.flow.sequences[sequence].first.unwrap_or(0);
        for _ in 0..LONGEST_HUNT {
            let element = &self.flow.elements[at];
            match (&element.kind, element.next) {
                (Kind::Join, Some(next)) => at = next,
                (Kind::Unless(main, _), _) => at = self.flow.sequences[*main].first.unwrap_or(0),
                _ => break,
            }
        }
        at
    }

    /// The elements with which the options of an element begin, if it is composed.
    fn parts(&self, element: usize) -> Option<Vec<usize>> {
        match &self.flow.elements[element].kind {
            Kind::Select(options) => Some(options.iter().map(|&option| self.start(option)).collect()),
            Kind::Atomic(sequence) | Kind::Block(sequence) => Some(vec![self.start(*sequence)]),
            _ => None,
        }
    }

    /// The basic elements with which an element begins, in order.
    fn leaves(&self, element: usize) -> Vec<usize> {
        let mut leaves = Vec::new();
        let mut stack = vec![element];
        let mut budget = self.flow.elements.len() * 4;
        while let Some(element) = stack.pop() {
            match self.parts(element) {
                Some(parts) if budget > 0 => stack.extend(parts.into_iter().rev()),
                Some(_) => {}
                None => leaves.push(element),
            }
            budget = budget.saturating_sub(1);
        }
        leaves
    }

    /// Where a basic element leads.
    fn next(&mut self, element: usize) -> usize {
        let next = match self.flow.elements[element].kind {
            Kind::Jump(_) => self.jumps[element],
            _ => self.flow.elements[element].next,
        };
        let is_atomic = self.flow.elements[element].is_atomic;
        next.map_or(0, |next| self.hunt(next, is_atomic))
    }

    fn step(&mut self, element: usize, escape: u32) -> Step {
        let action = match &self.flow.elements[element].kind {
            Kind::Statement(action) => action.clone(),
            Kind::Stop => Action::End,
            Kind::DStep(sequence) => Action::Sequence(LocationId(self.start(*sequence) as u16)),
            _ => Action::Skip,
        };
        let next = LocationId(self.next(element) as u16);
        let Element { is_atomic, span, number, .. } = self.flow.elements[element];
        let number = number.map(|number| self.first_number + number);
        let (line, text) = (self.lines[element], self.texts[element].clone());
        let mentions = self.flow.elements[element].mentions.clone();
        Step { action, next, is_atomic, escape, number, resets: Vec::new(), mentions, span, line, text }
    }

    /// The locations of all elements, and the elements that their steps come from. Steps of escapes come
    /// first, those of outer ones before inner ones.
    fn all_locations(&mut self) -> Vec<Location> {
        let n = self.flow.elements.len();
        let mut sources: Vec<Vec<usize>> = (0..n).map(|element| self.leaves(element)).collect();
        let mut locations: Vec<Location> = Vec::new();
        for leaves in &sources {
            let steps = leaves.iter().map(|&leaf| self.step(leaf, 0)).collect();
            locations.push(Location { steps, ..Location::default() });
        }
        for element in 0..n {
            self.pull_escapes(element, &mut sources, &mut locations);
        }
        locations
    }

    /// Puts the steps of its escapes before those of an element. An escape that has escapes itself and comes
    /// earlier in the text brings them along, as its own: that is SPIN's order, and decides which of two
    /// escapes that are possible are both explored.
    fn pull_escapes(&mut self, element: usize, sources: &mut [Vec<usize>], locations: &mut [Location]) {
        for leaf in sources[element].clone() {
            if self.flow.elements[leaf].kind == Kind::Join {
                continue;
            }
            let is_atomic = self.flow.elements[leaf].is_atomic;
            for sequence in self.flow.elements[leaf].escapes.clone().into_iter().rev() {
                let first = self.flow.sequences[sequence].first.unwrap_or(0);
                let first = self.hunt(first, is_atomic);
                let pulled = sources[first].clone().into_iter().zip(locations[first].steps.clone());
                for (source, step) in pulled {
                    if !sources[element].contains(&source) {
                        sources[element].insert(0, source);
                        locations[element].steps.insert(0, Step { escape: first as u32, ..step });
                    }
                }
            }
        }
    }

    /// Within a `d_step` steps lead to each other, or to its exit.
    fn sequences(&mut self, locations: &mut [Location]) {
        for inside in self.d_steps() {
            for location in &mut locations[inside.clone()] {
                location.steps.retain(|step| step.escape == 0);
                for step in &mut location.steps {
                    let target = self.hunt(step.next.index(), false);
                    let is_inside = inside.contains(&target);
                    step.next = if is_inside { LocationId(target as u16) } else { LocationId::EXIT };
                    step.is_atomic = false;
                }
            }
        }
    }

    /// The elements within each `d_step`.
    fn d_steps(&self) -> Vec<Range<usize>> {
        let elements = self.flow.elements.iter().enumerate();
        let inside = elements.filter_map(|(element, Element { kind, .. })| match kind {
            Kind::DStep(sequence) => Some(self.lowest(*sequence)..element),
            _ => None,
        });
        inside.collect()
    }

    /// An option that begins with a selection brings the `else` of that selection along. SPIN's verifier refuses two
    /// at one place: which of them is meant?
    fn check_else(&mut self, locations: &[Location]) {
        let inside = self.d_steps();
        for (element, location) in locations.iter().enumerate() {
            let mut others = location.steps.iter().filter(|step| step.action == Action::Else);
            let is_inside = || inside.iter().any(|range| range.contains(&element));
            if let (Some(one), Some(two)) = (others.next(), others.next())
                && !is_inside()
            {
                let message = "two `else` at one place: none says what the other does not";
                let diagnostic =
                    Diagnostic::error("P0336", two.span, message).label(one.span, "the other").help(
                        "put a statement, a `skip` perhaps, before the selection with which an option begins",
                    );
                if !self.problems.contains(&diagnostic) {
                    self.problems.push(diagnostic);
                }
            }
        }
    }

    /// The lowest number in a sequence. All its elements lie between it and the element that holds the sequence.
    fn lowest(&self, sequence: usize) -> usize {
        let first = self.flow.sequences[sequence].first.unwrap_or(0);
        let inner = match &self.flow.elements[first].kind {
            Kind::Select(options) => options.iter().map(|&o| self.lowest(o)).min(),
            Kind::Atomic(s) | Kind::DStep(s) | Kind::Block(s) => Some(self.lowest(*s)),
            Kind::Unless(main, escape) => Some(self.lowest(*main).min(self.lowest(*escape))),
            // The join of a loop comes before the loop in its sequence, but was numbered after it.
            Kind::Join => self.flow.elements[first].next.and_then(|next| {
                let Kind::Select(options) = &self.flow.elements[next].kind else { return None };
                options.iter().map(|&o| self.lowest(o)).min()
            }),
            _ => None,
        };
        inner.unwrap_or(first).min(first)
    }

    /// Labels, and what SPIN makes of those on the first statement of an option: they count at the target
    /// of that statement too.
    fn label(&mut self, locations: &mut [Location]) {
        for label in &self.flow.labels {
            let location = &mut locations[label.element];
            location.labels.push(label.name.to_string());
            location.is_end |= starts(&label.name, "end");
            location.is_progress |= starts(&label.name, "progress");
            location.is_accept |= starts(&label.name, "accept");
        }
        for element in 0..self.flow.elements.len() {
            if self.flow.elements[element].kind == Kind::Stop {
                locations[element].is_end = true;
            }
            for part in self.parts(element).unwrap_or_default() {
                let (is_end, is_progress) = (locations[part].is_end, locations[part].is_progress);
                let is_accept = locations[part].is_accept;
                for leaf in self.leaves(part) {
                    let target = self.next(leaf);
                    locations[target].is_end |= is_end;
                    locations[target].is_progress |= is_progress;
                    locations[target].is_accept |= is_accept;
                }
            }
        }
        for element in 0..self.flow.elements.len() {
            if self.flow.elements[element].kind == Kind::Join && locations[element].is_end {
                let target = self.next(element);
                locations[target].is_end = true;
            }
        }
    }
}

fn starts(label: &Arc<str>, word: &str) -> bool {
    label.starts_with(word)
}
