//! `stubborn lts example`: files to begin with.

use super::args::RingWord;
use crate::entry::print;
use crate::graph;
use crate::run::Failure;
use std::path::Path;
use stubborn_gallery::customer_ring::CustomerRing;
use stubborn_gallery::process_ring::ProcessRing;

/// Which token ring, and what of it.
pub(crate) struct Ring {
    pub(crate) of: RingWord,
    pub(crate) size: usize,
    pub(crate) fault: u8,
    pub(crate) visible: bool,
    pub(crate) hide_token: bool,
}

/// Writes the files of a token ring to a directory.
pub(crate) fn example(directory: &Path, ring: &Ring) -> Result<u8, Failure> {
    let Ring { of, size, fault, visible, hide_token } = *ring;
    let files = match of {
        RingWord::Demand => {
            let ring =
                ProcessRing { visible, token: !hide_token, ..ProcessRing::new(size).with_fault(fault) };
            ring.files()
        }
        RingWord::RoundRobin if fault > 0 => {
            return Err(Failure::Usage("the faults are those of the ring on demand".into()));
        }
        RingWord::RoundRobin => CustomerRing { size, visible }.files(),
    };
    let unwritable = |error: std::io::Error| Failure::Usage(format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(unwritable)?;
    for (name, text) in files {
        graph::write(&directory.join(&name), &text)?;
        print(format!("{}\n", directory.join(name).display()));
    }
    Ok(0)
}
