//! From pattern text to nodes. Never fails: what is malformed is literal.

use super::bracket::{Bracket, Class, collating_element};
use super::character::{decode, fold};
use super::{Alternatives, GroupKind, Node, Options};

/// What is being read: the alternatives of a group that is not closed yet, or the whole pattern. Kept on a stack of our own, so
/// that neither depth nor groups that never end cost more than one pass.
struct Frame {
    kind: GroupKind,
    /// The two bytes that opened it.
    opening: [u8; 2],
    /// Alternatives that ended with `|`.
    alternatives: Alternatives,
    builder: Builder,
    /// Plain parentheses that are open in the current alternative.
    nesting: usize,
}

/// The nodes of `pattern` and how deeply its groups nest.
pub(super) fn parse(pattern: &[u8], options: Options) -> (Vec<Node>, usize) {
    let mut outer = Builder { nodes: Vec::new(), options };
    let mut frames: Vec<Frame> = Vec::new();
    let (mut at, mut depth) = (0, 0);
    while let Some(&byte) = pattern.get(at) {
        let rest = pattern.get(at..).unwrap_or_default();
        if let Some(kind) = options.extended.then(|| opens_group(rest)).flatten() {
            let builder = Builder { nodes: Vec::new(), options };
            let alternatives = Alternatives(Vec::new());
            frames.push(Frame { kind, opening: [byte, b'('], alternatives, builder, nesting: 0 });
            depth = depth.max(frames.len());
            at += 2;
            continue;
        }
        if let Some(frame) = frames.last_mut() {
            match byte {
                b'(' => frame.nesting += 1,
                b')' if frame.nesting > 0 => frame.nesting -= 1,
                b'|' if frame.nesting == 0 => {
                    frame.alternatives.0.push(std::mem::take(&mut frame.builder.nodes));
                    at += 1;
                    continue;
                }
                b')' => {
                    if let Some(mut frame) = frames.pop() {
                        frame.alternatives.0.push(frame.builder.nodes);
                        let around = frames.last_mut().map_or(&mut outer, |frame| &mut frame.builder);
                        around.nodes.push(Node::Group(frame.kind, frame.alternatives));
                    }
                    at += 1;
                    continue;
                }
                _ => {}
            }
        }
        let in_group = !frames.is_empty();
        let builder = frames.last_mut().map_or(&mut outer, |frame| &mut frame.builder);
        at += plain(byte, rest, in_group, builder);
    }
    for frame in frames {
        // A group that does not end is text.
        outer.literal_bytes(&frame.opening);
        let mut alternatives = frame.alternatives;
        for nodes in std::mem::take(&mut alternatives.0) {
            outer.join(nodes);
            outer.literal_bytes(b"|");
        }
        outer.join(frame.builder.nodes);
    }
    (outer.nodes, depth)
}

struct Builder {
    nodes: Vec<Node>,
    options: Options,
}

impl Builder {
    /// Appends the character at the start of `text` literally and returns its length.
    fn literal(&mut self, text: &[u8]) -> usize {
        let (code, length) = decode(text, 0, self.options.utf8);
        if self.options.ignore_case && code >= 0x80 {
            self.nodes.push(Node::Folded(fold(code)));
        } else {
            self.literal_bytes(text.get(..length).unwrap_or_default());
        }
        length
    }

    fn literal_bytes(&mut self, bytes: &[u8]) {
        if let Some(Node::Literal(last)) = self.nodes.last_mut() {
            let mut joined = std::mem::take(last).into_vec();
            joined.extend_from_slice(bytes);
            *last = joined.into_boxed_slice();
        } else {
            self.nodes.push(Node::Literal(bytes.into()));
        }
    }

    /// Appends nodes as if their text had been read here.
    fn join(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            match node {
                Node::Literal(bytes) => self.literal_bytes(&bytes),
                Node::AnyString if self.nodes.last() == Some(&Node::AnyString) => {}
                node => self.nodes.push(node),
            }
        }
    }
}

/// What stands at the start of `rest`, which opens and ends no group, and its length.
fn plain(byte: u8, rest: &[u8], in_group: bool, builder: &mut Builder) -> usize {
    match byte {
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
        b'[' => match bracket(rest, builder.options) {
            Some((bracket, length)) => {
                builder.nodes.push(Node::Bracket(Box::new(bracket)));
                length
            }
            None => builder.literal(rest),
        },
        _ => literal_run(rest, in_group, builder),
    }
}

fn opens_group(text: &[u8]) -> Option<GroupKind> {
    Some(match (text.first()?, text.get(1)?) {
        (b'?', b'(') => GroupKind::Optional,
        (b'*', b'(') => GroupKind::Star,
        (b'+', b'(') => GroupKind::Plus,
        (b'@', b'(') => GroupKind::Once,
        (b'!', b'(') => GroupKind::Not,
        _ => return None,
    })
}

/// Appends as many plain characters as follow each other, in one piece.
fn literal_run(rest: &[u8], in_group: bool, builder: &mut Builder) -> usize {
    let special = |b: &u8| {
        matches!(b, b'*' | b'?' | b'\\' | b'[' | b'+' | b'@' | b'!')
            || in_group && matches!(b, b'(' | b'|' | b')')
    };
    let end = rest.iter().skip(1).position(special).map_or(rest.len(), |p| p + 1);
    let run = rest.get(..end).unwrap_or_default();
    if run.len() < 2
        || (builder.options.ignore_case && !run.is_ascii())
        || builder.options.utf8 && !run.is_ascii()
    {
        return builder.literal(rest);
    }
    builder.literal_bytes(run);
    run.len()
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
