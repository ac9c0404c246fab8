//! CharacterClass with `v`: ClassSetExpression with nesting, set operations and strings (22.2.1). With `i` all operands are folded first, so that the
//! operations speak of canonical forms; the result is closed again at the end.

use super::ast::Node;
use super::escape::Place;
use super::parser::{Parsed, Parser};
use crate::charset::CharSet;
use crate::error::SyntaxErrorKind as Kind;
use crate::unicode::casing::{CaseMode, canonicalize};
use std::collections::{BTreeMap, BTreeSet};

/// Strings longer than this are not shared in a tree, which costs a level of recursion per character.
const TRIE_DEPTH_MAX: usize = 32;

/// What a string of a class takes besides its characters, and what a branch of the tree of strings takes: the first of its kind in a map allocates
/// places for eleven.
const STRING_BYTES: usize = 96;
const BRANCH_BYTES: usize = 480;

/// The value of an operand: characters, and strings of other lengths than one.
#[derive(Clone, Default)]
struct Operand {
    chars: CharSet,
    strings: BTreeSet<Vec<u32>>,
    /// The static MayContainStrings, which negation looks at.
    may_contain_strings: bool,
}

impl Operand {
    fn of_chars(chars: CharSet) -> Self {
        Self { chars, ..Self::default() }
    }

    fn union(&mut self, other: Self) {
        self.chars = self.chars.union(&other.chars);
        self.strings.extend(other.strings);
        self.may_contain_strings |= other.may_contain_strings;
    }

    fn intersect(&mut self, other: &Self) {
        self.chars = self.chars.intersect(&other.chars);
        self.strings.retain(|string| other.strings.contains(string));
        self.may_contain_strings &= other.may_contain_strings;
    }

    fn subtract(&mut self, other: &Self) {
        self.chars = self.chars.subtract(&other.chars);
        self.strings.retain(|string| !other.strings.contains(string));
    }
}

/// A branch of the tree of strings that share a beginning.
#[derive(Default)]
struct Trie {
    is_end: bool,
    next: BTreeMap<u32, Trie>,
}

