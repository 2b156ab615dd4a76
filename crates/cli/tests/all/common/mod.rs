//! Running the binary and the examples as a user would.

use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// What a run gave.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Run {
    fn new(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The JSON that was printed.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }
}

/// Runs `stubborn` with the words of `arguments`.
pub(crate) fn stubborn(arguments: &str) -> Run {
    stubborn_with(arguments.split_whitespace())
}

/// Runs `stubborn` with these arguments.
pub(crate) fn stubborn_with<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_stubborn")).args(arguments).output();
    Run::new(output.expect("the binary runs"))
}

/// Runs `stubborn` with the words of `arguments` and this standard input.
pub(crate) fn stubborn_reading(arguments: &str, input: impl AsRef<[u8]>) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stubborn"));
    command.args(arguments.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that ends early does not read everything; that is its right.
    let _ = stdin.write_all(input.as_ref());
    drop(stdin);
    Run::new(child.wait_with_output().expect("the binary ends"))
}

/// Runs an example with the words of `arguments`.
pub(crate) fn example(name: &str, arguments: &str) -> Run {
    let output = Command::new(example_path(name)).args(arguments.split_whitespace()).output();
    Run::new(output.expect("the example runs"))
}

/// Cargo builds the examples before it runs the tests, beside their directory.
fn example_path(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps/TEST");
    profile.join("examples").join(name)
}

/// A file that is written where tests may write: its path.
pub(crate) fn written(name: &str, text: &str) -> String {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, text).expect("a file for a test");
    file.display().to_string()
}

/// A directory for files, gone with the test.
pub(crate) struct Files(PathBuf);

impl Files {
    pub(crate) fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("stubborn-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory for temporary files");
        Self(directory)
    }

    /// The path of a file, there or not.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    /// Writes a file and gives its path.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), text).expect("a temporary file");
        self.path(name)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The JSON that was printed, without what the engine and the clock may change: memory, seconds, and the name of the engine. On keys nobody knows whether termination always remains possible, unless that is
/// asked, so safety rests on another row.
pub(crate) fn whatever_the_engine(mut json: Value) -> Value {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(map) => {
                let of_the_engine = |key: &str| {
                    let memory = ["peak_bytes", "bytes_per_state", "peak_rss_bytes"];
                    let names = ["engine", "key_words", "always_may_terminate"];
                    names.contains(&key) || key.contains("second") || memory.contains(&key)
                };
                map.retain(|key, _| !of_the_engine(key));
                // Where nothing but states is kept, more states may be expanded in full so that nothing is ignored, and a state that is expanded again is not taken for one of another level.
                if map.get("product").is_some_and(Value::is_null) && map["reduction"] != "none" {
                    map.retain(|key, _| !["states", "transitions", "depth"].contains(&key.as_str()));
                }
                let is_safety = |row: &Value| row == "may-terminating-safety" || row == "no-ignoring-safety";
                if map.get("rests_on").is_some_and(is_safety) {
                    map.retain(|key, _| !key.starts_with("rests_on"));
                }
                map.values_mut().for_each(forget);
            }
            Value::Array(values) => values.iter_mut().for_each(forget),
            _ => {}
        }
    }
    forget(&mut json);
    json
}
