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
    let mut outer = Builder::new(options);
    let mut frames: Vec<Frame> = Vec::new();
    let mut known = Known::of(pattern);
    let (mut at, mut depth) = (0, 0);
    while let Some(&byte) = pattern.get(at) {
        let rest = pattern.get(at..).unwrap_or_default();
        if let Some(kind) = options.extended.then(|| opens_group(rest)).flatten() {
            let builder = Builder::new(options);
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
                    frame.alternatives.0.push(frame.builder.take());
                    at += 1;
                    continue;
                }
                b')' => {
                    if let Some(mut frame) = frames.pop() {
                        frame.alternatives.0.push(frame.builder.take());
                        let around = frames.last_mut().map_or(&mut outer, |frame| &mut frame.builder);
                        around.push(Node::Group(frame.kind, frame.alternatives));
                    }
                    at += 1;
                    continue;
                }
                _ => {}
            }
        }
        let in_group = !frames.is_empty();
        let builder = frames.last_mut().map_or(&mut outer, |frame| &mut frame.builder);
        at += plain(byte, rest, in_group, builder, &mut known);
    }
    for mut frame in frames {
        // A group that does not end is text.
        outer.literal_bytes(&frame.opening);
        let mut alternatives = frame.alternatives;
        for nodes in std::mem::take(&mut alternatives.0) {
            outer.join(nodes);
            outer.literal_bytes(b"|");
        }
        outer.join(frame.builder.take());
    }
    (outer.take(), depth)
}

struct Builder {
    nodes: Vec<Node>,
    /// The text behind them that is no node yet: text comes in small pieces, and each is looked at once.
    text: Vec<u8>,
    options: Options,
}

/// What is known of the rest of the pattern, so that what does not end is searched for once and not at each place where it could begin.
struct Known {
    /// Bytes behind the last `]`; none where there is no `]`.
    behind_close: Option<usize>,
    /// Whether no `:]`, `.]` or `=]` follows.
    unended: [bool; 3],
}

impl Known {
    fn of(pattern: &[u8]) -> Self {
        let last = pattern.iter().rposition(|byte| *byte == b']');
        Self { behind_close: last.map(|at| pattern.len() - at - 1), unended: [false; 3] }
    }

    /// Whether a bracket expression at the start of `rest` may end.
    fn may_close(&self, rest: &[u8]) -> bool {
        self.behind_close.is_some_and(|behind| rest.len() > behind)
    }
}

impl Builder {
    fn new(options: Options) -> Self {
        Self { nodes: Vec::new(), text: Vec::new(), options }
    }

    fn push(&mut self, node: Node) {
        self.end_text();
        self.nodes.push(node);
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.nodes.push(Node::Literal(std::mem::take(&mut self.text).into_boxed_slice()));
        }
    }

    /// All nodes; the builder is empty again.
    fn take(&mut self) -> Vec<Node> {
        self.end_text();
        std::mem::take(&mut self.nodes)
    }

    fn any_string(&mut self) {
        if !self.text.is_empty() || self.nodes.last() != Some(&Node::AnyString) {
            self.push(Node::AnyString);
        }
    }

    /// Appends the character at the start of `text` literally and returns its length.
    fn literal(&mut self, text: &[u8]) -> usize {
        let (code, length) = decode(text, 0, self.options.utf8);
        if self.options.ignore_case && code >= 0x80 {
            self.push(Node::Folded(fold(code)));
        } else {
            self.literal_bytes(text.get(..length).unwrap_or_default());
        }
        length
    }

    fn literal_bytes(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
    }

    /// Appends nodes as if their text had been read here.
    fn join(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            match node {
                Node::Literal(bytes) => self.literal_bytes(&bytes),
                Node::AnyString => self.any_string(),
                node => self.push(node),
            }
        }
    }
}

/// What stands at the start of `rest`, which opens and ends no group, and its length.
fn plain(byte: u8, rest: &[u8], in_group: bool, builder: &mut Builder, known: &mut Known) -> usize {
    match byte {
        b'*' => {
            builder.any_string();
            1
        }
        b'?' => {
            builder.push(Node::AnyCharacter);
            1
        }
        b'\\' if rest.len() > 1 => 1 + builder.literal(rest.get(1..).unwrap_or_default()),
        b'[' => match known.may_close(rest).then(|| bracket(rest, builder.options, known)).flatten() {
            Some((bracket, length)) => {
                builder.push(Node::Bracket(Box::new(bracket)));
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
    if builder.options.ignore_case && !run.is_ascii() {
        let mut at = 0;
        while at < run.len() {
            at += builder.literal(&run[at..]).max(1);
        }
    } else {
        builder.literal_bytes(run);
    }
    run.len()
}

/// Parses a bracket expression at the start of `text`; `None` if it does not end.
fn bracket(text: &[u8], options: Options, known: &mut Known) -> Option<(Bracket, usize)> {
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
        if let Some((class, length)) = named(rest, b':', known) {
            if let Some(class) = Class::named(class) {
                bracket.add_class(class);
            }
            at += length;
            continue;
        }
        let (low, length) = endpoint(rest, options, known)?;
        at += length;
        let is_range = text.get(at) == Some(&b'-') && !matches!(text.get(at + 1), None | Some(b']'));
        if is_range {
            let (high, length) = endpoint(text.get(at + 1..)?, options, known)?;
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
fn endpoint(text: &[u8], options: Options, known: &mut Known) -> Option<(Option<u32>, usize)> {
    for mark in [b'.', b'='] {
        if let Some((name, length)) = named(text, mark, known) {
            return Some((collating_element(name, |t| decode(t, 0, options.utf8)), length));
        }
    }
    let skip = usize::from(text.first() == Some(&b'\\') && text.len() > 1);
    let (code, length) = decode(text, skip, options.utf8);
    (length > 0).then_some((Some(code), skip + length))
}

/// What stands beside the brackets of names.
const MARKS: [u8; 3] = *b":.=";

/// The text between `[:` and `:]` (or `.`, `=`) at the start of `text`, and the length of it all.
fn named<'a>(text: &'a [u8], mark: u8, known: &mut Known) -> Option<(&'a [u8], usize)> {
    if text.first() != Some(&b'[') || text.get(1) != Some(&mark) {
        return None;
    }
    let body = text.get(2..)?;
    let unended = &mut known.unended[MARKS.iter().position(|known| *known == mark)?];
    if *unended {
        return None;
    }
    let Some(end) = body.windows(2).position(|w| w == [mark, b']']) else {
        // Nor is there one behind any later place.
        *unended = true;
        return None;
    };
    Some((body.get(..end)?, end + 4))
}
