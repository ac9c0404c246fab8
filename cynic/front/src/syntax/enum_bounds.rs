//! How long the constants of a text's enums may get, found out before they are worked out: `b = a + a` doubles, and so on.
//!
//! Invariant: no constant that the semantic pass works out is longer than its bound here. Names stand for the longest member so called,
//! whatever enum they mean.

use oxc_ast::ast::*;
use oxc_ast_visit::Visit;
use rustc_hash::FxHashMap;

use crate::limits;

/// Where the enums of the tree get too long, or take too long to work out: a byte offset.
pub(super) fn excess(program: &Program<'_>) -> Option<u32> {
    let mut bounds = Bounds::default();
    bounds.visit_program(program);
    bounds.excess
}

/// What a constant may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bound {
    Number,
    Text(usize),
}

impl Bound {
    /// Bytes when it is appended to a text.
    fn bytes(self) -> usize {
        match self {
            Self::Number => limits::NUMBER_TEXT_BYTES_MAX,
            Self::Text(bytes) => bytes,
        }
    }
}

#[derive(Default)]
struct Bounds<'a> {
    members: FxHashMap<&'a str, Bound>,
    /// Bytes of all constants that are text.
    total: usize,
    /// Enums so far: a name is looked for in each.
    enums: u64,
    lookups: u64,
    excess: Option<u32>,
}

impl<'a> Bounds<'a> {
    fn of(&mut self, expression: &Expression<'a>) -> Bound {
        match expression {
            Expression::StringLiteral(it) => Bound::Text(it.value.len()),
            Expression::TemplateLiteral(it) => {
                let own: usize = it.quasis.iter().map(|quasi| quasi.value.raw.len()).sum();
                Bound::Text(it.expressions.iter().fold(own, |sum, e| sum.saturating_add(self.of(e).bytes())))
            }
            Expression::ParenthesizedExpression(it) => self.of(&it.expression),
            Expression::UnaryExpression(it) => match (self.of(&it.argument), it.operator) {
                (Bound::Text(bytes), UnaryOperator::UnaryPlus) => Bound::Text(bytes),
                _ => Bound::Number,
            },
            Expression::BinaryExpression(it) => match (self.of(&it.left), self.of(&it.right), it.operator) {
                (Bound::Number, Bound::Number, _) => Bound::Number,
                (left, right, BinaryOperator::Addition) => {
                    Bound::Text(left.bytes().saturating_add(right.bytes()))
                }
                _ => Bound::Number,
            },
            Expression::Identifier(it) => self.named(it.name.as_str()),
            Expression::StaticMemberExpression(it) => self.named(it.property.name.as_str()),
            Expression::ComputedMemberExpression(it) => match &it.expression {
                Expression::StringLiteral(name) => self.named(name.value.as_str()),
                _ => Bound::Number,
            },
            _ => Bound::Number,
        }
    }

    fn named(&mut self, name: &str) -> Bound {
        self.lookups = self.lookups.saturating_add(self.enums);
        self.members.get(name).copied().unwrap_or(Bound::Number)
    }
}

impl<'a> Visit<'a> for Bounds<'a> {
    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.enums += 1;
        for member in &it.body.members {
            let Some(init) = &member.initializer else { continue };
            let bound = self.of(init);
            if let Bound::Text(bytes) = bound {
                self.total = self.total.saturating_add(bytes);
            }
            if self.total > limits::ENUM_TEXT_BYTES_MAX || self.lookups > limits::ENUM_LOOKUPS_MAX {
                self.excess.get_or_insert(member.span.start);
                return;
            }
            let name = member.id.static_name().as_str();
            let known = self.members.entry(name).or_insert(bound);
            *known = bound.max(*known);
        }
    }

    // Nothing in a type has a constant.
    fn visit_ts_type(&mut self, _it: &TSType<'a>) {}
}
