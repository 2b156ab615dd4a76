//! What the file of a program says: whether it can be controlled, where in the source an address is, and which variable.

use crate::Trouble;
use crate::ignored::Code;
use addr2line::Loader;
use object::elf::PT_INTERP;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Architecture, Endianness, Object, ObjectSection, ObjectSymbol};
use std::path::{Path, PathBuf};

/// The file of a program.
pub(crate) struct Binary {
    lines: Option<Loader>,
    /// Variables: address, size, name; in the order of their addresses.
    variables: Vec<(u64, u64, String)>,
    pub(crate) code: Code,
}

/// The file that a command starts.
pub(crate) fn find(program: &str) -> Result<PathBuf, Trouble> {
    let missing = || Trouble::Missing(program.to_owned());
    if program.contains('/') {
        let path = PathBuf::from(program);
        return if path.is_file() { Ok(path) } else { Err(missing()) };
    }
    let directories = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&directories).map(|directory| directory.join(program));
    found.find(|path| path.is_file()).ok_or_else(missing)
}

/// The machine code.
fn code(elf: &ElfFile64<'_, Endianness>) -> Code {
    let text = elf.section_by_name(".text");
    let text = text.and_then(|text| Some((text.address(), text.data().ok()?.to_owned())));
    let stubs = [".plt", ".plt.got", ".plt.sec"].iter().filter_map(|name| elf.section_by_name(name));
    let stubs = stubs.map(|section| section.address()..section.address().saturating_add(section.size()));
    Code { text: text.unwrap_or_default(), stubs: stubs.collect() }
}

impl Binary {
    pub(crate) fn new(program: &str, path: &Path) -> Result<Binary, Trouble> {
        let bytes = std::fs::read(path).map_err(|error| Trouble::Start(program.to_owned(), error))?;
        if bytes.starts_with(b"#!") {
            return Err(Trouble::Script(program.to_owned()));
        }
        let elf =
            ElfFile64::<Endianness>::parse(&*bytes).map_err(|_| Trouble::NoProgram(program.to_owned()))?;
        let endian = elf.endian();
        let headers = elf.elf_header().program_headers(endian, &*bytes).unwrap_or_default();
        if !headers.iter().any(|header| header.p_type(endian) == PT_INTERP) {
            return Err(Trouble::Static(program.to_owned()));
        }
        let symbols = elf.symbols().chain(elf.dynamic_symbols());
        let mut variables: Vec<(u64, u64, String)> = symbols
            .filter(|symbol| symbol.kind() == object::SymbolKind::Data && symbol.size() > 0)
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?.to_owned())))
            .collect();
        variables.sort();
        let code = if elf.architecture() == Architecture::X86_64 { code(&elf) } else { Code::default() };
        Ok(Binary { lines: Loader::new(path).ok(), variables, code })
    }

    /// File and line of a call that returns to an address; what is in no line has its address for a name.
    pub(crate) fn place(&self, base: u64, returns_to: u64) -> (String, u32) {
        let address = returns_to.wrapping_sub(base).wrapping_sub(1);
        let location = self.lines.as_ref().and_then(|lines| lines.find_location(address).ok().flatten());
        match location.and_then(|at| Some((at.file?.to_owned(), at.line?))) {
            Some((file, line)) => (file, line),
            None if returns_to == 0 => ("-".to_owned(), 0),
            None => (format!("{:#x}", returns_to.wrapping_sub(base)), 0),
        }
    }

    /// The variable at an address.
    pub(crate) fn variable(&self, base: u64, address: u64) -> String {
        let offset = address.wrapping_sub(base);
        let i = self.variables.partition_point(|&(start, _, _)| start <= offset);
        match i.checked_sub(1).map(|i| &self.variables[i]) {
            Some((start, size, name)) if offset < start + size => match offset - start {
                0 => name.clone(),
                more => format!("{name}+{more}"),
            },
            _ => format!("at {address:#x}"),
        }
    }
}
