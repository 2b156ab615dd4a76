//! Texts of processes and rules as bytes, and what is wrong with them.
//!
//! The formats of TVT are ISO-8859-1, so a text is read as bytes and never has to be UTF-8. Only when there is
//! something to complain about the text becomes characters, one for each byte, for [`stubborn_text`] to show.
//! **Checked by** the tests of bad input, which look at lines and columns.

use stubborn_text::{Diagnostic, FileId, LoadError, SourceMap, Span, render, resolve};

/// Where files arrive from. Paths are relative to the directory of the text that is read first.
pub trait Files {
    /// The bytes of a file.
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError>;
}

/// No files at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn load(&self, _: &str) -> Result<Vec<u8>, LoadError> {
        Err(LoadError::Missing)
    }
}

/// Files in memory, for tests.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(pub Vec<(String, Vec<u8>)>);

impl Files for MemoryFiles {
    fn load(&self, path: &str) -> Result<Vec<u8>, LoadError> {
        self.0.iter().find(|(name, _)| name == path).map(|(_, bytes)| bytes.clone()).ok_or(LoadError::Missing)
    }
}

/// A text that was refused: why, and the texts to show it in.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// What is wrong.
    pub diagnostic: Diagnostic,
    /// The texts.
    pub map: SourceMap,
}

impl Refusal {
    /// For people: message, place, excerpt.
    pub fn render(&self) -> String {
        render(&self.diagnostic, &self.map)
    }

    /// Line and column of the mistake, from one.
    pub fn place(&self) -> (usize, usize) {
        self.diagnostic.span().map_or((1, 1), |span| {
            let at = self.map.position(span);
            (at.line, at.column)
        })
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.render().trim_end())
    }
}

impl std::error::Error for Refusal {}

struct Text {
    name: String,
    bytes: Vec<u8>,
    included_at: Option<Span>,
}

/// The texts that were read so far.
pub(crate) struct Sources<'a> {
    texts: Vec<Text>,
    files: &'a dyn Files,
    /// How deep includes may be nested.
    max_includes: usize,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(name: &str, bytes: Vec<u8>, files: &'a dyn Files) -> Self {
        let texts = vec![Text { name: name.to_owned(), bytes, included_at: None }];
        Self { texts, files, max_includes: stubborn_text::Limits::default().includes }
    }

    pub(crate) fn bytes(&self, file: FileId) -> &[u8] {
        &self.texts[file.0 as usize].bytes
    }

    pub(crate) fn name(&self, file: FileId) -> &str {
        &self.texts[file.0 as usize].name
    }

    /// Puts other bytes in the place of a text: what the preprocessor makes of it.
    pub(crate) fn replace(&mut self, file: FileId, bytes: Vec<u8>) {
        self.texts[file.0 as usize].bytes = bytes;
    }

    /// Loads a file that is named at `span`.
    pub(crate) fn include(&mut self, name: &str, span: Span) -> Result<FileId, Diagnostic> {
        let from = self.name(span.file).to_owned();
        let path = resolve(&from, name).map_err(|error| cannot_load(name, &error, span))?;
        let chain = || {
            std::iter::successors(Some(span.file), |&file| {
                Some(self.texts[file.0 as usize].included_at?.file)
            })
        };
        if chain().any(|file| self.name(file) == path) {
            let message = format!("`{name}` includes itself");
            return Err(Diagnostic::error("T0005", span, message).help("an included file must not lead back"));
        }
        if chain().count() > self.max_includes {
            let message = format!("includes are nested deeper than {}", self.max_includes);
            return Err(Diagnostic::error("T0006", span, message));
        }
        let bytes = self.files.load(&path).map_err(|error| cannot_load(name, &error, span))?;
        self.texts.push(Text { name: path, bytes, included_at: Some(span) });
        Ok(FileId(self.texts.len() as u32 - 1))
    }

    /// The diagnostic with characters in place of bytes.
    pub(crate) fn refuse(&self, mut diagnostic: Diagnostic) -> Box<Refusal> {
        let mut map = SourceMap::new();
        for text in &self.texts {
            map.add(&text.name, latin1(&text.bytes), text.included_at.map(|span| self.shifted(span)));
        }
        for label in &mut diagnostic.labels {
            label.span = self.shifted(label.span);
        }
        Box::new(Refusal { diagnostic, map })
    }

    /// Bytes above 127 take two bytes as characters.
    fn shifted(&self, span: Span) -> Span {
        let bytes = self.bytes(span.file);
        let shift = |at: u32| {
            let at = (at as usize).min(bytes.len());
            at + bytes[..at].iter().filter(|byte| !byte.is_ascii()).count()
        };
        Span::new(span.file, shift(span.start), shift(span.end))
    }
}

pub(crate) fn cannot_load(name: &str, error: &LoadError, span: Span) -> Diagnostic {
    let message = match error {
        LoadError::Outside => format!("`{name}` is outside the directory of the first file"),
        LoadError::Missing => format!("there is no file `{name}`"),
        LoadError::Unreadable(why) => format!("`{name}` cannot be read: {why}"),
    };
    Diagnostic::error("T0004", span, message)
}

/// One character for each byte.
pub fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// One byte for each character; what has none becomes its UTF-8 bytes.
pub fn to_latin1(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(u32::from(c)) {
            Ok(byte) => out.push(byte),
            Err(_) => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    out
}
