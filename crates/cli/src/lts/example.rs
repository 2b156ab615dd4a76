//! `stubborn lts example`: files to begin with.

use crate::entry::print;
use crate::graph;
use crate::run::Failure;
use std::path::Path;
use stubborn_gallery::process_ring::ProcessRing;

/// Writes the files of a token ring to a directory.
pub(crate) fn example(directory: &Path, size: usize, fault: u8, visible: bool) -> Result<u8, Failure> {
    let unwritable = |error: std::io::Error| Failure::Usage(format!("{}: {error}", directory.display()));
    std::fs::create_dir_all(directory).map_err(unwritable)?;
    let ring = ProcessRing { visible, ..ProcessRing::new(size).with_fault(fault) };
    for (name, text) in ring.files() {
        graph::write(&directory.join(&name), &text)?;
        print(format!("{}\n", directory.join(name).display()));
    }
    Ok(0)
}
