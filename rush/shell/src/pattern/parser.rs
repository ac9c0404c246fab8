//! From pattern text to nodes. Never fails: what is malformed is literal.

use super::bracket::{Bracket, Class, collating_element};
use super::character::{decode, fold};
use super::{GroupKind, Node, Options};

/// Groups nested deeper than this are literal text; matching recurses once per level.
const GROUP_DEPTH_MAX: usize = 200;

pub(super) fn parse(pattern: &[u8], options: Options) -> Vec<Node> {
    let mut builder = Builder { nodes: Vec::new(), options };
    parse_into(pattern, &mut builder, 0);
    builder.nodes
}

struct Builder {
    nodes: Vec<Node>,
    options: Options,
}

impl Builder {
    /// Appends the character at the start of `text` literally and returns its length.
    fn literal(&mut self, text: &[u8]) -> usize {
        let (code, length) = decode(text, 0, self.options.utf8);
        let bytes = text.get(..length).unwrap_or_default();
        if self.options.ignore_case && code >= 0x80 {
            self.nodes.push(Node::Folded(fold(code)));
        } else if let Some(Node::Literal(last)) = self.nodes.last_mut() {
            let mut joined = std::mem::take(last).into_vec();
            joined.extend_from_slice(bytes);
            *last = joined.into_boxed_slice();
        } else {
            self.nodes.push(Node::Literal(bytes.into()));
        }
        length
    }
}

fn parse_into(pattern: &[u8], builder: &mut Builder, depth: usize) {
    let options = builder.options;
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        let rest = pattern.get(at..).unwrap_or_default();
        if options.extended
            && depth < GROUP_DEPTH_MAX
            && let Some((node, length)) = group(rest, options, depth)
        {
            builder.nodes.push(node);
            at += length;
            continue;
        }
        at += match byte {
            b'*' => {
                if builder.nodes.last() != Some(&Node::AnyString) {
                    builder.nodes.push(Node::AnyString);
                }
                1
            }
            b'?' => {
                builder.nodes.push(Node::AnyCharacter);
                1
            }
            b'\\' if rest.len() > 1 => 1 + builder.literal(rest.get(1..).unwrap_or_default()),
            b'[' => match bracket(rest, options) {
                Some((bracket, length)) => {
                    builder.nodes.push(Node::Bracket(Box::new(bracket)));
                    length
                }
                None => builder.literal(rest),
            },
            _ => literal_run(rest, builder),
        };
    }
}

/// Appends as many plain characters as follow each other, in one piece.
fn literal_run(rest: &[u8], builder: &mut Builder) -> usize {
    let special = |b: &u8| matches!(b, b'*' | b'?' | b'\\' | b'[' | b'+' | b'@' | b'!');
    let end = rest.iter().skip(1).position(special).map_or(rest.len(), |p| p + 1);
    let run = rest.get(..end).unwrap_or_default();
    if run.len() < 2
        || (builder.options.ignore_case && !run.is_ascii())
        || builder.options.utf8 && !run.is_ascii()
    {
        return builder.literal(rest);
    }
    if let Some(Node::Literal(last)) = builder.nodes.last_mut() {
        *last = [last, run].concat().into_boxed_slice();
    } else {
        builder.nodes.push(Node::Literal(run.into()));
    }
    run.len()
}

/// Parses an extended group at the start of `text`; `None` if there is none or it does not end.
fn group(text: &[u8], options: Options, depth: usize) -> Option<(Node, usize)> {
    let kind = match (text.first()?, text.get(1)?) {
        (b'?', b'(') => GroupKind::Optional,
        (b'*', b'(') => GroupKind::Star,
        (b'+', b'(') => GroupKind::Plus,
        (b'@', b'(') => GroupKind::Once,
        (b'!', b'(') => GroupKind::Not,
        _ => return None,
    };
    let mut alternatives = Vec::new();
    let mut start = 2;
    let mut at = 2;
    let mut nesting = 0usize;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match *rest.first()? {
            b'\\' => at += 1,
            b'[' => at += bracket(rest, options).map_or(0, |(_, length)| length - 1),
            b'(' => nesting += 1,
            b')' if nesting > 0 => nesting -= 1,
            byte @ (b'|' | b')') if nesting == 0 => {
                let mut builder = Builder { nodes: Vec::new(), options };
                parse_into(text.get(start..at).unwrap_or_default(), &mut builder, depth + 1);
                alternatives.push(builder.nodes);
                start = at + 1;
                if byte == b')' {
                    return Some((Node::Group(kind, alternatives), start));
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Parses a bracket expression at the start of `text`; `None` if it does not end.
fn bracket(text: &[u8], options: Options) -> Option<(Bracket, usize)> {
    let mut at = 1;
    let negated = matches!(text.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let mut bracket = Bracket::new(negated, options.ignore_case);
    let first = at;
    loop {
        let byte = *text.get(at)?;
        if byte == b']' && at > first {
            return Some((bracket.finish(), at + 1));
        }
        let rest = text.get(at..)?;
        if let Some((class, length)) = named(rest, b':') {
            if let Some(class) = Class::named(class) {
                bracket.add_class(class);
            }
            at += length;
            continue;
        }
        let (low, length) = endpoint(rest, options)?;
        at += length;
        let is_range = text.get(at) == Some(&b'-') && !matches!(text.get(at + 1), None | Some(b']'));
        if is_range {
            let (high, length) = endpoint(text.get(at + 1..)?, options)?;
            at += 1 + length;
            if let (Some(low), Some(high)) = (low, high) {
                bracket.add_range(low, high);
            }
        } else if let Some(low) = low {
            bracket.add_range(low, low);
        }
    }
}

/// One character of a bracket expression: plain, escaped, `[.x.]` or `[=x=]`. The code is `None` for a
/// collating name that does not exist.
fn endpoint(text: &[u8], options: Options) -> Option<(Option<u32>, usize)> {
    for mark in [b'.', b'='] {
        if let Some((name, length)) = named(text, mark) {
            return Some((collating_element(name, |t| decode(t, 0, options.utf8)), length));
        }
    }
    let skip = usize::from(text.first() == Some(&b'\\') && text.len() > 1);
    let (code, length) = decode(text, skip, options.utf8);
    (length > 0).then_some((Some(code), skip + length))
}

/// The text between `[:` and `:]` (or `.`, `=`) at the start of `text`, and the length of it all.
fn named(text: &[u8], mark: u8) -> Option<(&[u8], usize)> {
    if text.first() != Some(&b'[') || text.get(1) != Some(&mark) {
        return None;
    }
    let body = text.get(2..)?;
    let end = body.windows(2).position(|w| w == [mark, b']'])?;
    Some((body.get(..end)?, end + 4))
}
