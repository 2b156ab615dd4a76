//! One search, and what it says about each of the questions put to it.

use crate::graph_questions::{Edges, Lasso};
use crate::{
    Evidence, Holds, Inconclusive, OneThread, Options, ProductReport, SearchKind, StoreKind, Violated,
    Witness,
};
use stubborn_explore::{
    End, Job, Keep, Outcome, Sighting, Stats, Stop, Visitor, Watch, breadth_first, depth_first,
};
use stubborn_reduce::{Preserves, Reduction};
use stubborn_store::{Bitstate, Compact, Exact, Full, Guarantee, Store};
use stubborn_system::{Fault, Observed, Question, TransitionId, Vector};

/// The numbers of one search.
#[derive(Clone, Debug)]
pub struct PhaseReport {
    /// The reduction's name.
    pub reduction: String,
    /// Whether representatives only were explored.
    pub symmetry: bool,
    /// The order.
    pub search: SearchKind,
    /// The store.
    pub store: StoreKind,
    /// If states were packed: the words of a key.
    pub key_words: Option<usize>,
    /// How many threads searched.
    pub threads: usize,
    /// If more were wanted: why it was one.
    pub one_thread: Option<OneThread>,
    /// Its counters.
    pub stats: Stats,
    /// How it ended.
    pub end: End,
    /// What the store promises.
    pub guarantee: Guarantee,
    /// Whether it was made sure that no transition is ignored for ever: every one that can be fired was.
    pub no_ignoring: bool,
    /// Whether termination always remains possible in the explored part, if that was looked at.
    pub always_may_terminate: Option<bool>,
    /// If it does not: a run to where it is impossible, replayed, and what lies beyond.
    pub cannot_terminate: Option<Box<Violated>>,
    /// If it took the place of a search with a reduction: what became of that.
    pub overtaken: Option<Overtaken>,
    /// If it was a search for runs: the numbers of the product.
    pub product: Option<ProductReport>,
}

/// A search with a reduction that would have taken more work than one without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overtaken {
    /// The reduction.
    pub reduction: String,
    /// States that it had found.
    pub states: u64,
}

/// What a search gives: its numbers, what it says about each question, and if it was found that termination
/// does not always remain possible, a run that shows it, to be replayed.
pub(crate) struct Searched {
    pub(crate) report: PhaseReport,
    pub(crate) findings: Vec<Finding>,
    pub(crate) cannot_terminate: Option<Witness>,
}

impl Searched {
    /// Whether it ended because of this limit on states.
    pub(crate) fn was_cut_at(&self, states: u64) -> bool {
        self.report.end == End::Stopped(Stop::States { limit: states })
    }
}

/// What a search says about a question.
pub(crate) enum Finding {
    Holds(Holds),
    /// A run that may violate it; to be replayed.
    Candidate(Witness),
    Inconclusive(Inconclusive),
    /// Another method is needed.
    Open,
}

/// A search that was made without numbers of states and saw nothing, and by how many threads.
pub(crate) type Made = Box<(Outcome, usize)>;

