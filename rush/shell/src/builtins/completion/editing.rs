//! What line editing asks besides completion: what a command is, in a few words; the line with its words expanded; the file that a
//! misspelt name may have meant.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::compgen::split_words;
use crate::builtins::is_keyword;
use crate::exec::suggest::distance;
use crate::expand::fields::Separators;
use crate::{Bytes, Session, quote};

/// How much of an alias is shown.
const ALIAS_SHOWN_MAX: usize = 40;

impl Session {
    /// What kind of command `name` is; nothing for a program.
    pub fn describe_command(&self, name: &[u8]) -> String {
        if let Some(text) = self.aliases.get(name) {
            let text: String = String::from_utf8_lossy(text).chars().take(ALIAS_SHOWN_MAX).collect();
            return format!("alias for {text}");
        }
        if self.functions.contains_key(name) {
            "function".into()
        } else if self.builtin(name).is_some() {
            "builtin".into()
        } else if is_keyword(name) {
            "keyword".into()
        } else {
            String::new()
        }
    }

    /// The line with each of its words expanded, quoted where it must be; `None` where a word cannot be.
    pub fn expand_line(&mut self, line: &[u8]) -> Option<Bytes> {
        let mut out: Vec<Bytes> = Vec::new();
        for piece in split_words(line, &Separators::new(None, false)) {
            let word = self.parse_word(&piece, crate::syntax::Mode::Whole).ok()?;
            let mut fields = Vec::new();
            self.expand_word(&word, &mut fields).ok()?;
            // What was only quoted stays as it was typed.
            let same = matches!(&fields[..], [only] if *only == super::word::dequoted(&piece, None));
            if same {
                out.push(piece);
            } else {
                out.extend(fields.iter().map(|field| quote::backslash_quote(field)));
            }
        }
        Some(out.join(&b' '))
    }

    /// The name of a file near to one that is not there.
    pub fn nearest_path(&self, path: &[u8]) -> Option<Bytes> {
        let slash = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path.split_at(slash);
        let place = if folder.is_empty() { &b"."[..] } else { folder };
        let entries = std::fs::read_dir(Path::new(std::ffi::OsStr::from_bytes(place))).ok()?;
        let names = entries.flatten().map(|entry| entry.file_name().into_vec());
        let near = names.filter(|known| known.len().abs_diff(name.len()) <= 2);
        let (away, nearest) = near.map(|known| (distance(name, &known), known)).min()?;
        (away <= 2.min(name.len() / 2)).then(|| [folder, &nearest].concat())
    }
}
