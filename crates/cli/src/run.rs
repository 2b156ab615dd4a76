//! One model, one analysis: from arguments to a report.

use crate::args::{CheckArgs, QuestionWord, RulesWord};
use crate::machine;
use crate::watch::Terminal;
use clap::ValueEnum;
use stubborn_explore::Limits;
use stubborn_model::{Model, ModelError, ModelSystem, Question, RuleSource};
use stubborn_reduce::CheckDepth;
use stubborn_report::Report;
use stubborn_system::Whole;
use stubborn_verdict::{self as verdict, Broken, Kind, MakeReduction, Options, RaceRules, ReductionKind};
use thiserror::Error;

/// Why there is no report.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("{}", .0.fault)]
    Broken(Box<Broken>),
    #[error("{0}")]
    Usage(String),
}

/// Something to do with a system, whatever it was made from.
pub(crate) trait SystemJob {
    type Output;
    fn run<Y: Whole<State: Kind>>(self, system: &Y) -> Self::Output;
}

/// Does `job` with the model as a system of the narrowest states.
pub(crate) fn with_system<J: SystemJob>(
    model: &dyn Model,
    source: RuleSource,
    job: J,
) -> Result<J::Output, ModelError> {
    Ok(match model.layout().n_words() {
        1 => job.run(&ModelSystem::<[u64; 1]>::new(model, source)?),
        2 => job.run(&ModelSystem::<[u64; 2]>::new(model, source)?),
        3 | 4 => job.run(&ModelSystem::<[u64; 4]>::new(model, source)?),
        _ => job.run(&ModelSystem::<[u64]>::new(model, source)?),
    })
}

/// Verifies `model` as the arguments say.
pub(crate) fn check(model: &dyn Model, args: &CheckArgs) -> Result<Report, Failure> {
    let source = rule_source(model, args.rules);
    let options = options(model, source, args)?;
    analyse_with(model, source, &options, Terminal::new(args.time, args.quiet))
}

/// Verifies `model` with these options.
pub(crate) fn analyse_with(
    model: &dyn Model,
    source: RuleSource,
    options: &Options,
    watch: Terminal,
) -> Result<Report, Failure> {
    let about = About {
        name: model.name(),
        n_transitions: model.n_transitions(),
        state_bits: model.layout().n_bits(),
        rules: rules_word(source),
    };
    with_system(model, source, Analyse { options, watch, about })?
}

/// What a report says about the system itself.
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) n_transitions: usize,
    pub(crate) state_bits: usize,
    pub(crate) rules: Option<&'static str>,
}

/// Answers questions and makes a report of it.
pub(crate) struct Analyse<'a> {
    pub(crate) options: &'a Options,
    pub(crate) watch: Terminal,
    pub(crate) about: About,
}

impl SystemJob for Analyse<'_> {
    type Output = Result<Report, Failure>;

    fn run<Y: Whole<State: Kind>>(self, system: &Y) -> Self::Output {
        self.run_with(system, &|_| None)
    }
}

impl Analyse<'_> {
    /// The same with reductions of the system's own.
    pub(crate) fn run_with<'y, Y: Whole<State: Kind> + 'y>(
        mut self,
        system: &Y,
        make: &MakeReduction<'_, 'y, Y::State>,
    ) -> Result<Report, Failure> {
        let result = verdict::analyse_with(system, make, self.options, &mut self.watch);
        let seconds = self.watch.seconds();
        drop(self.watch);
        let About { name, n_transitions, state_bits, rules } = self.about;
        Ok(Report {
            model: name,
            n_transitions,
            state_bits,
            rules,
            optimise: None,
            analysis: result.map_err(Failure::Broken)?,
            seconds,
            peak_rss: machine::peak_rss(),
        })
    }
}

fn rules_word(source: RuleSource) -> Option<&'static str> {
    match source {
        RuleSource::Hand => Some("hand-written"),
        RuleSource::Derived => Some("derived"),
        RuleSource::None => None,
    }
}

/// The rules that were asked for, or else those that the model brings.
pub(crate) fn rule_source(model: &dyn Model, wanted: Option<RulesWord>) -> RuleSource {
    match wanted {
        Some(RulesWord::Hand) => RuleSource::Hand,
        Some(RulesWord::Derived) => RuleSource::Derived,
        None => RuleSource::of(model),
    }
}

