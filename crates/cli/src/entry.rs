//! The ways in: the `stubborn` binary, and a model of one's own.

use crate::args::{
    CheckArgs, OptimiseWord, Own, OwnCommand, ParamArgs, PromelaArgs, Stubborn, StubbornCommand,
};
use crate::run::{Failure, check};
use crate::target::{Target, is_file_name, refuse_expressions};
use crate::unreached::unreached_text;
use crate::{compare, graph, ltl, lts, papers, program, promela, replay, simulate, trail};
use clap::Parser;
use std::fmt::Display;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use stubborn_model::Model;
use stubborn_report::{
    Report, Unreached, broken_json, broken_text, chart_text, clean, error_json, report_json, report_text,
    with_unreached,
};
use stubborn_verdict::Verdict;

const BAD_INPUT: u8 = 2;

/// What the user said about the size and the variant of a model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Params {
    /// `--size`.
    pub size: Option<usize>,
    /// `--variant`.
    pub variant: Option<String>,
}

/// The command line of a model: `check` (the default), `compare`, `simulate`, `replay`.
pub fn main(model: impl Model + 'static) -> ExitCode {
    let mut model: Option<Box<dyn Model>> = Some(Box::new(model));
    main_with(move |params| {
        if params.size.is_some() || params.variant.is_some() {
            return Err("this model has no --size and no --variant".into());
        }
        model.take().ok_or_else(|| "the model was asked for twice".into())
    })
}

/// The command line of a family of models: `build` makes one of the size and variant that the user asks for,
/// or says why it cannot.
pub fn main_with(build: impl FnOnce(&Params) -> Result<Box<dyn Model>, String>) -> ExitCode {
    let own = Own::parse();
    guarded(move || {
        let command = own.command.unwrap_or(OwnCommand::Check { params: own.params, check: own.check });
        match command {
            OwnCommand::Check { params, check } => {
                let model = build_or_fail(build, &params)?;
                Ok(show_check(&*model, &check))
            }
            OwnCommand::Compare { params, check } => {
                let model = build_or_fail(build, &params)?;
                compare::compare(&*model, &check)
            }
            OwnCommand::Simulate { params, simulate } => {
                simulate::simulate(&Target::Model(build_or_fail(build, &params)?), &simulate)
            }
            OwnCommand::Replay { params, replay } => {
                replay::replay(&Target::Model(build_or_fail(build, &params)?), &replay)
            }
        }
    })
}

fn build_or_fail(
    build: impl FnOnce(&Params) -> Result<Box<dyn Model>, String>,
    args: &ParamArgs,
) -> Result<Box<dyn Model>, Failure> {
    let params = Params { size: args.size, variant: args.variant.clone() };
    build(&params).map_err(Failure::Usage)
}

/// The `stubborn` binary.
#[doc(hidden)]
pub fn stubborn_main() -> ExitCode {
    let stubborn = Stubborn::parse();
    guarded(move || match stubborn.command {
        StubbornCommand::Check { model, trail, optimise, promela, linear, check } => {
            let trail = trail.map(|file| file.unwrap_or_else(|| trail::default_file(&model)));
            let optimise = OptimiseWord::asked(optimise, &check);
            let asked = promela::Asking { promela: &promela, linear: &linear, args: &check, optimise };
            promela::check(&model, asked, trail.as_deref())
        }
        StubbornCommand::Demo { name: None, .. } => {
            print(gallery_list());
            Ok(0)
        }
        StubbornCommand::Demo { name: Some(name), params, check } => {
            Ok(show_check(&*demo(&name, &params)?, &check))
        }
        StubbornCommand::Compare { model, optimise, params, promela, check } => {
            if is_file_name(&model) {
                let optimise = optimise.unwrap_or(OptimiseWord::None);
                return compare::compare_promela(Path::new(&model), &promela, optimise, &check);
            }
            refuse_expressions(&promela)?;
            if optimise.is_some() {
                return Err(Failure::Usage("--optimise is for Promela models".into()));
            }
            compare::compare(&*demo(&model, &params)?, &check)
        }
        StubbornCommand::Simulate { model, params, promela, simulate } => {
            let target = Target::open(&model, &params, &promela)?;
            target.map_or(Ok(BAD_INPUT), |target| simulate::simulate(&target, &simulate))
        }
        StubbornCommand::Replay { model, params, promela, replay } => {
            let target = Target::open(&model, &params, &promela)?;
            target.map_or(Ok(BAD_INPUT), |target| replay::replay(&target, &replay))
        }
        StubbornCommand::Graph { model, params, define, graph } => {
            let promela = PromelaArgs { define, ..PromelaArgs::default() };
            let target = Target::open(&model, &params, &promela)?;
            target.map_or(Ok(BAD_INPUT), |target| graph::graph(&target, &graph))
        }
        StubbornCommand::Ltl { ltl } => ltl::ltl(&ltl),
        StubbornCommand::Lts { command } => lts::lts(command),
        StubbornCommand::Run { run } => program::run(&run),
        StubbornCommand::Cc { arguments } => program::compile(&arguments),
        StubbornCommand::Papers { quick, only } => papers::papers(quick, only.as_deref()),
    })
}

