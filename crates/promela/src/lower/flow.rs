//! Control flow as SPIN builds it: elements in sequences, sequences in elements.
//!
//! Each statement is an element with a number; the numbers are SPIN's, in the order of its parser, because
//! `pc_value` shows them. Selections and loops get an element of their own and a join (`Join`, SPIN's `.`),
//! loops also a break target. Whether control passes through an element without a step is decided later
//! (`locations`), and depends on what is atomic: that is marked here.

use stubborn_network::{Action, Expr};
use stubborn_text::Span;

/// Where a jump goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// To a label.
    Label(usize),
    /// Behind the loop with this number.
    Break(usize),
}

/// What an element is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A basic statement.
    Statement(Action),
    /// `goto` and `break`; the number of the reference in [`Flow::gotos`].
    Jump(Target),
    /// Where the options of a selection or loop come together.
    Join,
    /// What follows a loop.
    BreakTarget,
    /// A selection or a loop: its options.
    Select(Vec<usize>),
    /// `atomic { ... }`.
    Atomic(usize),
    /// `d_step { ... }`.
    DStep(usize),
    /// `{ ... }`.
    Block(usize),
    /// `{ ... } unless { ... }`: both sequences.
    Unless(usize, usize),
    /// The end of a process.
    Stop,
}

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) span: Span,
    pub(super) next: Option<usize>,
    /// How many elements of the process SPIN made before it; none if SPIN does not make it.
    pub(super) number: Option<u32>,
    /// Sequences that can take over here, outermost first.
    pub(super) escapes: Vec<usize>,
    /// In an atomic sequence and not its last element.
    pub(super) is_atomic: bool,
    /// The last element of an atomic sequence.
    pub(super) is_atomic_end: bool,
    /// Whether it does nothing, by name: `skip` or a print.
    pub(super) idle: Option<Idle>,
    /// What it mentions without effect.
    pub(super) mentions: Vec<Expr>,
}

/// Statements that do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Idle {
    Skip,
    Print,
}

/// Elements one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    pub(super) first: Option<usize>,
    pub(super) last: Option<usize>,
    /// The last element before a join was appended.
    pub(super) extent: Option<usize>,
}

/// A label: its name, the path of its scope, its element.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub(super) name: std::sync::Arc<str>,
    pub(super) scope: Vec<usize>,
    pub(super) element: usize,
}

/// A `goto`, to be resolved when all labels are known.
#[derive(Clone, Debug)]
pub(super) struct Goto {
    pub(super) name: std::sync::Arc<str>,
    pub(super) scope: Vec<usize>,
    pub(super) span: Span,
}

/// The control flow of a process. Element zero is not used, so that numbers are SPIN's.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub(super) elements: Vec<Element>,
    /// How many of them SPIN makes.
    pub(super) n_numbered: u32,
    pub(super) sequences: Vec<Sequence>,
    /// The sequences that are being built, innermost last.
    open: Vec<usize>,
    pub(super) labels: Vec<Label>,
    pub(super) gotos: Vec<Goto>,
    /// The element behind each loop.
    pub(super) breaks: Vec<Option<usize>>,
    /// The loops around the current statement.
    pub(super) loops: Vec<usize>,
}

impl Flow {
    /// Begins a sequence.
    pub(super) fn open(&mut self) {
        self.sequences.push(Sequence::default());
        self.open.push(self.sequences.len() - 1);
    }

    /// Ends the innermost sequence.
    pub(super) fn close(&mut self) -> usize {
        let id = self.open.pop().expect("a sequence is open");
        self.sequences[id].extent = self.sequences[id].last;
        id
    }

    /// A new element, in no sequence yet.
    pub(super) fn element(&mut self, kind: Kind, span: Span) -> usize {
        if self.elements.is_empty() {
            self.push_element(Kind::Join, span);
        }
        let element = self.push_element(kind, span);
        self.elements[element].number = Some(self.n_numbered);
        self.n_numbered += 1;
        element
    }

    fn push_element(&mut self, kind: Kind, span: Span) -> usize {
        self.elements.push(Element {
            kind,
            span,
            next: None,
            number: None,
            escapes: Vec::new(),
            is_atomic: false,
            is_atomic_end: false,
            idle: None,
            mentions: Vec::new(),
        });
        self.elements.len() - 1
    }

    /// Appends an element to a sequence.
    pub(super) fn append(&mut self, element: usize, sequence: usize) {
        match self.sequences[sequence].last {
            None => self.sequences[sequence].first = Some(element),
            Some(last) => self.elements[last].next = Some(element),
        }
        self.sequences[sequence].last = Some(element);
    }

    /// The innermost sequence.
    pub(super) fn current(&self) -> usize {
        *self.open.last().expect("a sequence is open")
    }

    /// A new element at the end of the innermost sequence.
    pub(super) fn add(&mut self, kind: Kind, span: Span) -> usize {
        let element = self.element(kind, span);
        self.append(element, self.current());
        element
    }

    /// Begins a loop: `break` leads behind it from now on.
    pub(super) fn begin_loop(&mut self) {
        self.breaks.push(None);
        self.loops.push(self.breaks.len() - 1);
    }

    /// A selection of these options.
    pub(super) fn select(&mut self, options: Vec<usize>, span: Span) -> usize {
        let options = self.else_last(options);
        let select = self.element(Kind::Select(options.clone()), span);
        let join = self.element(Kind::Join, span);
        for option in options {
            self.append(join, option);
        }
        let current = self.current();
        self.append(select, current);
        self.append(join, current);
        select
    }