/// What the arguments mean for this model.
pub(crate) fn options(model: &dyn Model, source: RuleSource, args: &CheckArgs) -> Result<Options, Failure> {
    let has_rules = source != RuleSource::None;
    let default = if has_rules { ReductionKind::StrongComponents } else { ReductionKind::None };
    let reduction = args.reduction.map_or(default, Into::into);
    if reduction != ReductionKind::None && !has_rules {
        return Err(Failure::Usage(format!(
            "reduction `{}` needs stubborn rules, and `{}` has neither rules nor footprints",
            reduction.word(),
            model.name()
        )));
    }
    if !ReductionKind::BY_RULES.contains(&reduction) {
        return Err(Failure::Usage(format!("reduction `{}` is for Promela models", reduction.word())));
    }
    if args.symmetry && !model.has_symmetry() {
        return Err(Failure::Usage(format!("`{}` has no symmetry representative", model.name())));
    }
    if args.question.iter().any(|word| word.is_about_runs()) {
        return Err(Failure::Usage("properties of runs are for Promela models".into()));
    }
    let own = model.questions();
    let asked = questions(&model.name(), own.clone(), own, args)?;
    // To see where there is no return takes edges, which questions about states do not need.
    let is_about_states = |question: &Question| matches!(question, Question::Safety | Question::Deadlock);
    let show_no_return = !asked.iter().all(is_about_states);
    let race = may_race(args).then(RaceRules::by_rules);
    Ok(Options { show_no_return, race, ..options_for(asked, reduction, args) })
}

/// Whether a search without reduction may take the place of one with it: whoever names a reduction wants to see it.
pub(crate) fn may_race(args: &CheckArgs) -> bool {
    args.reduction.is_none() && !args.check_reduction
}

/// The options, once questions and reduction are known.
pub(crate) fn options_for(questions: Vec<Question>, reduction: ReductionKind, args: &CheckArgs) -> Options {
    let depth = if args.check_reduction { CheckDepth::Everything } else { CheckDepth::Sample };
    Options {
        questions: Some(questions),
        reduction,
        check: Some(depth),
        symmetry: args.symmetry,
        search: args.search.into(),
        store: args.store_kind(),
        engine: args.engine.into(),
        threads: args.threads as usize,
        limits: Limits {
            states: args.max_states.unwrap_or(u64::MAX),
            bytes: args.memory.unwrap_or_else(machine::default_memory),
        },
        all_errors: args.all_errors,
        ..Options::default()
    }
}

/// The questions that were asked for, of those that `known`; or else those that the model asks by itself.
pub(crate) fn questions(
    name: &str,
    own: Vec<Question>,
    known: Vec<Question>,
    args: &CheckArgs,
) -> Result<Vec<Question>, Failure> {
    let mut wanted = Vec::new();
    for word in args.question.iter().filter(|word| !word.is_about_runs()) {
        let matching: Vec<Question> = known.iter().filter(|q| is_called(q, *word)).cloned().collect();
        match (word, matching.is_empty()) {
            (_, false) => wanted.extend(matching),
            // Every model can be asked these: they need nothing of its author.
            (QuestionWord::MayTerminate, true) => wanted.push(Question::MayTerminate),
            (QuestionWord::Deadlock, true) => wanted.push(Question::Deadlock),
            (_, true) => {
                let asks: Vec<&str> = known.iter().map(Question::word).collect();
                return Err(Failure::Usage(format!(
                    "`{name}` does not say what `{}` would mean for it; it can be asked: {}",
                    word.to_possible_value().map_or(String::new(), |v| v.get_name().to_owned()),
                    asks.join(", ")
                )));
            }
        }
    }
    let mut questions = if args.question.is_empty() { own } else { wanted };
    if args.strict_progress {
        for question in &mut questions {
            if let Question::MayProgress { terminal_counts } | Question::MustProgress { terminal_counts } =
                question
            {
                *terminal_counts = false;
            }
        }
    }
    Ok(questions)
}

fn is_called(question: &Question, word: QuestionWord) -> bool {
    matches!(
        (question, word),
        (Question::Safety, QuestionWord::Safety)
            | (Question::Deadlock, QuestionWord::Deadlock)
            | (Question::MayProgress { .. }, QuestionWord::MayProgress)
            | (Question::MustProgress { .. }, QuestionWord::MustProgress)
            | (Question::MayTerminate, QuestionWord::MayTerminate)
            | (Question::Fair { .. }, QuestionWord::Fair)
    )
}