/// Searches, if that was not made already, and looks at `questions` one by one.
pub(crate) fn run_phase<Z: Observed + ?Sized>(
    system: &Z,
    reduction: &mut dyn Reduction<Z>,
    symmetry: bool,
    made: Option<Made>,
    questions: &[Question],
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Searched, Box<Broken>> {
    let preserves = reduction.preserves();
    let name = reduction.name();
    let keep = what_to_keep(questions, preserves, options.store);
    let mut visitor = Checks::new(system, questions);
    let no_ignoring =
        keep != Keep::Nothing && preserves == Preserves::Basic && questions.contains(&Question::Safety);
    let mut search = |store: &mut dyn Store<Z::State>| {
        let job = Job {
            system,
            reduction: &mut *reduction,
            store,
            visitor: &mut visitor,
            watch: &mut *watch,
            limits: options.limits,
            keep,
            all_errors: options.all_errors,
            no_ignoring,
        };
        match options.search {
            SearchKind::BreadthFirst => breadth_first(job),
            SearchKind::DepthFirst => depth_first(job),
        }
    };
    let (mut outcome, mut store, kind, threads) = match made {
        Some(made) => (made.0, Box::new(Exact::new()) as Box<dyn Store<Z::State>>, options.store, made.1),
        None => {
            let mut store = match make_store::<Z::State>(options) {
                Ok(store) => store,
                Err(full) => return Ok(not_begun(name, symmetry, questions, options, &full)),
            };
            // Whoever needs numbers of states needs the states.
            (search(&mut *store), store, options.store.with_numbers(), 1)
        }
    };
    if let End::Fault(fault, path) = &outcome.end {
        let (fault, path) = (fault.clone(), Some(path.clone()));
        return Err(Box::new(Broken { fault, path, stats: outcome.stats }));
    }
    let guarantee = store.guarantee();
    store.seal();
    let mut phase =
        Phase { system, store: &*store, outcome: &mut outcome, preserves, guarantee, terminates: None };
    let stats = phase.outcome.stats;
    let broken = |fault| Box::new(Broken { fault, path: None, stats });
    let findings = phase.look_at(questions, options).map_err(broken)?;
    let cannot_terminate = phase.cannot_terminate().map_err(broken)?;
    // Without edges it is clear only where there is nothing to come to.
    let never_terminates = preserves == Preserves::Basic && phase.is_endless();
    let known = phase.terminates.as_ref().map(Option::is_none);
    let always_may_terminate = known.or(never_terminates.then_some(false));
    let report = PhaseReport {
        key_words: None,
        reduction: name,
        symmetry,
        search: options.search,
        store: kind,
        threads,
        one_thread: None,
        stats: outcome.stats,
        end: outcome.end,
        guarantee,
        no_ignoring: outcome.no_ignoring,
        always_may_terminate,
        cannot_terminate: None,
        overtaken: None,
        product: None,
    };
    Ok(Searched { report, findings, cannot_terminate })
}

/// The model broke during a search.
#[derive(Debug)]
pub(crate) struct Broken {
    pub(crate) fault: Fault,
    /// A run to where it shows, if that is known.
    pub(crate) path: Option<Vec<TransitionId>>,
    pub(crate) stats: Stats,
}

pub(crate) fn make_store<S: Vector + ?Sized>(options: &Options) -> Result<Box<dyn Store<S>>, Full> {
    Ok(match options.store {
        StoreKind::Exact | StoreKind::Quotient => Box::new(Exact::new()),
        StoreKind::Compact64 => Box::new(Compact::<u64, S>::new()),
        StoreKind::Compact128 => Box::new(Compact::<u128, S>::new()),
        StoreKind::Bitstate { log2, functions } => {
            let needed = (1usize << log2) / 8;
            if needed > options.limits.bytes {
                return Err(Full::Memory { needed });
            }
            Box::new(Bitstate::new(log2, functions)?)
        }
    })
}

/// The memory for the store itself could not be had.
pub(crate) fn no_room(full: &Full, options: &Options) -> Stop {
    let needed = match full {
        Full::Memory { needed } => *needed,
        Full::Numbers => 0,
    };
    Stop::Memory { limit: options.limits.bytes, needed }
}

/// What becomes of a search without a store.
fn not_begun(
    reduction: String,
    symmetry: bool,
    questions: &[Question],
    options: &Options,
    full: &Full,
) -> Searched {
    let stop = no_room(full, options);
    let stopped = || Finding::Inconclusive(Inconclusive::Stopped(stop.clone()));
    let findings = questions.iter().map(|_| stopped()).collect();
    let report = PhaseReport {
        key_words: None,
        reduction,
        symmetry,
        search: options.search,
        store: options.store,
        threads: 1,
        one_thread: None,
        stats: Stats::default(),
        end: End::Stopped(stop.clone()),
        guarantee: Guarantee::Exact,
        no_ignoring: false,
        always_may_terminate: None,
        cannot_terminate: None,
        overtaken: None,
        product: None,
    };
    Searched { report, findings, cannot_terminate: None }
}

/// Edges are kept if a question is about them, or if a reduced answer must be backed by termination.
fn what_to_keep(questions: &[Question], preserves: Preserves, store: StoreKind) -> Keep {
    if !store.is_exact() {
        Keep::Nothing
    } else if questions.iter().any(|q| matches!(q, Question::Fair { .. })) {
        Keep::Labels
    } else if questions.iter().any(|question| needs_edges(question, preserves)) {
        Keep::Edges
    } else {
        Keep::Nothing
    }
}

/// Whether the search is about single states: nobody needs numbers of states unless something is wrong, nor edges if it is clear without them that nothing
/// is ignored.
pub(crate) fn is_simple(questions: &[Question], options: &Options) -> bool {
    let is_about_states = |question| matches!(question, &Question::Safety | &Question::Deadlock);
    questions.iter().all(is_about_states)
        && options.search == SearchKind::BreadthFirst
        && options.store.is_exact()
}

fn needs_edges(question: &Question, preserves: Preserves) -> bool {
    match question {
        Question::Safety => preserves == Preserves::Basic,
        Question::Deadlock => false,
        _ => true,
    }
}

/// The checks of single states, as a search sees them.
pub(crate) struct Checks<'a, Z: ?Sized> {
    system: &'a Z,
    safety: Option<usize>,
    deadlock: Option<usize>,
}

