//! What the first step of a transition waits for: clauses of literals, and what may go wrong in asking.

use super::super::channels::Channels;
use super::super::touch::{Clause, Literal, Read, Test};
use super::{Builder, Known, wanted};
use std::rc::Rc;
use stubborn_network::{Action, BinaryOp, ChannelTest, Expr, LocationId, Pattern, Place, UnaryOp};

/// Clauses that a guard is taken apart into, at most; what is more is taken as a whole.
const MOST_CLAUSES: usize = 8;

impl Builder<'_> {
    /// What the first step waits for.
    pub(super) fn guard(&mut self, location: LocationId, index: usize) {
        let known = self.known;
        let steps = known.steps(location);
        let step = &steps[index];
        let mut guard = self.action_guard(location, &step.action, index);
        for escape in steps[..index].iter().filter(|s| s.escape != 0 && s.escape != step.escape) {
            guard.extend(self.not(location, &escape.action));
        }
        if let Some(provided) = &known.network.processes[known.kind].provided {
            guard.extend(self.clauses(provided, true));
        }
        self.touch.guard.append(&mut guard);
    }

    /// What decides whether evaluating the guard goes wrong: indices, divisors and channels; and whether it is
    /// evaluated at all, which `provided` and the escapes before it tell.
    pub(super) fn find_risks(&mut self, location: LocationId, index: usize) {
        let known = self.known;
        let mut risks = Vec::new();
        self.guard_risks(&self.known.steps(location)[index].action, &mut risks);
        let provided = known.network.processes[known.kind].provided.as_ref();
        provided.iter().flat_map(|expr| expr.risks()).for_each(|expr| known.reads(expr, &mut risks));
        if risks.is_empty() {
            return;
        }
        provided.iter().for_each(|expr| known.reads(expr, &mut risks));
        let steps = known.steps(location);
        for escape in steps[..index].iter().filter(|s| s.escape != 0) {
            let clauses = self.action_guard(location, &escape.action, 0);
            risks.extend(clauses.into_iter().flatten().flat_map(reads_of));
        }
        self.touch.risks = risks;
    }

    fn guard_risks(&self, action: &Action, out: &mut Vec<Read>) {
        let known = self.known;
        match action {
            Action::Guard(expr) => {
                let risks = expr.risks_if(&|expr| known.is_fallible(expr));
                risks.into_iter().for_each(|expr| known.reads(expr, out));
            }
            Action::Send { channel, .. } => known.reads(channel, out),
            Action::Receive { channel, fields, .. } => {
                known.reads(channel, out);
                let is_risky = |field: &Pattern| matches!(field, Pattern::Match(expr) if expr.may_fail());
                if fields.iter().any(is_risky) {
                    // Which values are compared depends on the message.
                    out.push(Read::Contents(known.channels(channel)));
                    self.known.pattern_reads(fields, out);
                }
            }
            Action::Sequence(entry) => {
                self.known.steps(*entry).iter().for_each(|step| self.guard_risks(&step.action, out));
            }
            _ => {}
        }
    }

    fn action_guard(&mut self, location: LocationId, action: &Action, index: usize) -> Vec<Clause> {
        match action {
            Action::Skip
            | Action::Assign(..)
            | Action::Assert(_)
            | Action::SetPriority(..)
            | Action::Run(_) => Vec::new(),
            Action::Guard(expr) => self.clauses(expr, true),
            Action::Else => {
                let known = self.known;
                let steps = known.steps(location);
                steps[..index].iter().flat_map(|s| self.not(location, &s.action)).collect()
            }
            Action::Send { channel, fields, .. } => {
                let (buffered, rendezvous) = self.known.sorts(&self.known.channels(channel));
                let mut clause = Vec::new();
                if !buffered.is_empty() {
                    clause.push(self.channel_literal(Test::NotFull(buffered), channel, ChannelTest::NotFull));
                }
                if !rendezvous.is_empty() {
                    let mut reads = Vec::new();
                    self.known.reads(channel, &mut reads);
                    fields.iter().for_each(|f| self.known.reads(f, &mut reads));
                    for (pid, location, step) in self.partners.takers(self.known.pid, &rendezvous) {
                        self.taker_reads(pid, location, step, &mut reads);
                    }
                    let pid = self.known.pid.unwrap_or(usize::MAX);
                    clause.push(Literal {
                        test: Test::Partner { pid, channels: rendezvous },
                        reads,
                        truth: None,
                    });
                }
                vec![clause]
            }
            Action::Receive { channel, is_random, fields, .. } => {
                self.receive_guard(channel, *is_random, fields)
            }
            Action::End => match self.known.pid {
                Some(pid) => {
                    vec![vec![Literal { test: Test::Youngest(pid), reads: Vec::new(), truth: None }]]
                }
                None => vec![vec![self.other(vec![Read::Population])]],
            },
            Action::Sequence(entry) => {
                let known = self.known;
                match known.steps(*entry) {
                    [only] => self.action_guard(*entry, &only.action, 0),
                    steps => {
                        let mut reads = Vec::new();
                        let mut offered = Channels::default();
                        for (i, step) in steps.iter().enumerate() {
                            for literal in self.action_guard(*entry, &step.action, i).into_iter().flatten() {
                                reads.extend(reads_of(literal));
                            }
                            offered.union(&wanted(known, &step.action));
                        }
                        let mut clause = vec![self.other(reads)];
                        if !offered.is_empty() {
                            let pid = known.pid.unwrap_or(usize::MAX);
                            let test = Test::Offered { pid, channels: offered };
                            clause.push(Literal { test, reads: Vec::new(), truth: None });
                        }
                        vec![clause]
                    }
                }
            }
        }
    }

    fn receive_guard(&mut self, channel: &Expr, is_random: bool, fields: &[Pattern]) -> Vec<Clause> {
        let (buffered, rendezvous) = self.known.sorts(&self.known.channels(channel));
        let mut reads = Vec::new();
        self.known.reads(channel, &mut reads);
        let is_free = self.known.pattern_reads(fields, &mut reads);
        let mut clauses = Vec::new();
        if !buffered.is_empty() {
            let poll =
                || Expr::Poll { channel: Box::new(channel.clone()), is_random, fields: fields.to_vec() };
            if is_random && !is_free {
                let truth = self.truth(poll, true);
                clauses.push(vec![Literal { test: Test::SomeMatches(buffered), reads, truth }]);
            } else {
                let not_empty =
                    self.channel_literal(Test::NotEmpty(buffered), channel, ChannelTest::NotEmpty);
                clauses.push(vec![not_empty]);
                if !is_free {
                    let empty = || Expr::Channel(ChannelTest::Empty, Box::new(channel.clone()));
                    let truth = || Expr::Binary(BinaryOp::Or, Box::new(empty()), Box::new(poll()));
                    let truth = self.truth(truth, true);
                    clauses.push(vec![Literal { test: Test::FirstMatches(buffered), reads, truth }]);
                }
            }
        }
        if !rendezvous.is_empty() {
            let pid = self.known.pid.unwrap_or(usize::MAX);
            let test = Test::Offered { pid, channels: rendezvous };
            let literal = Literal { test, reads: Vec::new(), truth: None };
            if clauses.is_empty() {
                clauses.push(vec![literal]);
            } else {
                // One or the other, but which is not known.
                clauses.iter_mut().for_each(|clause| clause.push(literal.clone()));
            }
        }
        clauses
    }

    fn taker_reads(&self, pid: usize, location: LocationId, step: usize, reads: &mut Vec<Read>) {
        let known = self.known;
        let kind = known.view.kind(pid);
        let taker = Known::new(known.network, known.flow, known.view, Some(pid), kind, &[]);
        let own = std::slice::from_ref(&taker.steps(location)[step]);
        let steps = if let Action::Sequence(entry) = own[0].action { taker.steps(entry) } else { own };
        for step in steps {
            if let Action::Receive { channel, fields, .. } = &step.action {
                taker.reads(channel, reads);
                taker.pattern_reads(fields, reads);
            }
        }
        known.network.processes[kind].provided.iter().for_each(|e| taker.reads(e, reads));
        // Its own locals do not change while it waits there.
        reads.retain(|read| !matches!(read, Read::Cells(span) if usize::from(span.owner) == pid + 1));
    }

    /// That an action cannot be done.
    fn not(&mut self, location: LocationId, action: &Action) -> Vec<Clause> {
        if let Action::Guard(expr) = action {
            return self.clauses(expr, false);
        }
        let clauses = self.action_guard(location, action, 0);
        let mut literals = clauses.into_iter().flatten();
        let (Some(only), None) = (literals.next(), literals.next()) else {
            let mut reads = Vec::new();
            for literal in self.action_guard(location, action, 0).into_iter().flatten() {
                reads.extend(reads_of(literal));
            }
            return vec![vec![self.other(reads)]];
        };
        let Literal { test, reads, truth } = only;
        let truth = truth.map(|(expr, is_so)| (expr, !is_so));
        let test = match test {
            Test::NotEmpty(c) => Test::Empty(c),
            Test::NotFull(c) => Test::Full(c),
            // A rendezvous that nobody offers cannot be taken by oneself: `else` does not wait for it.
            Test::Offered { .. } => return Vec::new(),
            test => {
                let reads = reads_of(Literal { test, reads, truth: None });
                return vec![vec![Literal { test: Test::Other, reads, truth }]];
            }
        };
        vec![vec![Literal { test, reads, truth }]]
    }

    fn other(&self, reads: Vec<Read>) -> Literal {
        Literal { test: Test::Other, reads, truth: None }
    }

    fn channel_literal(&self, test: Test, channel: &Expr, asked: ChannelTest) -> Literal {
        let reads = self.known.reads_of(channel);
        let truth = || Expr::Channel(asked, Box::new(channel.clone()));
        Literal { test, reads, truth: self.truth(truth, true) }
    }

    /// How to find out whether something is as wanted, if somebody will ask.
    fn truth(&self, expr: impl FnOnce() -> Expr, wanted: bool) -> Option<(Rc<Expr>, bool)> {
        self.known.is_asked.then(|| (Rc::new(expr()), wanted))
    }

    /// An expression that must hold (or must not) in conjunctive normal form.
    pub(super) fn clauses(&mut self, expr: &Expr, is_positive: bool) -> Vec<Clause> {
        let known = self.known;
        if let Some(value) =
            known.constant(expr).filter(|_| known.used.borrow().is_empty() || known.selectors.is_empty())
        {
            // A clause without a literal never holds.
            return if (value != 0) == is_positive { Vec::new() } else { vec![Vec::new()] };
        }
        match expr {
            Expr::Unary(UnaryOp::Not, a) => self.clauses(a, !is_positive),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let (a, b) = (self.clauses(a, is_positive), self.clauses(b, is_positive));
                if (*op == BinaryOp::And) == is_positive {
                    return a.into_iter().chain(b).collect();
                }
                if a.len() * b.len() > MOST_CLAUSES {
                    return vec![vec![self.whole(expr, is_positive)]];
                }
                let product = a.iter().flat_map(|x| b.iter().map(|y| x.iter().chain(y).cloned().collect()));
                product.collect()
            }
            Expr::Timeout => {
                self.touch.is_timeout |= is_positive;
                Vec::new()
            }
            Expr::Poll { channel, is_random, fields } if is_positive => {
                let (buffered, rendezvous) = known.sorts(&known.channels(channel));
                if buffered.is_empty() || !rendezvous.is_empty() {
                    return vec![vec![self.whole(expr, is_positive)]];
                }
                self.receive_guard(channel, *is_random, fields)
            }
            _ => vec![vec![self.literal(expr, is_positive)]],
        }
    }

    /// A fact that is looked at as a whole.
    fn whole(&self, expr: &Expr, is_positive: bool) -> Literal {
        let reads = self.known.reads_of(expr);
        Literal { test: Test::Other, reads, truth: self.truth(|| expr.clone(), is_positive) }
    }

    fn literal(&self, expr: &Expr, is_positive: bool) -> Literal {
        let test = match expr {
            Expr::Load(place) => self.compare(place, BinaryOp::NotEqual, 0),
            Expr::Binary(op, a, b) => self.comparison(*op, a, b),
            Expr::Channel(test, channel) => {
                let channels = self.known.channels(channel);
                let test = match test {
                    _ if channels.single().is_none() => None,
                    ChannelTest::Empty => Some(Test::Empty(channels)),
                    ChannelTest::NotEmpty => Some(Test::NotEmpty(channels)),
                    ChannelTest::Full => Some(Test::Full(channels)),
                    ChannelTest::NotFull => Some(Test::NotFull(channels)),
                    ChannelTest::Len => None,
                };
                test.map(|test| (test, self.known.reads_of(channel)))
            }
            Expr::RemoteLocation { process: Some(process), location, .. } => {
                let pid = self.known.constant(process).and_then(|p| usize::try_from(p).ok());
                let location = *location;
                Some(match pid {
                    Some(pid) => (Test::At { pid, location, is_there: true }, vec![Read::Population]),
                    None => {
                        let mut reads = vec![Read::Population];
                        self.known.reads(process, &mut reads);
                        (Test::SomeAt { kind: None, location }, reads)
                    }
                })
            }
            Expr::RemoteLocation { kind, process: None, location } => {
                Some((Test::SomeAt { kind: Some(*kind), location: *location }, vec![Read::Population]))
            }
            _ => None,
        };
        let Some((test, reads)) = test else { return self.whole(expr, is_positive) };
        let test = if is_positive { Some(test) } else { negated(test) };
        let Some(test) = test else { return self.whole(expr, is_positive) };
        Literal { test, reads, truth: self.truth(|| expr.clone(), is_positive) }
    }

    fn comparison(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<(Test, Vec<Read>)> {
        if !is_comparison(op) {
            return None;
        }
        let is_used = self.known.used.borrow().len();
        match (a, b) {
            (Expr::Load(place), value) | (value, Expr::Load(place)) => {
                let value = self.known.constant(value);
                // The constant may be a local in the state at hand: then the fact depends on that, too.
                let used: Vec<Read> =
                    self.known.used.borrow()[is_used..].iter().map(|span| Read::Cells(*span)).collect();
                let op = if matches!(a, Expr::Load(p) if p == place) { op } else { mirrored(op) };
                let (test, mut reads) = self.compare(place, op, value?)?;
                reads.extend(used);
                Some((test, reads))
            }
            _ => None,
        }
    }

    fn compare(&self, place: &Place, op: BinaryOp, value: i32) -> Option<(Test, Vec<Read>)> {
        let is_used = self.known.used.borrow().len();
        let (from, to, is_exact) = self.known.range(place);
        let used = self.known.used.borrow()[is_used..].iter().map(|span| Read::Cells(*span)).collect();
        let cell = self.known.span(place.scope, from, to);
        is_exact.then_some((Test::Compare { cell, width: place.width, op, value }, used))
    }
}

