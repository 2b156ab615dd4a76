//! Whether a network makes sense: every index in range, every place within the vector. Nothing below
//! checks again.

use crate::{Action, Compiled, Expr, Initial, Initialiser, LocationId, Network, Place, Scope, Step};

impl Network {
    /// Checks the network and numbers its steps; a front-end calls this once, at the end. The error says
    /// which rule is broken, for the front-end's author.
    pub fn validated(mut self) -> Result<Self, String> {
        self.number();
        self.compiled = Compiled::default();
        let is = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
        is(self.processes.len() + self.channels.len() <= 256, "more kinds than a tag can tell apart")?;
        is(self.n_slots * self.n_steps <= u32::MAX as usize, "more transitions than have numbers")?;
        is(self.globals_size <= self.limits.vector, "globals larger than the vector")?;
        is(self.starts.iter().all(|s| s.kind < self.processes.len()), "start of an unknown kind")?;
        is(self.channels.iter().all(|c| c.capacity <= 255), "a channel with too many slots")?;
        self.check_initialisers(None, &self.initialisers)?;
        self.check_places(None, self.last.iter())?;
        for claim in &self.claims {
            let steps = || claim.locations.iter().flat_map(|l| &l.steps);
            let mut targets = steps().map(|s| s.next).chain([claim.entry]);
            is(targets.all(|l| l.index() < claim.locations.len()), "a claim leads nowhere")?;
            for expr in steps().flat_map(|s| s.expressions()) {
                self.check_expression(usize::MAX, expr)?;
            }
        }
        if let Some(trace) = &self.trace {
            self.check_places(None, [&trace.place].into_iter())?;
            let steps = trace.locations.iter().flat_map(|l| &l.steps);
            is(
                steps
                    .map(|s| s.next)
                    .chain([trace.entry, trace.end])
                    .all(|l| l.index() < trace.locations.len()),
                "the trace leads nowhere",
            )?;
        }
        for (kind, process) in self.processes.iter().enumerate() {
            self.check_initialisers(Some(kind), &process.initialisers)?;
            self.check_places(Some(kind), process.parameters.iter())?;
            is(process.entry.index() < process.locations.len(), "entry of a process out of range")?;
            if let Some(expr) = &process.provided {
                self.check_expression(kind, expr)?;
            }
            for step in process.locations.iter().flat_map(|l| &l.steps) {
                self.check_step(kind, step)?;
            }
        }
        Ok(self)
    }

    fn number(&mut self) {
        let mut n_steps = 0;
        for location in self.processes.iter_mut().flat_map(|p| &mut p.locations) {
            location.first_step = n_steps as u32;
            n_steps += location.steps.len();
        }
        self.n_steps = n_steps;
        let steps = || self.processes.iter().flat_map(|p| &p.locations).flat_map(|l| &l.steps);
        let runs = steps().any(|step| matches!(step.action, Action::Run(_)));
        self.n_slots = if runs { self.limits.processes } else { self.starts.len() };
        let is_single = self.channels.iter().all(|c| c.capacity > 0) && !steps().any(|s| s.is_atomic);
        let room = u32::MAX as usize / (self.n_slots * n_steps).max(1);
        self.n_outcomes = if is_single { 1 } else { room.clamp(1, 1 << 16) };
    }

    fn check_initialisers(&self, kind: Option<usize>, list: &[Initialiser]) -> Result<(), String> {
        for initialiser in list {
            self.check_places(kind, [&initialiser.place].into_iter())?;
            match &initialiser.initial {
                Initial::Channel(channel) if *channel >= self.channels.len() => {
                    return Err("a channel of an unknown kind".to_owned());
                }
                Initial::Channel(_) => {}
                Initial::Value(expr) => match kind {
                    Some(kind) => self.check_expression(kind, expr)?,
                    None => self.check_expression(usize::MAX, expr)?,
                },
            }
        }
        Ok(())
    }

    fn check_step(&self, kind: usize, step: &Step) -> Result<(), String> {
        let n_locations = self.processes[kind].locations.len();
        let is_known = |l: LocationId| l == LocationId::EXIT || l.index() < n_locations;
        if !is_known(step.next) {
            return Err(format!("`{}` leads out of the process", step.text));
        }
        match &step.action {
            Action::Sequence(entry) if entry.index() >= n_locations => {
                return Err(format!("`{}` begins outside the process", step.text));
            }
            Action::Run(run) if run.kind >= self.processes.len() => {
                return Err(format!("`{}` starts an unknown kind", step.text));
            }
            _ => {}
        }
        self.check_places(Some(kind), step.action.targets().into_iter().chain(&step.resets))?;
        if step.resets.iter().any(|place| !place.indices.is_empty()) {
            return Err(format!("`{}` resets a place with indices", step.text));
        }
        if !step.mentions.is_empty() && step.action != Action::Skip {
            return Err(format!("`{}` mentions something and does something", step.text));
        }
        for expr in step.expressions() {
            self.check_expression(kind, expr)?;
        }
        Ok(())
    }

    fn check_expression(&self, kind: usize, expr: &Expr) -> Result<(), String> {
        let mut result = Ok(());
        expr.walk(&mut |expr| {
            let checked = match expr {
                Expr::Load(place) => self.check_places(Some(kind), [place].into_iter()),
                Expr::RemoteLoad { kind, place, .. } => self.check_places(Some(*kind), [place].into_iter()),
                _ => Ok(()),
            };
            if result.is_ok() {
                result = checked;
            }
        });
        result
    }

    /// Whether places lie within the globals, or within the locals of a kind.
    fn check_places<'a>(
        &self,
        kind: Option<usize>,
        places: impl Iterator<Item = &'a Place>,
    ) -> Result<(), String> {
        for place in places {
            let size = match place.scope {
                Scope::Global => self.globals_size,
                Scope::Local => {
                    kind.and_then(|k| self.processes.get(k)).map_or(0, |process| process.locals_size)
                }
            };
            if place.indices.iter().any(|i| i.length == 0) {
                return Err(format!("`{}` has no elements", place.text));
            }
            let reach: usize = place.indices.iter().map(|i| (i.length - 1) * i.stride).sum();
            if place.offset + reach + place.width.bytes() > size {
                return Err(format!("`{}` is outside the vector", place.text));
            }
        }
        Ok(())
    }
}
