//! How included files arrive.
//!
//! An include names a file relative to the including one. What it may reach is decided here, by
//! [`resolve`], before any loader is asked: names that are absolute or that leave the directory of the
//! model are refused, so a model that somebody sent cannot read the files of its reader.

use std::collections::BTreeMap;

/// Why a file did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The name is absolute, or leaves the directory of the model.
    Outside,
    /// There is no such file.
    Missing,
    /// It is there but cannot be read: the reason.
    Unreadable(String),
}

/// A source of texts. `path` is relative to the directory of the model, with `/` between its parts and
/// without `.` and `..`; a loader that maps it to files must not follow links out of that directory.
pub trait Loader {
    /// The text of a file.
    fn load(&self, path: &str) -> Result<String, LoadError>;
}

/// No files at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLoader;

impl Loader for NoLoader {
    fn load(&self, _path: &str) -> Result<String, LoadError> {
        Err(LoadError::Missing)
    }
}

/// Texts in memory, for tests and for the web page.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    texts: BTreeMap<String, String>,
}

impl MemoryLoader {
    /// No texts yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.texts.insert(path.to_owned(), text.to_owned());
        self
    }
}

impl Loader for MemoryLoader {
    fn load(&self, path: &str) -> Result<String, LoadError> {
        self.texts.get(path).cloned().ok_or(LoadError::Missing)
    }
}

/// The path of `name` as included by `from`, relative to the directory of the model.
pub fn resolve(from: &str, name: &str) -> Result<String, LoadError> {
    if name.starts_with(['/', '\\']) || name.contains(['\0', ':', '\\']) {
        return Err(LoadError::Outside);
    }
    let directory = from.rsplit_once('/').map_or("", |(directory, _)| directory);
    let mut parts: Vec<&str> = directory.split('/').filter(|p| !p.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or(LoadError::Outside)?;
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within_the_directory_of_the_model() {
        assert_eq!(resolve("m.pml", "a.h"), Ok("a.h".into()));
        assert_eq!(resolve("sub/m.h", "../a.h"), Ok("a.h".into()));
        assert_eq!(resolve("sub/m.h", "./b/a.h"), Ok("sub/b/a.h".into()));
        for name in ["../a.h", "/etc/passwd", "b/../../a", "C:\\a", "\\\\host\\a"] {
            assert_eq!(resolve("m.pml", name), Err(LoadError::Outside), "{name}");
        }
    }
}
