//! Units of a model and declarations.

use super::{Parsed, Parser, is_reserved};
use crate::ast::{
    ChannelType, Declaration, Declarator, Expr, Ident, Initial, Item, Proctype, TypeName, Visibility,
};
use std::sync::Arc;

/// Words that begin a unit, for going on after an error.
const STARTS: [&str; 12] = [
    "active",
    "proctype",
    "D_proctype",
    "init",
    "never",
    "ltl",
    "trace",
    "notrace",
    "typedef",
    "inline",
    "mtype",
    "chan",
];

impl Parser<'_> {
    /// The next unit; nothing for a stray semicolon and for the definition of an inline.
    pub(super) fn item(&mut self) -> Parsed<Vec<Item>> {
        self.parentheses = 0;
        self.depth = 0;
        self.is_formula = false;
        if self.eat(";") || self.eat("->") {
            return Ok(Vec::new());
        }
        let word = self.peek().word().cloned().unwrap_or_else(|| Arc::from(""));
        let item = match &*word {
            "active" | "proctype" | "D_proctype" => self.proctype()?,
            "init" => self.init()?,
            "never" => {
                self.next();
                let name = if self.at("{") { None } else { Some(self.ident("a name or `{`")?) };
                Item::Never { name, body: self.block()? }
            }
            "trace" | "notrace" => {
                let token = self.next();
                let is_negated = token.is_word("notrace");
                Item::Trace { is_negated, body: self.block()?, span: token.span }
            }
            "ltl" => self.formula()?,
            "typedef" => self.typedef()?,
            "inline" => {
                self.inline_definition()?;
                return Ok(Vec::new());
            }
            "mtype" if self.is_mtype_definition() => self.mtype()?,
            _ if self.is_declaration() => Item::Declaration(self.declaration()?),
            _ => return self.unexpected("a declaration or a process"),
        };
        Ok(vec![item])
    }

    /// Goes on after an error at the next line that begins a unit.
    pub(super) fn skip_to_item(&mut self) {
        self.active.clear();
        self.results.clear();
        if !self.is_end() {
            self.next();
        }
        while !self.is_end() {
            let token = self.peek();
            if token.starts_line && token.word().is_some_and(|w| STARTS.contains(&&**w)) {
                return;
            }
            self.next();
        }
    }

    fn proctype(&mut self) -> Parsed<Item> {
        let mut active = None;
        if self.at_word("active") {
            let span = self.next().span;
            let one = Expr { kind: crate::ast::ExprKind::Number(1), span };
            active = Some(one);
            if self.eat("[") {
                active = Some(self.expr()?);
                self.expect("]")?;
            }
        }
        let is_deterministic = self.at_word("D_proctype");
        if is_deterministic {
            self.next();
        } else {
            self.expect_word("proctype")?;
        }
        let name = self.ident("the name of the proctype")?;
        self.proctypes.insert(name.name.clone());
        self.open()?;
        let mut parameters = Vec::new();
        while !self.at(")") && !self.is_end() {
            if self.eat(";") || self.eat(",") {
                continue;
            }
            if !self.is_declaration() {
                return self.unexpected("a parameter");
            }
            parameters.push(self.declaration()?);
        }
        self.close()?;
        let priority = self.priority()?;
        let mut provided = None;
        if self.eat_word("provided") {
            self.open()?;
            provided = Some(self.expr()?);
            self.close()?;
        }
        let body = self.block()?;
        let is_init = false;
        Ok(Item::Proctype(Box::new(Proctype {
            name,
            active,
            is_init,
            is_deterministic,
            parameters,
            priority,
            provided,
            body,
        })))
    }

    fn init(&mut self) -> Parsed<Item> {
        let span = self.next().span;
        let priority = self.priority()?;
        let one = Expr { kind: crate::ast::ExprKind::Number(1), span };
        let name = Ident { name: Arc::from(":init:"), span };
        let body = self.block()?;
        Ok(Item::Proctype(Box::new(Proctype {
            name,
            active: Some(one),
            is_init: true,
            is_deterministic: false,
            parameters: Vec::new(),
            priority,
            provided: None,
            body,
        })))
    }

    fn formula(&mut self) -> Parsed<Item> {
        self.next();
        let name = if self.at("{") { None } else { Some(self.ident("a name or `{`")?) };
        self.expect("{")?;
        self.is_formula = true;
        let formula = self.expr();
        self.is_formula = false;
        let formula = formula?;
        self.eat(";");
        self.expect("}")?;
        Ok(Item::Ltl { name, formula })
    }

    fn typedef(&mut self) -> Parsed<Item> {
        self.next();
        let name = self.ident("the name of the type")?;
        self.expect("{")?;
        let mut fields = Vec::new();
        while !self.at("}") {
            if self.eat(";") || self.eat(",") {
                continue;
            }
            if !self.is_declaration() {
                return self.unexpected("a field");
            }
            fields.push(self.declaration()?);
        }
        self.next();
        self.typedefs.insert(name.name.clone());
        Ok(Item::Typedef { name, fields })
    }

    fn is_mtype_definition(&self) -> bool {
        let after = if self.peek_at(1).is_mark(":") { 3 } else { 1 };
        let token = self.peek_at(after);
        token.is_mark("{") || (token.is_mark("=") && self.peek_at(after + 1).is_mark("{"))
    }

    fn mtype(&mut self) -> Parsed<Item> {
        self.next();
        let subtype = if self.eat(":") { Some(self.ident("a subtype")?) } else { None };
        self.eat("=");
        self.expect("{")?;
        let mut names = Vec::new();
        while !self.at("}") {
            names.push(self.ident("a name")?);
            while self.eat(",") {}
        }
        self.next();
        Ok(Item::Mtype { subtype, names })
    }

    /// Whether a declaration of variables comes next.
    pub(super) fn is_declaration(&self) -> bool {
        let is_basic = |word: &str| {
            matches!(
                word,
                "bit" | "bool" | "byte" | "pid" | "short" | "int" | "unsigned" | "chan" | "mtype" | "hidden"
            ) || matches!(word, "show" | "local")
        };
        let Some(word) = self.peek().word() else { return false };
        is_basic(word)
            || (self.typedefs.contains(word) && self.peek_at(1).word().is_some_and(|w| !is_reserved(w)))
    }

    fn type_name(&mut self) -> Parsed<TypeName> {
        let word = self.peek().word().cloned().unwrap_or_else(|| Arc::from(""));
        let type_name = match &*word {
            "bit" | "bool" => TypeName::Bit,
            "byte" => TypeName::Byte,
            "pid" => TypeName::Pid,
            "short" => TypeName::Short,
            "int" => TypeName::Int,
            "unsigned" => TypeName::Unsigned,
            "chan" => TypeName::Chan,
            "mtype" => {
                self.next();
                let subtype = if self.eat(":") { Some(self.ident("a subtype")?) } else { None };
                return Ok(TypeName::Mtype(subtype));
            }
            _ => return Ok(TypeName::Named(self.ident("a type")?)),
        };
        self.next();
        Ok(type_name)
    }

    /// `hidden byte a = 1, b[2]`.
    pub(super) fn declaration(&mut self) -> Parsed<Declaration> {
        let span = self.peek().span;
        let visibility = if self.eat_word("hidden") {
            Some(Visibility::Hidden)
        } else if self.eat_word("show") {
            Some(Visibility::Show)
        } else if self.eat_word("local") {
            Some(Visibility::Local)
        } else {
            None
        };
        let type_name = self.type_name()?;
        let mut variables = vec![self.declarator()?];
        // `byte a, byte b` in a list of parameters: the comma does not belong to this declaration.
        while self.at(",") && !self.peek_at(1).word().is_some_and(|w| is_reserved(w)) {
            self.next();
            variables.push(self.declarator()?);
        }
        Ok(Declaration { visibility, type_name, variables, span: span.to(self.last.span) })
    }

    fn declarator(&mut self) -> Parsed<Declarator> {
        let name = self.ident("the name of a variable")?;
        let mut width = None;
        let mut length = None;
        if self.eat(":") {
            width = Some(self.expr()?);
        }
        if self.eat("[") {
            length = Some(self.expr()?);
            self.expect("]")?;
        }
        let initial = if self.at("=") && !self.is_line_end() {
            self.next();
            self.initial()?
        } else {
            Initial::Zero
        };
        Ok(Declarator { name, width, length, initial })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        let span = self.peek().span;
        if self.eat("{") {
            let list = self.expressions()?;
            self.expect("}")?;
            return Ok(Initial::List(list));
        }
        if !self.eat("[") {
            return Ok(Initial::Value(self.expr()?));
        }
        let capacity = self.expr()?;
        self.expect("]")?;
        self.expect_word("of")?;
        self.expect("{")?;
        let mut fields = vec![self.type_name()?];
        while self.eat(",") {
            fields.push(self.type_name()?);
        }
        let close = self.expect("}")?.span;
        Ok(Initial::Channel(ChannelType { capacity, fields, span: span.to(close) }))
    }
}
