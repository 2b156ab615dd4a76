//! `compare`: one row per reduction.

use crate::args::{CheckArgs, RulesWord};
use crate::entry::{print, say};
use crate::run::{Failure, analyse_with, options, rule_source};
use crate::watch::{Terminal, is_interrupted};
use stubborn_model::{Model, ModelError, RuleSource};
use stubborn_report::{Comparison, Report, clean, comparison_json, comparison_table};
use stubborn_verdict::{Options, ReductionKind};

/// Verifies `model` with every reduction that it has rules for, and with symmetry if it has one. If two of
/// them contradict each other, that is exit code 4.
pub(crate) fn compare(model: &dyn Model, args: &CheckArgs) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    let mut code = 0;
    let mut answers: Vec<(String, &'static str)> = Vec::new();
    let mut contradictions = Vec::new();
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
            code = Report::worse(code, report.exit_code());
            let row = row(&report, source, &options);
            contradictions.extend(contradiction(&mut answers, &report, &row.method));
            rows.push(row);
        }
    }
    code = if contradictions.is_empty() { code } else { 4 };
    if args.json {
        print(comparison_json(&model.name(), &rows, code) + "\n");
    } else {
        print(format!("{}\n{}", clean(&model.name()), comparison_table(&rows)));
        if rows.iter().any(|row| row.verdict.contains('*')) {
            print("* the reduced search left this open; a full search answered it\n");
        }
    }
    for contradiction in contradictions {
        say(&format!("contradiction: {contradiction}; this is a bug in stubborn or wrong rules"));
    }
    Ok(code)
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
        states: (stats.states, stats.edges),
        seconds: report.seconds,
        bytes: stats.peak_bytes,
        verdict: verdicts.join("; "),
    }
}
