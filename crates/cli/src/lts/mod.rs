//! `stubborn lts`: processes as labelled state transition systems.

mod args;
mod build;
mod check;
mod compose;
mod example;
mod files;
mod info;
mod promela;
mod rules;
mod semantics;
mod tester;

pub(crate) use args::LtsCommand;

use crate::run::Failure;

const BAD_INPUT: u8 = 2;

/// Does what was asked.
pub(crate) fn lts(command: LtsCommand) -> Result<u8, Failure> {
    match command {
        LtsCommand::Convert { input, output, to, read } => {
            let format = files::format(output.as_deref(), to)?;
            if format == args::FormatWord::Lsts && files::is_lsts(&input) {
                return files::rewrite(&input, output.as_deref(), &read);
            }
            let Some(lsts) = files::open(&input, &read)? else { return Ok(BAD_INPUT) };
            files::save(&lsts, output.as_deref(), format, &read)?;
            Ok(0)
        }
        LtsCommand::Info { input, read } => {
            let Some(lsts) = files::open(&input, &read)? else { return Ok(BAD_INPUT) };
            info::info(&lsts);
            Ok(0)
        }
        LtsCommand::Compose { rules, output, state_names, reduction, preserve, limits, read } => {
            let how = compose::How { state_names, reduction: compose::reduction(reduction, preserve)? };
            compose::compose(&rules, output.as_deref(), &how, &limits, &read)
        }
        LtsCommand::Build { file, output, json, max_nodes, limits, read } => {
            let wanted = build::Wanted { output: output.as_deref(), json, max_nodes };
            build::build(&file, &wanted, &limits, &read)
        }
        LtsCommand::Compare { left, right, under, preorder, initial_stability, max_states, json, read } => {
            let asked = semantics::Asked { under, preorder, initial_stability, max_states, json };
            semantics::compare([&left, &right], &asked, &read)
        }
        LtsCommand::Minimize { input, under, initial_stability, max_states, output, read } => {
            let how = semantics::Smaller::Minimal(under, initial_stability);
            semantics::write(&input, output.as_deref(), how, max_states, &read)
        }
        LtsCommand::Determinise { input, max_states, output, read } => {
            let how = semantics::Smaller::Deterministic;
            semantics::write(&input, output.as_deref(), how, max_states, &read)
        }
        LtsCommand::Check { system, testers, read, check } => check::check(&system, &testers, &read, &check),
        LtsCommand::Tester { specification, ltl, automaton, visible, max_states, output, read } => {
            let source = tester::Source::new(specification, ltl, automaton);
            tester::write(&source, &visible, max_states, output.as_deref(), &read)
        }
        LtsCommand::Rules { inputs, rename, visible, numeric, output, read } => {
            let names = rules::Names { rename: rename.as_deref(), visible: visible.as_deref() };
            rules::rules(&inputs, names, numeric, output.as_deref(), &read)
        }
        LtsCommand::Example { directory, ring, size, fault, visible, hide_token } => {
            let ring = example::Ring { of: ring, size: size as usize, fault, visible, hide_token };
            example::example(&directory, &ring)
        }
    }
}
