//! Declarations: storage, initial values, channels.

use super::Lowering;
use super::flow::Kind;
use super::scope::Symbol;
use super::types::{Leaf, Scalar, Type};
use crate::ast::{self, Declaration, Declarator};
use stubborn_network::{Action, ChannelKind, Expr, Initial, Initialiser, Place, Scope, Variable, Width};
use stubborn_text::{Diagnostic, Span};

impl Lowering<'_> {
    /// A declaration outside all processes.
    pub(super) fn global(&mut self, declaration: &Declaration) {
        for variable in &declaration.variables {
            self.variable(declaration, variable);
        }
    }

    /// The places of the parameters of a process.
    pub(super) fn parameters(&mut self, declaration: &Declaration) -> Vec<Place> {
        let mut places = Vec::new();
        for variable in &declaration.variables {
            if !matches!(variable.initial, ast::Initial::Zero) {
                self.error("P0309", variable.name.span, "a parameter cannot have an initial value");
            }
            if let Some(symbol) = self.variable(declaration, variable) {
                for leaf in self.leaves(symbol.type_of, symbol.length) {
                    places.push(self.leaf_place(&variable.name.name, &symbol, &leaf));
                }
            }
        }
        places
    }

    /// A declaration in the body of a process: storage, and a step unless it is at the start.
    pub(super) fn local(&mut self, declaration: &Declaration) {
        for variable in &declaration.variables {
            let is_start = self.is_start;
            let Some(symbol) = self.variable(declaration, variable) else { continue };
            if is_start {
                continue;
            }
            let value = match &variable.initial {
                ast::Initial::Zero => Some(Expr::Constant(0)),
                ast::Initial::Value(expr) => self.expr(expr),
                // SPIN repeats only the first value of a list.
                ast::Initial::List(list) => list.first().and_then(|e| self.expr(e)),
                ast::Initial::Channel(channel) => {
                    self.report(Diagnostic::warning(
                        "P0310",
                        channel.span,
                        "this channel is created when the process starts, not here",
                    ));
                    continue;
                }
            };
            let leaves = self.leaves(symbol.type_of, symbol.length);
            let action = match (symbol.type_of, leaves.first(), value) {
                (Type::Scalar(_), Some(leaf), Some(value)) => {
                    Action::Assign(self.leaf_place(&variable.name.name, &symbol, leaf), value)
                }
                _ => Action::Skip,
            };
            self.flow.add(Kind::Statement(action), declaration.span);
        }
    }

    fn leaf_place(&self, name: &str, symbol: &Symbol, leaf: &Leaf) -> Place {
        Place {
            scope: symbol.scope,
            offset: symbol.offset + leaf.offset,
            width: leaf.width,
            indices: Vec::new(),
            text: format!("{name}{}", leaf.path),
        }
    }

    /// Gives a variable storage and its initial value.
    fn variable(&mut self, declaration: &Declaration, variable: &Declarator) -> Option<Symbol> {
        let symbol = self.try_variable(declaration, variable);
        if symbol.is_none() {
            self.broken.insert(variable.name.name.clone());
        }
        symbol
    }

    fn try_variable(&mut self, declaration: &Declaration, variable: &Declarator) -> Option<Symbol> {
        let type_of = self.type_of(&declaration.type_name, variable.width.as_ref());
        let length = self.length(variable.length.as_ref());
        let (type_of, length) = (type_of?, length?);
        let name = &variable.name;
        if self.mtypes.contains_key(&name.name) {
            self.error("P0302", name.span, format!("`{}` is a name of an mtype already", name.name));
            return None;
        }
        let scope = if self.scopes.is_empty() { Scope::Global } else { Scope::Local };
        let offset = self.allocate(type_of, length, scope, name.span)?;
        let mut symbol =
            Symbol { type_of, length, scope, offset, span: name.span, constant: None, channel: None };
        self.name_leaves(&name.name, &symbol);
        self.declare(name, symbol.clone());
        // In a block a value is assigned by the step; the variable begins with zero.
        let is_assigned_later =
            !self.is_start && scope == Scope::Local && matches!(variable.initial, ast::Initial::Value(_));
        if !is_assigned_later {
            self.initialise(variable, &mut symbol);
        }
        // Only now its channel and constant are known.
        let table = match self.scopes.last_mut() {
            Some(scope) => &mut scope.symbols,
            None => &mut self.globals,
        };
        table.insert(name.name.clone(), symbol.clone());
        Some(symbol)
    }

    fn allocate(&mut self, type_of: Type, length: Option<usize>, scope: Scope, span: Span) -> Option<usize> {
        let size = self.size(type_of, length.is_some()).checked_mul(length.unwrap_or(1))?;
        let total = if scope == Scope::Global { &mut self.globals_size } else { &mut self.locals_size };
        let offset = *total;
        *total += size;
        if *total > self.limits.vector {
            let message = format!("the state is larger than {} bytes", self.limits.vector);
            self.error("P0401", span, message);
            return None;
        }
        Some(offset)
    }

    /// Lists the variable for people and components: one entry per scalar or array of scalars.
    fn name_leaves(&mut self, name: &str, symbol: &Symbol) {
        // In blocks a name may be used again; people must be able to tell the variables apart.
        let known = if symbol.scope == Scope::Global { &self.variables } else { &self.locals };
        let n_known = known.iter().filter(|v| v.name.split(['#', '.', '[']).next() == Some(name)).count();
        let name = if n_known == 0 { name.to_owned() } else { format!("{name}#{}", n_known + 1) };
        let name = name.as_str();
        let list = |lowering: &mut Self, variable: Variable| match symbol.scope {
            Scope::Global => lowering.variables.push(variable),
            Scope::Local => lowering.locals.push(variable),
        };
        if let (Type::Scalar(scalar), Some(length)) = (symbol.type_of, symbol.length) {
            let width = scalar.width(true);
            let (name, offset) = (name.to_owned(), symbol.offset);
            let (stride, is_channel, names) = (width.bytes(), scalar == Scalar::Chan, scalar.names());
            let (is_scalar, is_read) = (false, false);
            let variable =
                Variable { name, offset, width, length, stride, is_channel, names, is_scalar, is_read };
            return list(self, variable);
        }
        for leaf in self.leaves(symbol.type_of, symbol.length) {
            let variable = Variable {
                name: format!("{name}{}", leaf.path),
                offset: symbol.offset + leaf.offset,
                width: leaf.width,
                length: 1,
                stride: leaf.width.bytes(),
                is_channel: leaf.scalar == Scalar::Chan,
                names: leaf.scalar.names(),
                is_scalar: matches!(symbol.type_of, Type::Scalar(_)),
                // SPIN never hides fields of records.
                is_read: matches!(symbol.type_of, Type::Record(_)),
            };
            list(self, variable);
        }
    }

    fn initialise(&mut self, variable: &Declarator, symbol: &mut Symbol) {
        let mut channel_kind = None;
        for (i, leaf) in self.leaves(symbol.type_of, symbol.length).iter().enumerate() {
            let own = leaf.initial.as_ref().unwrap_or(&variable.initial);
            let initial = match own {
                ast::Initial::Zero => continue,
                ast::Initial::Value(expr) => {
                    let Some(value) = self.expr(expr) else { continue };
                    if let Expr::Constant(value) = value {
                        symbol.constant = Some(value);
                    }
                    Initial::Value(value)
                }
                ast::Initial::List(list) => {
                    let Some(expr) = list.get(i).or(list.last()) else { continue };
                    let Some(value) = self.expr(expr) else { continue };
                    Initial::Value(value)
                }
                ast::Initial::Channel(channel) => {
                    // All elements of an array share a kind; fields of records have kinds of their own.
                    let kind = match channel_kind {
                        Some(kind) if leaf.initial.is_none() => kind,
                        _ => match self.channel_kind(&variable.name.name, channel) {
                            Some(kind) => kind,
                            None => continue,
                        },
                    };
                    channel_kind = Some(kind);
                    symbol.channel = Some(kind);
                    if leaf.scalar != Scalar::Chan {
                        self.error("P0311", channel.span, "only a `chan` can begin with a channel");
                        continue;
                    }
                    Initial::Channel(kind)
                }
            };
            let place = self.leaf_place(&variable.name.name, symbol, leaf);
            let initialiser = Initialiser { place, initial };
            let rank = rank(symbol.type_of, symbol.length.is_some());
            match symbol.scope {
                Scope::Global => self.initialisers.push((rank, initialiser)),
                Scope::Local => self.local_initialisers.push((rank, initialiser)),
            }
        }
    }

    fn channel_kind(&mut self, name: &str, channel: &ast::ChannelType) -> Option<usize> {
        let capacity = self.constant(&channel.capacity)?;
        let Some(capacity) = usize::try_from(capacity).ok().filter(|&n| n <= 255) else {
            self.error("P0312", channel.span, format!("a channel cannot hold {capacity} messages"));
            return None;
        };
        let mut scalars = Vec::new();
        for field in &channel.fields {
            if matches!(field, ast::TypeName::Unsigned) {
                self.error("P0313", channel.span, "a message cannot have a field of type `unsigned`");
                return None;
            }
            let type_of = self.type_of(field, None)?;
            scalars.extend(self.leaves(type_of, None).iter().map(|leaf| leaf.scalar));
        }
        // As in SPIN, a bit is one bit only if it is not alone.
        let is_alone = scalars.len() == 1;
        let width = |scalar: &Scalar| match scalar {
            Scalar::Unsigned(bits) if *bits > 16 => Width::Int,
            Scalar::Unsigned(bits) if *bits > 8 => Width::Short,
            Scalar::Unsigned(_) => Width::Byte,
            scalar => scalar.width(is_alone),
        };
        let fields = scalars.iter().map(width).collect();
        let names = scalars.iter().map(|scalar| scalar.names()).collect();
        self.channels.push(ChannelKind { name: name.to_owned(), capacity, fields, names });
        Some(self.channels.len() - 1)
    }
}

/// The order in which SPIN initialises: by type, scalars before arrays.
fn rank(type_of: Type, is_array: bool) -> u8 {
    let rank = match type_of {
        Type::Scalar(Scalar::Unsigned(_)) => 0,
        Type::Scalar(Scalar::Bit) => 1,
        Type::Scalar(Scalar::Byte) => 2,
        Type::Scalar(Scalar::Chan) => 3,
        Type::Scalar(Scalar::Mtype(_)) => 4,
        Type::Scalar(Scalar::Short) => 5,
        Type::Scalar(Scalar::Int) => 6,
        Type::Record(_) => 7,
    };
    rank * 2 + u8::from(is_array)
}
