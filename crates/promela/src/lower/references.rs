//! References: `a[i].b.c[j]` becomes an offset and indices.

use super::Lowering;
use super::scope::Symbol;
use super::types::Type;
use crate::ast::{self, Reference};
use stubborn_network::{Expr, Index, Place, Width};
use stubborn_text::Diagnostic;

/// What a reference means: a variable or a part of one.
pub(super) struct Target {
    /// Where it begins. The width counts only if it is a scalar.
    pub(super) place: Place,
    pub(super) type_of: Type,
    /// The length, if it is a whole array.
    pub(super) length: Option<usize>,
    /// The kind of channel that the variable begins with.
    pub(super) channel: Option<usize>,
}

impl Lowering<'_> {
    /// What a reference means.
    pub(super) fn target(&mut self, reference: &Reference) -> Option<Target> {
        let first = &reference.parts[0];
        let Some(symbol) = self.lookup(&first.name.name).cloned() else {
            if self.broken.contains(&first.name.name) {
                return None;
            }
            let message = format!("`{}` is not declared", first.name.name);
            let mut diagnostic = Diagnostic::error("P0301", first.name.span, message);
            if let Some(similar) = self.similar(&first.name.name) {
                diagnostic = diagnostic.help(format!("did you mean `{similar}`?"));
            }
            self.report(diagnostic);
            return None;
        };
        self.target_in(reference, symbol)
    }

    /// What a reference means, given the variable of its first name.
    pub(super) fn target_in(&mut self, reference: &Reference, symbol: Symbol) -> Option<Target> {
        let mut target = Target {
            place: Place {
                scope: symbol.scope,
                offset: symbol.offset,
                width: Width::Byte,
                indices: Vec::new(),
                text: String::new(),
            },
            type_of: symbol.type_of,
            length: symbol.length,
            channel: symbol.channel,
        };
        let mut is_element = self.index(&mut target, &reference.parts[0])?;
        for part in &reference.parts[1..] {
            let Type::Record(record) = target.type_of else {
                let message = format!("`{}` has no fields", target.place.text);
                self.error("P0314", part.name.span, message);
                return None;
            };
            if target.length.is_some() {
                let message = format!("`{}` is an array: which element?", target.place.text);
                self.error("P0315", part.name.span, message);
                return None;
            }
            let record = &self.records[record];
            let Some(field) = record.fields.iter().find(|f| f.name == part.name.name) else {
                let message = format!("type `{}` has no field `{}`", record.name, part.name.name);
                self.error("P0314", part.name.span, message);
                return None;
            };
            target.place.offset += field.offset;
            target.place.text.push('.');
            target.type_of = field.type_of;
            target.length = field.length;
            target.channel = None;
            is_element = self.index(&mut target, part)?;
        }
        if let Type::Scalar(scalar) = target.type_of {
            target.place.width = scalar.width(is_element || target.length.is_some());
        }
        Some(target)
    }

    /// Applies the index of a part; whether the result is an element of an array.
    fn index(&mut self, target: &mut Target, part: &ast::ReferencePart) -> Option<bool> {
        target.place.text.push_str(&part.name.name);
        let Some(index) = &part.index else { return Some(false) };
        let Some(length) = target.length else {
            let message = format!("`{}` is not an array", target.place.text);
            self.error("P0316", index.span, message);
            return None;
        };
        let stride = self.size(target.type_of, true);
        let value = self.expr(index)?;
        target.place.text.push_str(&format!("[{}]", self.map.snippet(index.span)));
        target.length = None;
        match value {
            Expr::Constant(i) if usize::try_from(i).is_ok_and(|i| i < length) => {
                target.place.offset += i as usize * stride;
            }
            value => target.place.indices.push(Index { value, length, stride }),
        }
        Some(true)
    }

    /// The scalar that a reference means. A whole array stands for its first element, as in SPIN.
    pub(super) fn scalar(&mut self, reference: &Reference) -> Option<Place> {
        let target = self.target(reference)?;
        if let Type::Record(_) = target.type_of {
            self.error("P0317", reference.span, format!("`{}` is a record", target.place.text));
            return None;
        }
        if target.length.is_some() {
            let message = format!("`{}` is an array: its first element is meant", target.place.text);
            self.report(Diagnostic::warning("P0318", reference.span, message));
        }
        Some(target.place)
    }

    /// All scalars that a reference means: one, or those of a record, in order.
    pub(super) fn scalars(&mut self, reference: &Reference) -> Option<Vec<Place>> {
        let target = self.target(reference)?;
        if let (Type::Scalar(_), _) = (target.type_of, target.length) {
            return self.scalar(reference).map(|place| vec![place]);
        }
        let leaves = self.leaves(target.type_of, target.length);
        let place = |leaf: &super::types::Leaf| Place {
            offset: target.place.offset + leaf.offset,
            width: leaf.width,
            text: format!("{}{}", target.place.text, leaf.path),
            ..target.place.clone()
        };
        Some(leaves.iter().map(place).collect())
    }

    /// A known name that differs little.
    fn similar(&self, name: &str) -> Option<String> {
        let names = self.scopes.iter().flat_map(|s| s.symbols.keys()).chain(self.globals.keys());
        let names = names.chain(self.mtypes.keys());
        let is_close = |known: &&std::sync::Arc<str>| {
            if known.len().min(name.len()) < 2 {
                return false;
            }
            let same = known.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
            same + 1 >= known.len().max(name.len()) || known.eq_ignore_ascii_case(name)
        };
        names.filter(is_close).min().map(ToString::to_string)
    }
}
