//! Files of models: finding and compiling them. Tests and measurements of other crates include this file, too;
//! all crates lie side by side.

use std::path::{Path, PathBuf};
use stubborn_promela::{Compiled, Options, compile};
use stubborn_text::{LoadError, Loader};

/// Where Debian's package puts SPIN's examples.
pub(crate) const EXAMPLES: &str = "/usr/share/doc/spin/examples/Examples";

/// Includes from a directory.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Loader for Directory {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        std::fs::read_to_string(self.0.join(path)).map_err(|_| LoadError::Missing)
    }
}

/// Where the models of the front-end's tests are.
pub(crate) fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../promela/tests/models")
}

/// All models in a directory and below, sorted; none if it is not there.
pub(crate) fn promela_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(promela_files(&path));
        } else if path.extension().is_some_and(|e| e == "pml" || e == "prom" || e == "promela") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Compiles a file.
pub(crate) fn compile_file(path: &Path) -> Compiled {
    let text = String::from_utf8_lossy(&std::fs::read(path).expect("the model is there")).into_owned();
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let loader = Directory(path.parent().expect("in a directory").to_owned());
    compile(&name, &text, &loader, &Options::default())
}