impl Parser<'_> {
    /// A whole class; the cursor is on the bracket.
    pub(super) fn set_class(&mut self) -> Parsed<Node> {
        let operand = self.nested_class()?;
        let strings: Vec<Vec<u32>> = operand.strings.into_iter().collect();
        self.node_of_strings(&operand.chars, &strings)
    }

    /// `[...]` or `[^...]`.
    fn nested_class(&mut self) -> Parsed<Operand> {
        self.enter()?;
        self.spend_class(1)?;
        let start = self.pos;
        self.pos += 1;
        let negated = self.eat(b"^");
        let mut operand = self.class_contents(start)?;
        if negated {
            if operand.may_contain_strings {
                return Err(self.error_at(start, Kind::NegatedClassWithStrings));
            }
            operand.chars = self.complement(&operand.chars);
        }
        self.leave();
        Ok(operand)
    }

    /// ClassUnion, ClassIntersection or ClassSubtraction, up to and with the `]`.
    fn class_contents(&mut self, start: usize) -> Parsed<Operand> {
        let mut result = Operand::default();
        if self.eat(b"]") {
            return Ok(result);
        }
        result.union(self.range_or_operand(start)?);
        if self.looking_at(b"&&") || self.looking_at(b"--") {
            return self.set_operation(result, start);
        }
        while !self.eat(b"]") {
            if self.looking_at(b"&&") || self.looking_at(b"--") {
                return Err(self.error(Kind::InvalidSetOperation));
            }
            let operand = self.range_or_operand(start)?;
            let sizes = result.chars.ranges().len() + operand.chars.ranges().len();
            self.spend_class(sizes + operand.strings.len())?;
            result.union(operand);
        }
        Ok(result)
    }

    fn set_operation(&mut self, mut result: Operand, start: usize) -> Parsed<Operand> {
        let operator: &[u8] = if self.looking_at(b"&&") { b"&&" } else { b"--" };
        while !self.eat(b"]") {
            if !self.eat(operator) || (operator == b"&&" && self.looking_at(b"&")) {
                return Err(self.error(Kind::InvalidSetOperation));
            }
            let (operand, _) = self.set_operand(start)?;
            let sizes = result.chars.ranges().len() + operand.chars.ranges().len();
            self.spend_class(sizes + result.strings.len())?;
            if operator == b"&&" {
                result.intersect(&operand);
            } else {
                result.subtract(&operand);
            }
        }
        Ok(result)
    }

    /// ClassSetRange or ClassSetOperand. A range directly before an operator is an error that `set_operation` finds.
    fn range_or_operand(&mut self, start: usize) -> Parsed<Operand> {
        let low_at = self.pos;
        let (operand, low) = self.set_operand(start)?;
        if !self.looking_at(b"-") || self.looking_at(b"--") {
            return Ok(operand);
        }
        let Some(low) = low else { return Err(self.error(Kind::InvalidSetOperation)) };
        self.pos += 1;
        let (_, Some(high)) = self.set_operand(start)? else {
            return Err(self.error_at(low_at, Kind::ClassRangeOfClass));
        };
        if low > high {
            return Err(self.error_at(low_at, Kind::ClassRangeOrder));
        }
        if self.looking_at(b"&&") || self.looking_at(b"--") {
            return Err(self.error(Kind::InvalidSetOperation));
        }
        Ok(Operand::of_chars(self.maybe_fold(CharSet::from_ranges(vec![(low, high)]))))
    }

    /// ClassSetOperand; with the character, if it is one.
    fn set_operand(&mut self, class_start: usize) -> Parsed<(Operand, Option<u32>)> {
        let start = self.pos;
        if self.looking_at(b"[") {
            return Ok((self.nested_class()?, None));
        }
        if self.eat(b"\\q{") {
            return Ok((self.string_disjunction(start)?, None));
        }
        if self.looking_at(b"\\") {
            self.pos += 1;
            if let Some(escape) = self.character_class_escape(start)? {
                let mut operand = Operand::of_chars(escape.chars);
                if let Some(strings) = escape.strings {
                    operand.may_contain_strings = true;
                    operand.strings = strings.into_iter().map(|string| self.fold_string(string)).collect();
                }
                return Ok((operand, None));
            }
            self.pos = start;
        }
        let c = self.set_character(class_start)?;
        Ok((Operand::of_chars(self.maybe_fold(CharSet::single(c))), Some(c)))
    }

    /// ClassSetCharacter.
    fn set_character(&mut self, class_start: usize) -> Parsed<u32> {
        let start = self.pos;
        if self.eat(b"\\") {
            if self.eat(b"b") {
                return Ok(0x8);
            }
            if let Some(unit) = self.peek().and_then(|unit| u8::try_from(unit).ok())
                && b"&-!#%,:;<=>@`~".contains(&unit)
            {
                self.pos += 1;
                return Ok(u32::from(unit));
            }
            return self.character_escape(start, Place::Atom);
        }
        let Some(unit) = self.peek() else { return Err(self.error_at(class_start, Kind::UnterminatedClass)) };
        if let Ok(byte) = u8::try_from(unit) {
            let doubled = b"&!#$%*+,.:;<=>?@^`~".contains(&byte) && self.peek_at(1) == Some(unit);
            if doubled || b"()[]{}/-\\|".contains(&byte) {
                return Err(self.error(Kind::InvalidSetCharacter));
            }
        }
        self.bump().ok_or_else(|| self.error_at(class_start, Kind::UnterminatedClass))
    }

    /// `\q{a|bc|}`; the cursor is behind the brace.
    fn string_disjunction(&mut self, start: usize) -> Parsed<Operand> {
        let mut operand = Operand::default();
        let mut string = Vec::new();
        loop {
            let ended = self.eat(b"}");
            if ended || self.eat(b"|") {
                let string = self.fold_string(std::mem::take(&mut string));
                match string[..] {
                    [c] => {
                        self.spend_class(operand.chars.ranges().len())?;
                        operand.chars = operand.chars.union(&CharSet::single(c));
                    }
                    _ => {
                        operand.may_contain_strings = true;
                        self.meter.hold(STRING_BYTES + string.len() * 4);
                        self.spend_class(1)?;
                        operand.strings.insert(string);
                    }
                }
                if ended {
                    return Ok(operand);
                }
                continue;
            }
            self.meter.work(1);
            string.push(self.set_character(start)?);
        }
    }

    fn fold_string(&self, mut string: Vec<u32>) -> Vec<u32> {
        if self.modifiers.ignore_case {
            string.iter_mut().for_each(|c| *c = canonicalize(CaseMode::Unicode, *c));
        }
        string
    }

    /// A class as a choice, longest string first (22.2.2.3, CompileAtom of CharacterClass).
    pub(super) fn node_of_strings(&mut self, chars: &CharSet, strings: &[Vec<u32>]) -> Parsed<Node> {
        if strings.is_empty() {
            return Ok(self.set_node(chars.clone()));
        }
        if self.behind || strings.iter().any(|string| string.len() > TRIE_DEPTH_MAX) {
            return self.plain_choice(chars, strings);
        }
        // At one place all strings that match are prefixes of the longest, so a tree that tries to go on before it ends has the same order.
        let mut root = Trie::default();
        let mut held = 0;
        for string in strings {
            let bytes = root.insert(string) * BRANCH_BYTES;
            self.meter.hold(bytes);
            held += bytes;
            self.spend_class(string.len())?;
        }
        let mut heads = Vec::new();
        for (&c, next) in &mut root.next {
            heads.push((c, c));
            next.is_end |= chars.contains(c);
        }
        let rest = chars.subtract(&CharSet::from_ranges(heads));
        let node = self.node_of_trie(&root, rest)?;
        self.meter.release(held);
        Ok(node)
    }

    fn plain_choice(&mut self, chars: &CharSet, strings: &[Vec<u32>]) -> Parsed<Node> {
        let mut sorted: Vec<&Vec<u32>> = strings.iter().collect();
        sorted.sort_by_key(|string| std::cmp::Reverse(string.len()));
        let empty = sorted.pop_if(|string| string.is_empty()).is_some();
        let mut alternatives = Vec::with_capacity(sorted.len() + 2);
        for string in sorted {
            self.meter.hold((string.len() + 1) * size_of::<Node>());
            self.spend_class(string.len())?;
            let mut characters = Vec::with_capacity(string.len());
            for &c in string {
                self.check()?;
                characters.push(self.character(c));
            }
            alternatives.push(Node::Sequence(characters));
        }
        alternatives.push(self.set_node(chars.clone()));
        if empty {
            alternatives.push(Node::Empty);
        }
        Ok(Node::Disjunction(alternatives))
    }

    /// The choice at one branch; `leaves` are further characters after which nothing comes.
    fn node_of_trie(&mut self, trie: &Trie, leaves: CharSet) -> Parsed<Node> {
        // Characters with the same continuation share one branch.
        let mut branches: BTreeMap<String, (Vec<(u32, u32)>, &Trie)> = BTreeMap::new();
        for (&c, next) in &trie.next {
            self.spend_class(1)?;
            branches.entry(next.shape()).or_insert_with(|| (Vec::new(), next)).0.push((c, c));
        }
        let mut alternatives = Vec::with_capacity(branches.len() + 2);
        for (ranges, next) in branches.into_values() {
            self.meter.hold(3 * size_of::<Node>());
            let head = self.set_node(CharSet::from_ranges(ranges));
            if next.next.is_empty() {
                alternatives.push(head);
            } else {
                alternatives.push(Node::Sequence(vec![head, self.node_of_trie(next, CharSet::empty())?]));
            }
        }
        if !leaves.is_empty() {
            alternatives.push(self.set_node(leaves));
        }
        if trie.is_end {
            alternatives.push(Node::Empty);
        }
        Ok(if alternatives.len() == 1 {
            alternatives.pop().unwrap_or(Node::Empty)
        } else {
            Node::Disjunction(alternatives)
        })
    }
}

impl Trie {
    /// Adds a string; how many branches that takes.
    fn insert(&mut self, string: &[u32]) -> usize {
        let mut at = self;
        let mut added = 0;
        for &c in string {
            at = at.next.entry(c).or_insert_with(|| {
                added += 1;
                Self::default()
            });
        }
        at.is_end = true;
        added
    }

    /// A text that is equal for equal continuations.
    fn shape(&self) -> String {
        use std::fmt::Write;
        let mut text = String::from(if self.is_end { "." } else { "" });
        for (c, next) in &self.next {
            let _ = write!(text, "({c:x}{})", next.shape());
        }
        text
    }
}