impl<'a, Z: ?Sized> Checks<'a, Z> {
    pub(crate) fn new(system: &'a Z, questions: &[Question]) -> Self {
        let place = |question| questions.iter().position(|q| *q == question);
        Self { system, safety: place(Question::Safety), deadlock: place(Question::Deadlock) }
    }
}

impl<Z: Observed + ?Sized> Visitor<Z::State> for Checks<'_, Z> {
    #[inline]
    fn arrive(&mut self, state: &Z::State) -> Result<Option<Sighting>, Fault> {
        let Some(question) = self.safety else { return Ok(None) };
        Ok(self.system.check_found(state)?.map(|message| Sighting { question, message }))
    }

    fn looks_at_found(&self) -> bool {
        self.safety.is_some() && self.system.looks_at_found()
    }

    fn flagged(&mut self, state: &Z::State) -> Result<Option<Sighting>, Fault> {
        let Some(question) = self.safety else { return Ok(None) };
        Ok(self.system.check(state)?.map(|message| Sighting { question, message }))
    }

    fn terminal(&mut self, state: &Z::State) -> Result<Option<Sighting>, Fault> {
        let Some(question) = self.deadlock else { return Ok(None) };
        Ok(self.system.check_deadlock(state)?.map(|message| Sighting { question, message }))
    }
}

/// A search that has ended.
struct Phase<'a, Z: Observed + ?Sized> {
    system: &'a Z,
    store: &'a dyn Store<Z::State>,
    outcome: &'a mut Outcome,
    preserves: Preserves,
    guarantee: Guarantee,
    /// Once known: a way to a state that cannot terminate, if there is one.
    terminates: Option<Option<Lasso>>,
}

