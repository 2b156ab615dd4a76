//! Syntax tree to network.
//!
//! Names and types are resolved on the way. The control flow is built as SPIN builds it, element by
//! element (`flow`), because what counts as a state depends on it; then elements become locations
//! (`locations`).
//!
//! Everything is lowered twice: the first pass finds labels and local variables of all processes, so that
//! in the second pass a remote reference can name a process that is declared further down.

mod declarations;
mod expressions;
mod flow;
mod formula;
mod locations;
mod references;
mod scope;
mod statements;
mod types;

use crate::Property;
use crate::ast::{self, Item, Model};
use crate::ast_walk;
use flow::Flow;
use scope::{BlockScope, Known, Symbol};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use stubborn_network::{
    Action, ChannelKind, Claim, Expr, Initialiser, LocationId, Network, Place, ProcessKind, Scope, Start,
    Trace, Variable, Width,
};
use stubborn_text::{Diagnostic, Limits, SourceMap, Span};
use types::Record;

/// What lowering gives. The network is there unless an error is among the diagnostics.
pub(crate) struct Lowered {
    pub(crate) network: Option<Network>,
    pub(crate) invariants: Vec<Expr>,
    pub(crate) formulas: Vec<Property>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Lowers a model.
pub(crate) fn lower(model: &Model, map: &SourceMap, limits: &Limits) -> Lowered {
    let mut lowering = Lowering::twice(model, map, limits);
    let has_errors = lowering.diagnostics.iter().any(Diagnostic::is_error);
    let network = if has_errors { None } else { lowering.network() };
    let Lowering { invariants, formulas, diagnostics, .. } = lowering;
    Lowered { network, invariants, formulas, diagnostics }
}

/// What the first pass has found out.
#[derive(Default)]
struct Facts {
    /// By the names of process types.
    processes: HashMap<Arc<str>, Known>,
    /// Process types and labels in remote references.
    remote_labels: HashSet<(Arc<str>, Arc<str>)>,
    uses_last: bool,
    uses_priority: bool,
    /// The most fields that messages of a channel have.
    most_fields: usize,
}

/// The work in progress.
struct Lowering<'a> {
    map: &'a SourceMap,
    limits: &'a Limits,
    facts: Facts,
    is_final: bool,
    diagnostics: Vec<Diagnostic>,
    /// A span for complaints that have no better one.
    here: Span,
    /// Constants by name.
    mtypes: HashMap<Arc<str>, i32>,
    /// Their subtypes, each with its names, the first of which means 1.
    subtypes: Vec<(Arc<str>, Vec<String>)>,
    records: Vec<Record>,
    globals: HashMap<Arc<str>, Symbol>,
    /// Variables whose declaration was refused: no complaints about their use.
    broken: HashSet<Arc<str>>,
    variables: Vec<Variable>,
    globals_size: usize,
    /// With the order in which SPIN executes them.
    initialisers: Vec<(u8, Initialiser)>,
    channels: Vec<ChannelKind>,
    /// Names and numbers of parameters of all process types, in textual order.
    signatures: Vec<(Arc<str>, usize)>,
    processes: Vec<ProcessKind>,
    starts: Vec<Start>,
    trace: Option<Trace>,
    claims: Vec<Claim>,
    invariants: Vec<Expr>,
    formulas: Vec<Property>,
    remote_labels: HashSet<(Arc<str>, Arc<str>)>,
    finished: HashMap<Arc<str>, Known>,
    uses_last: bool,
    uses_priority: bool,
    /// How many elements SPIN has made for all processes so far.
    n_numbered: u32,
    /// The offsets of globals that are read.
    read: HashSet<usize>,
    /// Whether what is mentioned now does not count as read.
    is_quiet: bool,
    /// What the statement that is being lowered mentions without effect.
    mentions: Vec<Expr>,

    // The process that is being lowered.
    process: Arc<str>,
    scopes: Vec<BlockScope>,
    n_scopes: usize,
    known: Known,
    locals: Vec<Variable>,
    locals_size: usize,
    local_initialisers: Vec<(u8, Initialiser)>,
    /// Whether a declaration is still at the start of the process.
    is_start: bool,
    flow: Flow,
}

