//! Types: widths, records, message signatures.

use super::Lowering;
use crate::ast::{self, Declaration, TypeName};
use std::sync::Arc;
use stubborn_network::Width;

/// The type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Unsigned(u8),
    Bit,
    Byte,
    Chan,
    /// With the number of its subtype.
    Mtype(usize),
    Short,
    Int,
}

impl Scalar {
    /// The list of names that its values have.
    pub(super) fn names(self) -> Option<usize> {
        match self {
            Self::Mtype(subtype) => Some(subtype),
            _ => None,
        }
    }

    /// Its width; elements of arrays of bits are bytes, as in SPIN.
    pub(super) fn width(self, is_array: bool) -> Width {
        match self {
            Self::Unsigned(bits) => Width::Bits(bits),
            Self::Bit if !is_array => Width::Bits(1),
            Self::Bit | Self::Byte | Self::Chan | Self::Mtype(_) => Width::Byte,
            Self::Short => Width::Short,
            Self::Int => Width::Int,
        }
    }
}

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Scalar(Scalar),
    /// Index in [`Lowering::records`].
    Record(usize),
}

/// A field of a record.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Arc<str>,
    pub(super) type_of: Type,
    /// How many elements, if it is an array.
    pub(super) length: Option<usize>,
    pub(super) offset: usize,
    pub(super) initial: ast::Initial,
}

/// A typedef.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) name: Arc<str>,
    pub(super) fields: Vec<Field>,
    pub(super) size: usize,
}

/// A scalar within a variable.
pub(super) struct Leaf {
    pub(super) scalar: Scalar,
    pub(super) width: Width,
    /// Offset from the beginning of the variable.
    pub(super) offset: usize,
    /// What follows the name of the variable, e.g. `.a[1]`.
    pub(super) path: String,
    pub(super) initial: Option<ast::Initial>,
}

impl Lowering<'_> {
    /// Bytes of one element of a type.
    pub(super) fn size(&self, type_of: Type, is_array: bool) -> usize {
        match type_of {
            Type::Scalar(scalar) => scalar.width(is_array).bytes(),
            Type::Record(record) => self.records[record].size,
        }
    }

    /// The type that a name means; `width` is that of an `unsigned`.
    pub(super) fn type_of(&mut self, name: &TypeName, width: Option<&ast::Expr>) -> Option<Type> {
        let scalar = match name {
            TypeName::Bit => Scalar::Bit,
            TypeName::Byte | TypeName::Pid => Scalar::Byte,
            TypeName::Short => Scalar::Short,
            TypeName::Int => Scalar::Int,
            TypeName::Chan => Scalar::Chan,
            TypeName::Mtype(subtype) => Scalar::Mtype(self.subtype(subtype.as_ref())),
            TypeName::Unsigned => {
                let bits = match width {
                    Some(width) => self.constant(width)?,
                    None => 32,
                };
                match u8::try_from(bits).ok().filter(|b| (1..=32).contains(b)) {
                    Some(bits) => Scalar::Unsigned(bits),
                    None => {
                        let span = width.map_or(self.here, |w| w.span);
                        self.error("P0304", span, format!("an `unsigned` has 1 to 32 bits, not {bits}"));
                        return None;
                    }
                }
            }
            TypeName::Named(ident) => {
                let found = self.records.iter().position(|r| r.name == ident.name);
                if found.is_none() {
                    self.error("P0303", ident.span, format!("there is no type `{}`", ident.name));
                }
                return found.map(Type::Record);
            }
        };
        Some(Type::Scalar(scalar))
    }

    /// The number of a subtype of mtype.
    pub(super) fn subtype(&mut self, subtype: Option<&ast::Ident>) -> usize {
        let name = subtype.map_or_else(|| Arc::from(""), |s| s.name.clone());
        let known = self.subtypes.iter().position(|(known, _)| *known == name);
        known.unwrap_or_else(|| {
            self.subtypes.push((name, Vec::new()));
            self.subtypes.len() - 1
        })
    }

    /// The length of an array, checked.
    pub(super) fn length(&mut self, length: Option<&ast::Expr>) -> Option<Option<usize>> {
        let Some(length) = length else { return Some(None) };
        let value = self.constant(length)?;
        match usize::try_from(value).ok().filter(|&n| n > 0 && n <= self.limits.vector) {
            Some(n) => Some(Some(n)),
            None => {
                self.error("P0305", length.span, format!("an array cannot have {value} elements"));
                None
            }
        }
    }

    /// Defines a record.
    pub(super) fn define_record(&mut self, name: &ast::Ident, declarations: &[Declaration]) {
        if self.records.iter().any(|r| r.name == name.name) {
            return self.error("P0302", name.span, format!("type `{}` is declared twice", name.name));
        }
        let mut record = Record { name: name.name.clone(), fields: Vec::new(), size: 0 };
        for declaration in declarations {
            for variable in &declaration.variables {
                let type_of = self.type_of(&declaration.type_name, variable.width.as_ref());
                let length = self.length(variable.length.as_ref());
                let (Some(type_of), Some(length)) = (type_of, length) else { continue };
                let offset = record.size;
                record.size += self.size(type_of, length.is_some()) * length.unwrap_or(1);
                if record.size > self.limits.vector {
                    return self.error("P0401", variable.name.span, "the record is too large");
                }
                let (name, initial) = (variable.name.name.clone(), variable.initial.clone());
                record.fields.push(Field { name, type_of, length, offset, initial });
            }
        }
        self.records.push(record);
    }

    /// The scalars of a variable, in order.
    pub(super) fn leaves(&self, type_of: Type, length: Option<usize>) -> Vec<Leaf> {
        let mut out = Vec::new();
        let size = self.size(type_of, length.is_some());
        for i in 0..length.unwrap_or(1) {
            let index = if length.is_some() { format!("[{i}]") } else { String::new() };
            match type_of {
                Type::Scalar(scalar) => out.push(Leaf {
                    scalar,
                    width: scalar.width(length.is_some()),
                    offset: i * size,
                    path: index,
                    initial: None,
                }),
                Type::Record(record) => {
                    for field in &self.records[record].fields {
                        for leaf in self.leaves(field.type_of, field.length) {
                            out.push(Leaf {
                                offset: i * size + field.offset + leaf.offset,
                                path: format!("{index}.{}{}", field.name, leaf.path),
                                initial: leaf.initial.or_else(|| Some(field.initial.clone())),
                                ..leaf
                            });
                        }
                    }
                }
            }
        }
        out
    }
}
