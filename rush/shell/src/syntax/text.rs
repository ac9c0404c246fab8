//! Text in the tree. Most of it is a few bytes long and lies in the node itself, so that parsing a word rarely
//! allocates. Invariant: a text never changes once made.

use std::fmt;
use std::ops::Deref;

/// Bytes that fit into a node: what is left of two machine words beside the tag and the length.
const INLINE_MAX: usize = 14;

/// An immutable byte string.
#[derive(Clone)]
pub struct Text(Kind);

#[derive(Clone)]
enum Kind {
    Inline {
        length: u8,
        bytes: [u8; INLINE_MAX],
    },
    /// Boxed twice, so that long texts, which are rare, make no other larger.
    Heap(Box<Box<[u8]>>),
}

impl Text {
    /// No bytes.
    pub const EMPTY: Text = Text(Kind::Inline { length: 0, bytes: [0; INLINE_MAX] });

    /// A copy of `source`.
    #[inline]
    pub fn new(source: &[u8]) -> Text {
        if source.len() > INLINE_MAX {
            return Text(Kind::Heap(Box::new(source.into())));
        }
        let mut bytes = [0; INLINE_MAX];
        copy_short(&mut bytes, source);
        Text(Kind::Inline { length: source.len() as u8, bytes })
    }

    /// A copy of the first `length` bytes of `source`.
    ///
    /// OPTIMIZATION: where there are enough, all bytes that fit are copied, which takes no decisions; what is after the
    /// length is never looked at.
    #[inline]
    pub fn prefix(source: &[u8], length: usize) -> Text {
        match source.first_chunk::<INLINE_MAX>() {
            Some(bytes) if length <= INLINE_MAX => Text(Kind::Inline { length: length as u8, bytes: *bytes }),
            _ => Text::new(&source[..length]),
        }
    }
}

/// OPTIMIZATION: as `copy_from_slice`, but by two moves of a fixed size that overlap; a call for a few bytes costs more
/// than the bytes.
#[inline]
fn copy_short(target: &mut [u8; INLINE_MAX], source: &[u8]) {
    fn halves<const N: usize>(target: &mut [u8; INLINE_MAX], source: &[u8]) {
        if let (Some(first), Some(last)) = (source.first_chunk::<N>(), source.last_chunk::<N>()) {
            target[..N].copy_from_slice(first);
            target[source.len() - N..source.len()].copy_from_slice(last);
        }
    }
    match source.len() {
        8.. => halves::<8>(target, source),
        4..8 => halves::<4>(target, source),
        2..4 => halves::<2>(target, source),
        1 => target[0] = source[0],
        0 => {}
    }
}

impl Deref for Text {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Kind::Inline { length, bytes } => &bytes[..usize::from(*length)],
            Kind::Heap(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for Text {
    fn from(source: Vec<u8>) -> Text {
        if source.len() > INLINE_MAX { Text(Kind::Heap(Box::new(source.into()))) } else { Text::new(&source) }
    }
}

impl From<&[u8]> for Text {
    fn from(source: &[u8]) -> Text {
        Text::new(source)
    }
}

impl Default for Text {
    fn default() -> Text {
        Text::EMPTY
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialEq<[u8]> for Text {
    fn eq(&self, other: &[u8]) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(self), formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_texts_keep_their_bytes() {
        for length in (0..=INLINE_MAX + 1).chain([300]) {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            assert_eq!(*Text::new(&bytes), *bytes);
            assert_eq!(*Text::from(bytes.clone()), *bytes);
            assert_eq!(*Text::prefix(&[&bytes[..], b"more than fits into a node"].concat(), length), *bytes);
            assert_eq!(*Text::prefix(&bytes, length), *bytes);
        }
    }

    #[test]
    fn a_text_is_two_words() {
        assert_eq!(size_of::<Text>(), 2 * size_of::<usize>());
    }
}