/// Everything that a literal depends on.
fn reads_of(literal: Literal) -> Vec<Read> {
    let mut reads = literal.reads;
    match literal.test {
        Test::Compare { cell, .. } => reads.push(Read::Cells(cell)),
        Test::NotEmpty(c)
        | Test::Empty(c)
        | Test::NotFull(c)
        | Test::Full(c)
        | Test::FirstMatches(c)
        | Test::SomeMatches(c) => reads.push(Read::Contents(c)),
        Test::At { pid, .. } => reads.extend([Read::Process(pid), Read::Population]),
        Test::SomeAt { .. } => reads.push(Read::Everything),
        Test::Youngest(_) => reads.push(Read::Population),
        Test::Partner { .. } => reads.push(Read::Everything),
        Test::Offered { .. } | Test::Other => {}
    }
    reads
}

fn negated(test: Test) -> Option<Test> {
    Some(match test {
        Test::Compare { cell, width, op, value } => {
            let op = match op {
                BinaryOp::Less => BinaryOp::GreaterEqual,
                BinaryOp::LessEqual => BinaryOp::Greater,
                BinaryOp::Greater => BinaryOp::LessEqual,
                BinaryOp::GreaterEqual => BinaryOp::Less,
                BinaryOp::Equal => BinaryOp::NotEqual,
                _ => BinaryOp::Equal,
            };
            Test::Compare { cell, width, op, value }
        }
        Test::NotEmpty(c) => Test::Empty(c),
        Test::Empty(c) => Test::NotEmpty(c),
        Test::NotFull(c) => Test::Full(c),
        Test::Full(c) => Test::NotFull(c),
        Test::At { pid, location, is_there } => Test::At { pid, location, is_there: !is_there },
        Test::SomeAt { .. } => test,
        _ => return None,
    })
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::Equal
            | BinaryOp::NotEqual
    )
}

/// The operator with its sides exchanged.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}