fn demo(name: &str, params: &ParamArgs) -> Result<Box<dyn Model>, Failure> {
    let built = stubborn_gallery::build(name, params.size, params.variant.as_deref());
    built.map_err(|error| Failure::Usage(error.to_string()))
}

fn gallery_list() -> String {
    let mut out = String::from("The gallery (stubborn demo NAME --size N --variant V):\n");
    for entry in stubborn_gallery::entries() {
        out += &format!("\n  {}: {}\n", entry.name, entry.about);
        out += &format!(
            "    --size {}..={}, {} by default: {}\n",
            entry.sizes.start(),
            entry.sizes.end(),
            entry.default_size,
            entry.size_means
        );
        for (word, about) in entry.variants {
            let mark = if *word == entry.default_variant { " (default)" } else { "" };
            out += &format!("    --variant {word}{mark}: {about}\n");
        }
    }
    out
}

/// Verifies and shows the report.
fn show_check(model: &dyn Model, args: &CheckArgs) -> u8 {
    show(&model.name(), check(model, args), None, args)
}

/// Shows a report and what was never executed, if that is known; or why there is no report. Gives the exit
/// code.
pub(crate) fn show(
    name: &str,
    result: Result<Report, Failure>,
    unreached: Option<&[Unreached]>,
    args: &CheckArgs,
) -> u8 {
    match result {
        Ok(report) => {
            if args.json {
                let json = report_json(&report);
                let json = match unreached {
                    Some(list) => with_unreached(json, list),
                    None => json,
                };
                print(json + "\n");
            } else if args.quiet {
                for answer in &report.analysis.answers {
                    print(format!("{}: {}\n", answer.question.word(), answer.verdict.word()));
                }
            } else {
                print(report_text(&report, args.verbose) + &unreached_text(unreached.unwrap_or_default()));
                if args.chart {
                    print(charts(&report));
                }
            }
            report.exit_code()
        }
        Err(Failure::Broken(broken)) => {
            if args.json {
                print(broken_json(name, &broken) + "\n");
            } else {
                say(broken_text(name, &broken).trim_end());
            }
            BAD_INPUT
        }
        Err(failure) => {
            if args.json {
                print(error_json(name, &failure.to_string()) + "\n");
            }
            complain(&failure)
        }
    }
}

/// The charts of all counterexamples.
fn charts(report: &Report) -> String {
    let mut out = String::new();
    for answer in &report.analysis.answers {
        if let Verdict::Violated(violated) = &answer.verdict {
            out += &format!("{}, {}", answer.question.word(), chart_text(violated.trace()));
        }
    }
    out
}

fn complain(failure: &impl Display) -> u8 {
    say(&format!("error: {}", clean(&failure.to_string())));
    BAD_INPUT
}

/// Prints a line to standard error. If nobody listens, nothing is lost.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints to standard output. A reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: impl AsRef<str>) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_ref().as_bytes()).and_then(|()| out.flush());
}

/// Runs a command; a panic in a model's code is bad input, with the panic's own words.
fn guarded(command: impl FnOnce() -> Result<u8, Failure>) -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or(String::new(), |l| format!(" at {}:{}", l.file(), l.line()));
        let words = info.payload().downcast_ref::<&str>().map(|s| (*s).to_owned());
        let words = words.or_else(|| info.payload().downcast_ref::<String>().cloned());
        let words = words.unwrap_or_default();
        say(&format!("error: the model's code panicked{place}: {}", clean(&words)));
    }));
    let code = match catch_unwind(AssertUnwindSafe(command)) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => complain(&failure),
        Err(_) => BAD_INPUT,
    };
    ExitCode::from(code)
}
