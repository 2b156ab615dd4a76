//! `stubborn lts`: processes as labelled state transition systems.

mod args;
mod files;
mod info;

pub(crate) use args::LtsCommand;

use crate::run::Failure;

const BAD_INPUT: u8 = 2;

/// Does what was asked.
pub(crate) fn lts(command: LtsCommand) -> Result<u8, Failure> {
    match command {
        LtsCommand::Convert { input, output, to, read } => {
            let format = files::format(output.as_deref(), to)?;
            let Some(lsts) = files::open(&input, &read)? else { return Ok(BAD_INPUT) };
            files::save(&lsts, output.as_deref(), format, &read)?;
            Ok(0)
        }
        LtsCommand::Info { input, read } => {
            let Some(lsts) = files::open(&input, &read)? else { return Ok(BAD_INPUT) };
            info::info(&lsts);
            Ok(0)
        }
    }
}
