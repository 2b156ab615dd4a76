//! `compare`: one row per reduction.

use crate::args::{CheckArgs, RulesWord};
use crate::entry::print;
use crate::run::{Failure, analyse_with, options, rule_source};
use crate::watch::Terminal;
use stubborn_model::{Model, RuleSource};
use stubborn_report::{Comparison, Report, comparison_table};
use stubborn_verdict::{Options, ReductionKind};

/// Verifies `model` with every reduction that it has rules for, and with symmetry if it has one.
pub(crate) fn compare(model: &dyn Model, args: &CheckArgs) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    let mut code = 0;
    let best = rule_source(model, args.rules);
    let base = options(model, best, &CheckArgs { reduction: None, symmetry: false, ..args.clone() })?;
    let symmetries: &[bool] = if model.has_symmetry() { &[false, true] } else { &[false] };
    for (source, reduction) in methods(model, args) {
        for &symmetry in symmetries {
            let options = Options { reduction, symmetry, ..base.clone() };
            let report = analyse_with(model, source, &options, Terminal::new(args.time, args.quiet))?;
            code = code.max(report.exit_code());
            rows.push(row(&report, source, &options));
        }
    }
    print(format!("{}\n{}", model.name(), comparison_table(&rows)));
    Ok(code)
}

/// The reductions to compare, each with its rules.
fn methods(model: &dyn Model, args: &CheckArgs) -> Vec<(RuleSource, ReductionKind)> {
    let has_footprints = (0..model.n_transitions()).all(|t| model.footprint(t).is_some());
    let mut methods = vec![(RuleSource::None, ReductionKind::None)];
    for (word, source, is_there) in [
        (RulesWord::Hand, RuleSource::Hand, model.has_rules()),
        (RulesWord::Derived, RuleSource::Derived, has_footprints),
    ] {
        if is_there && args.rules.is_none_or(|wanted| wanted == word) {
            let reductions = ReductionKind::ALL.into_iter().filter(|&r| r != ReductionKind::None);
            methods.extend(reductions.map(|reduction| (source, reduction)));
        }
    }
    methods
}

fn row(report: &Report, source: RuleSource, options: &Options) -> Comparison {
    let rules = match source {
        RuleSource::Hand => ", hand-written rules",
        RuleSource::Derived => ", derived rules",
        RuleSource::None => "",
    };
    let symmetry = if options.symmetry { ", symmetry" } else { "" };
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
        method: format!("{}{rules}{symmetry}", options.reduction.word()),
        states: Some((stats.states, stats.edges)),
        seconds: report.seconds,
        bytes: stats.peak_bytes,
        verdict: verdicts.join("; "),
    }
}