impl<Z: Observed + ?Sized> Phase<'_, Z> {
    fn look_at(&mut self, questions: &[Question], options: &Options) -> Result<Vec<Finding>, Fault> {
        let no_room = self.no_room_for_graph(options);
        if no_room.is_some() {
            self.outcome.graph = None;
        }
        let mut findings = Vec::new();
        for (i, question) in questions.iter().enumerate() {
            let finding = match self.outcome.found.iter().find(|f| f.sighting.question == i) {
                Some(found) => {
                    Finding::Candidate(Witness { steps: found.path.clone(), ..Witness::default() })
                }
                None => match &no_room {
                    Some(stop) if needs_edges(question, self.preserves) => {
                        Finding::Inconclusive(Inconclusive::Stopped(stop.clone()))
                    }
                    _ => self.without_sighting(question)?,
                },
            };
            findings.push(finding);
        }
        Ok(findings)
    }

    /// Whether all was visited, and nothing of it was terminal.
    fn is_endless(&self) -> bool {
        let is_exact = self.guarantee == Guarantee::Exact;
        is_exact && self.outcome.end == End::Complete && self.outcome.stats.terminal_states == 0
    }

    /// A run to a state from which termination is impossible, if that was looked at and there is one.
    fn cannot_terminate(&self) -> Result<Option<Witness>, Fault> {
        let (Some(Some(lasso)), Some(graph)) = (&self.terminates, &self.outcome.graph) else {
            return Ok(None);
        };
        let steps = Edges { system: self.system, store: self.store, graph }.transitions(lasso)?;
        Ok(Some(Witness { no_return: Some(steps.len()), steps, cycle_start: None }))
    }

    /// The graph stages need memory too: up to 20 bytes per state for numbers, stacks and parents.
    fn no_room_for_graph(&mut self, options: &Options) -> Option<Stop> {
        let graph = self.outcome.graph.as_ref()?;
        let needed = self.store.bytes() + self.system.bytes() + graph.bytes() + 20 * graph.n_states();
        let limit = options.limits.bytes;
        (self.outcome.end == End::Complete && needed > limit)
            .then(|| Stop::Memory { limit, needed: needed - limit })
    }

    /// No state was sighted that violates `question`; what does that mean?
    fn without_sighting(&mut self, question: &Question) -> Result<Finding, Fault> {
        match &self.outcome.end {
            End::Stopped(stop) => return Ok(Finding::Inconclusive(Inconclusive::Stopped(stop.clone()))),
            End::Sighted => return Ok(Finding::Inconclusive(Inconclusive::StoppedAtOther)),
            End::Complete | End::Fault(..) => {}
        }
        let is_about_states = matches!(question, Question::Safety | Question::Deadlock);
        if self.guarantee != Guarantee::Exact {
            let reason = if is_about_states {
                Inconclusive::Omission(self.guarantee)
            } else {
                Inconclusive::NeedsExactStore
            };
            return Ok(Finding::Inconclusive(reason));
        }
        if let Some(candidate) = self.look_at_edges(question)? {
            return Ok(candidate);
        }
        let evidence = Evidence {
            end: &self.outcome.end,
            guarantee: self.guarantee,
            preserves: self.preserves,
            always_may_terminate: self.terminates.as_ref().map(Option::is_none),
            no_ignoring: self.outcome.no_ignoring,
            is_closed: false,
            no_livelock: false,
        };
        Ok(Holds::conclude(question, evidence).map_or(Finding::Open, Finding::Holds))
    }

    /// Looks for a violation among the edges. `None` if there is none.
    fn look_at_edges(&mut self, question: &Question) -> Result<Option<Finding>, Fault> {
        let Some(graph) = self.outcome.graph.take() else { return Ok(None) };
        let edges = Edges { system: self.system, store: self.store, graph: &graph };
        let is_reduced = self.preserves.is_reduced();
        if (is_reduced || *question == Question::MayTerminate) && self.terminates.is_none() {
            self.terminates = Some(edges.cannot_terminate());
        }
        let always_terminates = self.terminates == Some(None);
        let lasso = match question {
            Question::Safety | Question::Deadlock => None,
            Question::MayTerminate => self.terminates.clone().flatten(),
            // V15 Theorem 5: if termination always remains possible, terminal states decide.
            Question::MayProgress { terminal_counts: true } if is_reduced && always_terminates => None,
            Question::MayProgress { .. } if is_reduced && always_terminates => {
                edges.terminal_without_progress()?
            }
            Question::MayProgress { terminal_counts } => edges.cannot_progress(*terminal_counts)?,
            Question::MustProgress { .. } if is_reduced => None,
            Question::MustProgress { terminal_counts } => edges.avoids_progress(*terminal_counts)?,
            Question::Fair { often, rarely } => edges.unfair(*often, rarely),
            _ => None,
        };
        let candidate = match lasso {
            None => None,
            Some(lasso) => {
                let steps = edges.transitions(&lasso)?;
                let stem = lasso.stem.len();
                let is_branching = matches!(question, Question::MayProgress { .. } | Question::MayTerminate);
                Some(Finding::Candidate(Witness {
                    steps,
                    no_return: is_branching.then_some(stem),
                    cycle_start: (!lasso.cycle.is_empty()).then_some(stem),
                }))
            }
        };
        self.outcome.graph = Some(graph);
        Ok(candidate)
    }
}
