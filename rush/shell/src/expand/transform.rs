//! `${x@Q}` and the other transformations.

use super::Expanded;
use super::parameter::{Target, Values};
use crate::quote;
use crate::state::names::NameId;
use crate::state::value::{Attributes, Value};
use crate::{Bytes, Session};

impl Session {
    pub(super) fn transform(
        &mut self,
        letter: u8,
        target: &Target,
        values: Values,
        quoted: bool,
    ) -> Expanded<Values> {
        let id = match target {
            Target::Variable(id) | Target::Element(id, _) | Target::Whole(id, _) => Some(*id),
            _ => None,
        };
        match letter {
            b'a' => return Ok(self.transform_attributes(id, target, values)),
            b'A' => {
                let text = self.transform_assignment(id, target, values);
                return Ok(match (target, text) {
                    // bash takes the words of the declaration apart.
                    (Target::Whole(_, false), Values::One(text)) => {
                        Values::List(declaration_words(text), false)
                    }
                    (_, text) => text,
                });
            }
            b'K' | b'k' => return Ok(self.transform_pairs(letter, id, target, values, quoted)),
            _ => {}
        }
        let mut out = Vec::new();
        let (items, list) = match values {
            Values::Unset => return Ok(Values::Unset),
            Values::One(text) => (vec![text], None),
            Values::List(items, star) => (items, Some(star)),
        };
        for item in items {
            out.push(self.transform_text(letter, item)?);
        }
        Ok(match list {
            Some(star) => Values::List(out, star),
            None => Values::One(out.pop().unwrap_or_default()),
        })
    }

    fn transform_text(&mut self, letter: u8, text: Bytes) -> Expanded<Bytes> {
        Ok(match letter {
            b'Q' => quote::reusable(&text),
            b'E' => quote::escape::dollar_single(&text),
            b'P' => self.decode_prompt(&text)?,
            b'U' => self.map_case(&text, b'^', true),
            b'u' => self.map_case(&text, b'^', false),
            b'L' => self.map_case(&text, b',', true),
            _ => text,
        })
    }

    pub(crate) fn map_case(&self, text: &[u8], operator: u8, all: bool) -> Bytes {
        let mut out = Bytes::with_capacity(text.len());
        let boundaries =
            if self.utf8 { super::substring::boundaries(text) } else { (0..=text.len()).collect() };
        for (n, window) in boundaries.windows(2).enumerate() {
            let character = &text[window[0]..window[1]];
            if all || n == 0 {
                super::operation::convert(character, operator, &mut out);
            } else {
                out.extend_from_slice(character);
            }
        }
        out
    }

    fn transform_attributes(&mut self, id: Option<NameId>, target: &Target, values: Values) -> Values {
        let Some(id) = id else {
            return match values {
                Values::List(items, star) => Values::List(items.iter().map(|_| Bytes::new()).collect(), star),
                Values::One(_) => Values::One(Bytes::new()),
                Values::Unset => Values::Unset,
            };
        };
        let letters = self.attribute_letters(id);
        match (target, values) {
            (Target::Whole(..), Values::List(items, star)) => {
                Values::List(items.iter().map(|_| letters.clone()).collect(), star)
            }
            (Target::Variable(_), Values::Unset) if !self.variables.slot(id).exists() => Values::Unset,
            (_, Values::Unset) if !matches!(target, Target::Variable(_)) => Values::Unset,
            _ => Values::One(letters),
        }
    }

    /// The attribute letters of a variable in the order `declare -p` shows them.
    pub(crate) fn attribute_letters(&mut self, id: NameId) -> Bytes {
        let value = self.value(id);
        let attributes = self.variables.slot(id).attributes;
        let mut letters = Bytes::new();
        match value {
            Value::Indexed(_) => letters.push(b'a'),
            Value::Associative(_) => letters.push(b'A'),
            _ => {}
        }
        for (attribute, letter) in [
            (Attributes::INTEGER, b'i'),
            (Attributes::NAMEREF, b'n'),
            (Attributes::READONLY, b'r'),
            (Attributes::TRACE, b't'),
            (Attributes::EXPORT, b'x'),
            (Attributes::CAPITALIZE, b'c'),
            (Attributes::LOWERCASE, b'l'),
            (Attributes::UPPERCASE, b'u'),
        ] {
            if attributes.has(attribute) {
                letters.push(letter);
            }
        }
        letters
    }

    fn transform_assignment(&mut self, id: Option<NameId>, target: &Target, values: Values) -> Values {
        let Some(id) = id else {
            let Values::List(items, star) = values else { return values };
            let mut text = b"set --".to_vec();
            for item in &items {
                text.push(b' ');
                text.extend(quote::reusable(item));
            }
            return if items.is_empty() { Values::List(Vec::new(), star) } else { Values::One(text) };
        };
        let letters = self.attribute_letters(id);
        let name = self.variables.names.text(id).to_vec();
        let whole = matches!(target, Target::Whole(..)) && self.value(id).is_array();
        if whole {
            return match self.declaration(id) {
                Some(text) => Values::One(text),
                None => Values::Unset,
            };
        }
        let value = match values {
            Values::One(text) => Some(text),
            Values::List(items, _) => items.into_iter().next(),
            Values::Unset => None,
        };
        if value.is_none() && !self.variables.slot(id).exists() {
            return Values::Unset;
        }
        let mut text = Bytes::new();
        if !letters.is_empty() {
            text.extend_from_slice(b"declare -");
            text.extend(letters);
            text.push(b' ');
        }
        if text.is_empty() && value.is_none() {
            return Values::Unset;
        }
        text.extend(name);
        if let Some(value) = value {
            text.push(b'=');
            text.extend(quote::reusable(&value));
        }
        Values::One(text)
    }

    fn transform_pairs(
        &mut self,
        letter: u8,
        id: Option<NameId>,
        target: &Target,
        values: Values,
        _quoted: bool,
    ) -> Values {
        let (Some(id), Target::Whole(_, star)) = (id, target) else {
            return match values {
                Values::One(text) => Values::One(quote::reusable(&text)),
                Values::List(items, star) => {
                    Values::List(items.iter().map(|i| quote::reusable(i)).collect(), star)
                }
                Values::Unset => Values::Unset,
            };
        };
        let pairs: Vec<(Bytes, Bytes)> = match self.value(id) {
            Value::Indexed(a) => a.iter().map(|(i, v)| (i.to_string().into_bytes(), v.clone())).collect(),
            Value::Associative(a) => a.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
            Value::Unset => Vec::new(),
            value => value.scalar().map(|v| (b"0".to_vec(), v.into_owned())).into_iter().collect(),
        };
        if letter == b'k' {
            return Values::List(pairs.into_iter().flat_map(|(k, v)| [k, v]).collect(), *star);
        }
        let mut text = Bytes::new();
        for (n, (key, value)) in pairs.iter().enumerate() {
            if n > 0 {
                text.push(b' ');
            }
            text.extend(quote::key(key));
            text.push(b' ');
            text.extend(quote::declaration(value));
        }
        if pairs.is_empty() { Values::Unset } else { Values::One(text) }
    }
}

/// `declare`, its options and the assignment.
fn declaration_words(text: Bytes) -> Vec<Bytes> {
    text.splitn(3, |b| *b == b' ').map(<[u8]>::to_vec).collect()
}