    /// A loop of these options; [`Flow::begin_loop`] came before.
    pub(super) fn repeat(&mut self, options: Vec<usize>, span: Span) -> usize {
        let options = self.else_last(options);
        let select = self.element(Kind::Select(options.clone()), span);
        let join = self.element(Kind::Join, span);
        for option in options {
            self.append(join, option);
        }
        let behind = self.element(Kind::BreakTarget, span);
        if let Some(number) = self.loops.pop() {
            self.breaks[number] = Some(behind);
        }
        let current = self.current();
        self.append(join, current);
        self.append(select, current);
        self.append(behind, current);
        select
    }

    /// `else` is tried after all other options.
    fn else_last(&self, options: Vec<usize>) -> Vec<usize> {
        let is_else = |&option: &usize| {
            let first = self.sequences[option].first;
            first.is_some_and(|e| self.elements[e].kind == Kind::Statement(Action::Else))
        };
        let (last, mut options): (Vec<usize>, Vec<usize>) = options.into_iter().partition(is_else);
        options.extend(last);
        options
    }

    /// `main unless escape`, both sequences.
    pub(super) fn unless(&mut self, main: usize, escape: usize, span: Span) -> usize {
        let unless = self.element(Kind::Unless(main, escape), span);
        let join = self.element(Kind::Join, span);
        self.append(join, main);
        self.append(join, escape);
        self.attach_escape(main, escape);
        let current = self.current();
        self.append(unless, current);
        self.append(join, current);
        unless
    }

    /// The elements of a sequence up to its extent.
    fn members(&self, sequence: usize) -> Vec<usize> {
        let Sequence { first, extent, .. } = self.sequences[sequence];
        let mut members = Vec::new();
        let mut at = first;
        while let Some(element) = at {
            members.push(element);
            at = if Some(element) == extent { None } else { self.elements[element].next };
        }
        members
    }

    /// Numbers the elements from `first` on again: those of the `late` sequences, without what is in them, come
    /// last.
    pub(super) fn number_last(&mut self, first: usize, late: impl Iterator<Item = usize>) {
        let late: Vec<usize> = late.flat_map(|sequence| self.members(sequence)).collect();
        let others = (first..self.elements.len()).filter(|element| !late.contains(element));
        let mut order: Vec<usize> = others.chain(late.iter().copied()).collect();
        order.retain(|&element| self.elements[element].number.is_some());
        let mut numbers: Vec<Option<u32>> = order.iter().map(|&e| self.elements[e].number).collect();
        numbers.sort_unstable();
        for (element, number) in order.into_iter().zip(numbers) {
            self.elements[element].number = number;
        }
    }

    fn attach_escape(&mut self, sequence: usize, escape: usize) {
        for element in self.members(sequence) {
            self.escape_element(element, escape);
        }
    }

    fn escape_element(&mut self, element: usize, escape: usize) {
        if self.elements[element].escapes.contains(&escape) {
            return;
        }
        for inner in self.elements[element].escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.elements[element].escapes.insert(0, escape);
        match self.elements[element].kind.clone() {
            Kind::Unless(main, _) => self.attach_escape(main, escape),
            Kind::Select(options) => {
                options.into_iter().for_each(|option| self.attach_escape(option, escape));
            }
            Kind::DStep(sequence) => {
                if let Some(first) = self.sequences[sequence].first {
                    self.escape_element(first, escape);
                }
            }
            Kind::Atomic(sequence) | Kind::Block(sequence) => self.attach_escape(sequence, escape),
            _ => {}
        }
    }

    /// Removes what SPIN calls redundant skips from an option: a `skip` after a `skip` or print, unless it
    /// has a label or is the last statement.
    pub(super) fn prune(&mut self, option: usize) {
        let mut previous: Option<usize> = None;
        let mut n_idle = 0;
        for element in self.members(option) {
            let idle = self.elements[element].idle;
            let is_labelled = self.labels.iter().any(|label| label.element == element);
            n_idle = if idle.is_some() && !is_labelled { n_idle + 1 } else { 0 };
            let is_last = self.sequences[option].last == Some(element);
            match previous {
                Some(previous) if n_idle > 1 && idle == Some(Idle::Skip) && !is_last => {
                    self.elements[previous].next = self.elements[element].next;
                }
                _ => previous = Some(element),
            }
        }
    }

    /// Marks an atomic sequence; in a `d_step` (`is_single`) nested ones become plain blocks too.
    pub(super) fn make_atomic(&mut self, sequence: usize, is_single: bool) {
        self.mark_atomic(sequence, is_single);
        let Some(last) = self.sequences[sequence].last else { return };
        match self.elements[last].kind {
            Kind::Block(inner) | Kind::Atomic(inner) => self.make_atomic(inner, is_single),
            Kind::Unless(main, _) => self.make_atomic(main, is_single),
            _ => {
                self.elements[last].is_atomic = false;
                self.elements[last].is_atomic_end = true;
            }
        }
    }

    fn mark_atomic(&mut self, sequence: usize, is_single: bool) {
        let Sequence { first, last, .. } = self.sequences[sequence];
        let mut at = first;
        while let Some(element) = at {
            self.elements[element].is_atomic = true;
            match self.elements[element].kind.clone() {
                Kind::Atomic(inner) | Kind::Block(inner) => {
                    self.elements[element].kind = Kind::Block(inner);
                    self.mark_atomic(inner, is_single);
                }
                Kind::DStep(inner) if is_single => {
                    self.elements[element].kind = Kind::Block(inner);
                    self.mark_atomic(inner, is_single);
                }
                Kind::Select(options) => {
                    options.into_iter().for_each(|option| self.mark_atomic(option, is_single));
                }
                Kind::Unless(main, escape) => {
                    self.mark_atomic(main, is_single);
                    self.mark_atomic(escape, is_single);
                }
                _ => {}
            }
            at = if Some(element) == last { None } else { self.elements[element].next };
        }
    }
}