impl<'a> Lowering<'a> {
    fn new(map: &'a SourceMap, limits: &'a Limits, facts: Facts) -> Self {
        let here = Span::new(stubborn_text::FileId(0), 0, 0);
        Self {
            map,
            limits,
            facts,
            is_final: false,
            diagnostics: Vec::new(),
            here,
            mtypes: HashMap::new(),
            subtypes: Vec::new(),
            records: Vec::new(),
            globals: HashMap::new(),
            broken: HashSet::new(),
            variables: Vec::new(),
            globals_size: 0,
            initialisers: Vec::new(),
            channels: Vec::new(),
            signatures: Vec::new(),
            processes: Vec::new(),
            starts: Vec::new(),
            trace: None,
            claims: Vec::new(),
            invariants: Vec::new(),
            formulas: Vec::new(),
            remote_labels: HashSet::new(),
            finished: HashMap::new(),
            uses_last: false,
            uses_priority: false,
            n_numbered: 0,
            read: HashSet::new(),
            is_quiet: false,
            mentions: Vec::new(),
            process: Arc::from(""),
            scopes: Vec::new(),
            n_scopes: 0,
            known: Known::default(),
            locals: Vec::new(),
            locals_size: 0,
            local_initialisers: Vec::new(),
            is_start: true,
            flow: Flow::default(),
        }
    }

