//! An expression as the `regex` crate writes it.

use std::fmt::Write as _;

use super::Dialect;
use super::tree::{Assertion, Node, Set, Tree};

pub(super) fn translate(tree: &Tree, dialect: Dialect) -> String {
    let mut out = String::new();
    write(&tree.root, dialect, &mut out);
    out
}

fn write(node: &Node, dialect: Dialect, out: &mut String) {
    match node {
        Node::Empty => out.push_str("(?:)"),
        Node::Character(c) => character(*c, dialect, out),
        Node::Any => out.push('.'),
        Node::Set(set) => write_set(set, dialect, out),
        Node::Assert(assertion) => out.push_str(match assertion {
            Assertion::LineStart => "^",
            Assertion::LineEnd => "$",
            Assertion::TextStart => "\\A",
            Assertion::TextEnd => "\\z",
            Assertion::WordBoundary => "\\b",
            Assertion::NotWordBoundary => "\\B",
            Assertion::WordStart => "\\b{start}",
            Assertion::WordEnd => "\\b{end}",
        }),
        Node::Group(_, inner) => {
            out.push('(');
            write(inner, dialect, out);
            out.push(')');
        }
        Node::Concatenation(nodes) => nodes.iter().for_each(|node| write(node, dialect, out)),
        Node::Alternatives(nodes) => {
            out.push_str("(?:");
            for (index, node) in nodes.iter().enumerate() {
                if index > 0 {
                    out.push('|');
                }
                write(node, dialect, out);
            }
            out.push(')');
        }
        Node::Repeat { node, least, most } => {
            out.push_str("(?:");
            write(node, dialect, out);
            out.push(')');
            let _ = match (least, most) {
                (0, None) => write!(out, "*"),
                (1, None) => write!(out, "+"),
                (0, Some(1)) => write!(out, "?"),
                (least, None) => write!(out, "{{{least},}}"),
                (least, Some(most)) => write!(out, "{{{least},{most}}}"),
            };
        }
        // Expressions with these are not translated.
        Node::BackReference(_) => {}
    }
}

fn character(c: u32, dialect: Dialect, out: &mut String) {
    match char::from_u32(c) {
        Some(c) if c.is_ascii() || dialect.utf8 => {
            out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
        }
        _ => _ = write!(out, "\\x{:02x}", c & 0xff),
    }
}

fn bracket_character(c: u32, out: &mut String) {
    let _ = if c < 0x80 { write!(out, "\\x{c:02x}") } else { write!(out, "\\x{{{c:x}}}") };
}

fn write_set(set: &Set, dialect: Dialect, out: &mut String) {
    out.push_str(if set.negated { "[^" } else { "[" });
    for (low, high) in &set.ranges {
        bracket_character(*low, out);
        if high > low {
            out.push('-');
            bracket_character(*high, out);
        }
    }
    set.classes.iter().for_each(|class| out.push_str(class.text(dialect.utf8)));
    out.push(']');
}
