//! `compare`: one row per reduction.

use crate::args::{CheckArgs, OptimiseWord, PromelaArgs, RulesWord};
use crate::entry::{print, say};
use crate::promela::{Loaded, is_possible, load, refuse_methods, report};
use crate::run::{Failure, analyse_with, options, rule_source};
use crate::subject::Subject;
use crate::watch::{Terminal, is_interrupted};
use std::path::Path;
use stubborn_model::{Model, ModelError, RuleSource};
use stubborn_report::{Comparison, Report, clean, comparison_json, comparison_table};
use stubborn_verdict::{Options, ReductionKind};

/// Verifies `model` with every reduction that it has rules for, and with symmetry if it has one. If two of
/// them contradict each other, that is exit code 4.
pub(crate) fn compare(model: &dyn Model, args: &CheckArgs) -> Result<u8, Failure> {
    let mut table = Rows::default();
    let best = rule_source(model, args.rules);
    let base = options(model, best, &CheckArgs { reduction: None, symmetry: false, ..args.clone() })?;
    let symmetries: &[bool] = if model.has_symmetry() { &[false, true] } else { &[false] };
    for (source, reduction) in methods(model, args)? {
        for &symmetry in symmetries {
            if is_interrupted() {
                continue;
            }
            let options = Options { reduction, symmetry, ..base.clone() };
            let report = analyse_with(model, source, &options, Terminal::new(args.time, args.quiet))?;
            table.add(&report, method(source, &options));
        }
    }
    Ok(table.show(&model.name(), args))
}

/// The same for a Promela model, with every reduction that there is for those. All search the same network; the
/// counterexamples are not shown, so they need not be those of the model as written.
pub(crate) fn compare_promela(
    file: &Path,
    promela: &PromelaArgs,
    optimise: OptimiseWord,
    args: &CheckArgs,
) -> Result<u8, Failure> {
    refuse_methods(args)?;
    let Some(Loaded { network, asked, .. }) = load(file, promela)? else { return Ok(2) };
    let name = file.display().to_string();
    let optimised = network.optimised(asked.unnoticed(optimise.into()), &asked.readers());
    let subject = Subject::new(&optimised.network, &asked);
    let mut table = Rows::default();
    for reduction in ReductionKind::ALL.into_iter().filter(|&r| is_possible(r, &asked)) {
        if !is_interrupted() {
            table.add(
                &report(&name, &subject, &asked, (reduction, false), args)?,
                reduction.word().to_owned(),
            );
        }
    }
    Ok(table.show(&name, args))
}

/// The rows so far, and what they say together.
#[derive(Default)]
struct Rows {
    rows: Vec<Comparison>,
    code: u8,
    answers: Vec<(String, &'static str)>,
    contradictions: Vec<String>,
}

impl Rows {
    fn add(&mut self, report: &Report, method: String) {
        self.code = Report::worse(self.code, report.exit_code());
        self.contradictions.extend(contradiction(&mut self.answers, report, &method));
        self.rows.push(row(report, method));
    }

    /// Prints the table. Gives the exit code.
    fn show(self, name: &str, args: &CheckArgs) -> u8 {
        let Self { rows, code, contradictions, .. } = self;
        let code = if contradictions.is_empty() { code } else { 4 };
        if args.json {
            print(comparison_json(name, &rows, code) + "\n");
        } else {
            print(format!("{}\n{}", clean(name), comparison_table(&rows)));
            if rows.iter().any(|row| row.verdict.contains('*')) {
                print("* the reduced search left this open; a full search answered it\n");
            }
        }
        for contradiction in contradictions {
            say(&format!("contradiction: {contradiction}; this is a bug in stubborn or wrong rules"));
        }
        code
    }
}

/// Remembers the answers of a report; says if one is not what another method answered.
fn contradiction(answers: &mut Vec<(String, &'static str)>, report: &Report, method: &str) -> Option<String> {
    let mut found = None;
    for answer in &report.analysis.answers {
        let word = answer.verdict.word();
        if !["holds", "violated"].contains(&word) {
            continue;
        }
        match answers.iter().find(|(text, _)| *text == answer.text) {
            None => answers.push((answer.text.clone(), word)),
            Some((_, before)) if *before != word => {
                found = Some(format!("{}: {method} says {word}, another says {before}", answer.text));
            }
            Some(_) => {}
        }
    }
    found
}

/// The reductions to compare, each with its rules.
fn methods(model: &dyn Model, args: &CheckArgs) -> Result<Vec<(RuleSource, ReductionKind)>, Failure> {
    let has_footprints = (0..model.n_transitions()).all(|t| model.footprint(t).is_some());
    match args.rules {
        Some(RulesWord::Hand) if !model.has_rules() => {
            return Err(ModelError::NoRules { wanted: "hand-written rules" }.into());
        }
        Some(RulesWord::Derived) if !has_footprints => {
            return Err(ModelError::NoRules { wanted: "footprints for all transitions" }.into());
        }
        _ => {}
    }
    let mut methods = vec![(RuleSource::None, ReductionKind::None)];
    for (word, source, is_there) in [
        (RulesWord::Hand, RuleSource::Hand, model.has_rules()),
        (RulesWord::Derived, RuleSource::Derived, has_footprints),
    ] {
        if is_there && args.rules.is_none_or(|wanted| wanted == word) {
            let reductions = ReductionKind::BY_RULES.into_iter().filter(|&r| r != ReductionKind::None);
            methods.extend(reductions.map(|reduction| (source, reduction)));
        }
    }
    Ok(methods)
}

fn method(source: RuleSource, options: &Options) -> String {
    let rules = match source {
        RuleSource::Hand => ", hand-written rules",
        RuleSource::Derived => ", derived rules",
        RuleSource::None => "",
    };
    let symmetry = if options.symmetry { ", symmetry" } else { "" };
    format!("{}{rules}{symmetry}", options.reduction.word())
}

fn row(report: &Report, method: String) -> Comparison {
    let verdicts: Vec<String> = report
        .analysis
        .answers
        .iter()
        .map(|a| {
            let again = if a.phase > 0 { "*" } else { "" };
            format!("{} {}{again}", a.question.word(), a.verdict.word())
        })
        .collect();
    let stats = report.analysis.phases.first().map(|phase| phase.stats).unwrap_or_default();
    Comparison {
        method,
        states: (stats.states, stats.edges),
        seconds: report.seconds,
        bytes: stats.peak_bytes,
        verdict: verdicts.join("; "),
    }
}