    /// Both passes.
    fn twice(model: &Model, map: &'a SourceMap, limits: &'a Limits) -> Self {
        let mut first = Lowering::new(map, limits, Facts::default());
        first.model(model);
        let facts = Facts {
            processes: first.finished,
            remote_labels: first.remote_labels,
            most_fields: first.channels.iter().map(|channel| channel.fields.len()).max().unwrap_or(0),
            uses_last: first.uses_last,
            uses_priority: first.uses_priority,
        };
        let mut second = Lowering::new(map, limits, facts);
        second.is_final = true;
        second.model(model);
        second
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < self.limits.errors && !self.diagnostics.contains(&diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }

    fn model(&mut self, model: &Model) {
        self.constants(model);
        self.labels_in_claims(model);
        if self.facts.uses_last {
            self.allocate_last();
        }
        for item in &model.items {
            match item {
                Item::Typedef { name, fields } => self.define_record(name, fields),
                Item::Declaration(declaration) => self.global(declaration),
                _ => {}
            }
        }
        for item in &model.items {
            if let Item::Proctype(proctype) = item {
                self.signature(proctype);
            }
        }
        for item in &model.items {
            match item {
                Item::Proctype(proctype) => self.proctype(proctype),
                Item::Trace { is_negated, body, span } => self.event_trace(*is_negated, body, *span),
                Item::Never { name, body } => self.claim(name.as_ref(), body),
                Item::Invariant(expr) => self.invariant(expr),
                Item::Ltl { name, formula } => self.formula_item(name.as_ref(), formula),
                _ => {}
            }
        }
        if self.starts.is_empty() {
            self.error(
                "P0307",
                self.here,
                "the model has no process: declare `init` or an `active proctype`",
            );
        }
        if self.processes.len() + self.channels.len() > 255 {
            self.error("P0403", self.here, "more than 255 kinds of processes and channels");
        }
    }

    /// Numbers the names of mtypes: the last of the first declaration of a subtype is one.
    fn constants(&mut self, model: &Model) {
        for item in &model.items {
            let Item::Mtype { subtype, names } = item else { continue };
            let subtype = self.subtype(subtype.as_ref());
            for name in names.iter().rev() {
                self.subtypes[subtype].1.push(name.name.to_string());
                let value = self.subtypes[subtype].1.len() as i32;
                if self.mtypes.insert(name.name.clone(), value).is_some() {
                    self.error("P0302", name.span, format!("`{}` is declared twice", name.name));
                }
            }
            if self.subtypes[subtype].1.len() > 255 {
                let span = names[0].span;
                self.error("P0404", span, "more than 255 names in one mtype");
            }
        }
    }

    /// An invariant is nobody's: it is evaluated between the steps of all processes.
    fn invariant(&mut self, expr: &ast::Expr) {
        self.begin_process(Arc::from(":invariant:"), expr.span);
        if self.means_something(expr, "an invariant") {
            let lowered = self.expr(expr);
            self.invariants.extend(lowered);
        }
    }

    /// Whether nothing in the expression needs a process that evaluates it.
    fn means_something(&mut self, expr: &ast::Expr, what: &str) -> bool {
        let mut odd = None;
        ast_walk::expr(expr, &mut |inner| {
            let name = match &inner.kind {
                ast::ExprKind::Timeout => "timeout",
                ast::ExprKind::Reference(r) => &*r.parts[0].name.name,
                _ => return,
            };
            if matches!(name, "timeout" | "_pid" | "_priority") {
                odd.get_or_insert((inner.span, format!("`{name}` means nothing in {what}")));
            }
        });
        let is_good = odd.is_none();
        if let Some((span, message)) = odd {
            self.error("P0330", span, message);
        }
        is_good
    }

    /// A formula reads the globals that it names.
    fn read_by(&mut self, formula: &ast::Expr) {
        let mut names = HashSet::new();
        ast_walk::expr(formula, &mut |expr| {
            if let ast::ExprKind::Reference(reference) = &expr.kind {
                names.insert(reference.parts[0].name.name.clone());
            }
        });
        let globals = names.iter().filter_map(|name| self.globals.get(name));
        self.read.extend(globals.map(|symbol| symbol.offset));
    }

    /// Claims and formulas name labels too, and a label that is named from outside needs a state.
    fn labels_in_claims(&mut self, model: &Model) {
        let mut labels = HashSet::new();
        let mut look = |expr: &ast::Expr| {
            if let ast::ExprKind::RemoteLabel { process, label, .. } = &expr.kind {
                labels.insert((process.name.clone(), label.name.clone()));
            }
        };
        for item in &model.items {
            match item {
                Item::Never { body, .. } => ast_walk::block(body, &mut look),
                Item::Ltl { formula: expr, .. } | Item::Invariant(expr) => ast_walk::expr(expr, &mut look),
                _ => {}
            }
        }
        self.remote_labels.extend(labels);
    }

    fn signature(&mut self, proctype: &ast::Proctype) {
        let name = &proctype.name;
        if self.signatures.iter().any(|(known, _)| *known == name.name) {
            self.error("P0302", name.span, format!("process `{}` is declared twice", name.name));
        }
        let mut n_parameters = 0;
        for declaration in &proctype.parameters {
            for variable in &declaration.variables {
                let type_of = self.type_of(&declaration.type_name, variable.width.as_ref());
                let length = self.length(variable.length.as_ref()).flatten();
                n_parameters += type_of.map_or(1, |type_of| self.leaves(type_of, length).len());
            }
        }
        self.signatures.push((name.name.clone(), n_parameters));
    }

    fn allocate_last(&mut self) {
        let offset = self.globals_size;
        self.globals_size += 1;
        self.variables.push(Variable {
            name: "_last".to_owned(),
            offset,
            width: Width::Byte,
            length: 1,
            stride: 1,
            is_channel: false,
            names: None,
            is_scalar: true,
            is_read: true,
        });
    }

    /// `trace { ... }` and `notrace { ... }`: lowered like a process, of which only the locations remain.
    fn event_trace(&mut self, is_negated: bool, body: &ast::Block, span: Span) {
        if self.trace.is_some() {
            return self.error("P0407", span, "there can be only one event trace");
        }
        self.begin_process(Arc::from(":trace:"), span);
        self.scoped(|lowering| lowering.body(body));
        let (locations, entry) = self.locations();
        let end = locations.iter().position(|l| l.steps.iter().any(|s| s.action == Action::End));
        let steps = locations.iter().flat_map(|l| &l.steps);
        let mut odd = steps.filter(|s| {
            !matches!(s.action, Action::Send { .. } | Action::Receive { .. } | Action::Skip | Action::End)
        });
        if let Some(odd) = odd.next() {
            let span = odd.span;
            self.error("P0408", span, "an event trace consists of sends and receives");
        }
        let offset = self.globals_size;
        self.globals_size += 2;
        let (width, text) = (Width::Bits(16), "_trace".to_owned());
        self.variables.push(Variable {
            name: text.clone(),
            offset,
            width,
            length: 1,
            stride: 2,
            is_channel: false,
            names: None,
            is_scalar: true,
            is_read: true,
        });
        let place = Place { scope: Scope::Global, offset, width, indices: Vec::new(), text };
        let end = LocationId(end.unwrap_or(0) as u16);
        self.trace = Some(Trace { is_negated, locations, entry, end, place });
    }

    /// `never { ... }`: lowered like a process, of which only the locations remain.
    fn claim(&mut self, name: Option<&ast::Ident>, body: &ast::Block) {
        self.begin_process(Arc::from(":never:"), body.span);
        self.scoped(|lowering| lowering.body(body));
        let (locations, entry) = self.locations();
        let steps = locations.iter().flat_map(|l| &l.steps);
        let mut odd = steps.filter(|s| {
            !matches!(
                s.action,
                Action::Guard(_) | Action::Skip | Action::Else | Action::Assert(_) | Action::End
            )
        });
        if let Some(odd) = odd.next() {
            let diagnostic = Diagnostic::error("P0409", odd.span, "a claim cannot change the state");
            self.report(diagnostic.help("use conditions, `skip`, `else` and `assert` only"));
        }
        if !self.locals.is_empty() {
            self.error("P0409", body.span, "a claim cannot have variables of its own");
        }
        let name = name.map(|name| name.name.to_string());
        self.claims.push(Claim { name, locations, entry });
    }

    /// Forgets the previous process.
    fn begin_process(&mut self, name: Arc<str>, span: Span) {
        self.here = span;
        self.process = name;
        self.scopes.clear();
        self.known = Known::default();
        self.locals = Vec::new();
        self.locals_size = 0;
        self.local_initialisers = Vec::new();
        self.is_start = true;
        self.flow = Flow::default();
    }

    /// Where `_last` is.
    fn last(&self) -> Place {
        let text = "_last".to_owned();
        Place { scope: Scope::Global, offset: 0, width: Width::Byte, indices: Vec::new(), text }
    }

    fn proctype(&mut self, proctype: &ast::Proctype) {
        self.begin_process(proctype.name.name.clone(), proctype.name.span);
        let mut parameters = Vec::new();
        let mut provided = None;
        self.scoped(|lowering| {
            for declaration in &proctype.parameters {
                parameters.extend(lowering.parameters(declaration));
            }
            provided = proctype.provided.as_ref().and_then(|e| lowering.expr(e));
            lowering.body(&proctype.body);
        });
        let (locations, entry) = self.locations();
        let mut initialisers = std::mem::take(&mut self.local_initialisers);
        initialisers.sort_by_key(|(rank, _)| *rank);
        let kind = self.processes.len();
        self.finished.insert(self.process.clone(), std::mem::take(&mut self.known));
        self.processes.push(ProcessKind {
            name: self.process.to_string(),
            parameters,
            locals: std::mem::take(&mut self.locals),
            locals_size: self.locals_size,
            initialisers: initialisers.into_iter().map(|(_, i)| i).collect(),
            locations,
            entry,
            provided,
        });
        self.start(proctype, kind);
    }

    fn start(&mut self, proctype: &ast::Proctype, kind: usize) {
        let priority = self.priority(proctype.priority.as_ref());
        let Some(active) = &proctype.active else { return };
        let count = self.constant(active).unwrap_or(1);
        for _ in 0..count.clamp(0, 256) {
            self.starts.push(Start { kind, priority });
        }
        if self.starts.len() > self.limits.processes {
            let message = format!("more than {} processes", self.limits.processes);
            self.error("P0402", proctype.name.span, message);
        }
    }

    fn priority(&mut self, priority: Option<&ast::Expr>) -> u8 {
        let Some(priority) = priority else { return 1 };
        self.uses_priority = true;
        let value = self.constant(priority).unwrap_or(1);
        u8::try_from(value).ok().filter(|&p| p > 0).unwrap_or_else(|| {
            self.error("P0308", priority.span, "a priority must be 1 to 255");
            1
        })
    }

    /// The result; none if it cannot be represented, or if the first state is already too large.
    fn network(&mut self) -> Option<Network> {
        let mut initialisers = std::mem::take(&mut self.initialisers);
        initialisers.sort_by_key(|(rank, _)| *rank);
        for variable in &mut self.variables {
            let end = variable.offset + variable.length * variable.stride;
            variable.is_read |= self.read.iter().any(|offset| (variable.offset..end).contains(offset));
        }
        let network = Network {
            processes: std::mem::take(&mut self.processes),
            channels: std::mem::take(&mut self.channels),
            names: std::mem::take(&mut self.subtypes).into_iter().map(|(_, names)| names).collect(),
            globals: std::mem::take(&mut self.variables),
            globals_size: self.globals_size,
            initialisers: initialisers.into_iter().map(|(_, i)| i).collect(),
            starts: std::mem::take(&mut self.starts),
            last: self.facts.uses_last.then(|| self.last()),
            trace: self.trace.take(),
            claims: std::mem::take(&mut self.claims),
            has_priorities: self.facts.uses_priority,
            limits: *self.limits,
            n_steps: 0,
            n_slots: 0,
            n_outcomes: 0,
            compiled: Default::default(),
        };
        let network = match network.validated() {
            Ok(network) => network,
            Err(message) => {
                self.error("P0406", self.here, format!("the model cannot be represented: {message}"));
                return None;
            }
        };
        if let Err(trouble) = network.initial_state() {
            self.error("P0401", self.here, format!("the model cannot begin: {trouble}"));
            return None;
        }
        Some(network)
    }
}
