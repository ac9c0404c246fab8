//! A case, and what is observed of it.

use std::fmt;

/// What the environment says of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locale {
    /// No variable at all, as in most containers.
    Unset,
    /// `LC_ALL=C`.
    C,
    /// `LC_ALL=C.UTF-8`.
    Utf8,
    /// `LANG=C.UTF-8` alone.
    LangUtf8,
}

impl Locale {
    pub(crate) fn variable(self) -> Option<(&'static str, &'static str)> {
        match self {
            Locale::Unset => None,
            Locale::C => Some(("LC_ALL", "C")),
            Locale::Utf8 => Some(("LC_ALL", "C.UTF-8")),
            Locale::LangUtf8 => Some(("LANG", "C.UTF-8")),
        }
    }
}

/// What standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
    /// A pipe, filled and closed.
    Pipe,
    /// A file, read from its start.
    File,
    /// A file of which somebody has read this much.
    FileAt(u64),
}

/// A command line with all that decides what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The words; the first is the utility's name.
    pub args: Vec<Vec<u8>>,
    /// What standard input holds.
    pub input: Vec<u8>,
    /// What standard input is.
    pub stdin: Stdin,
    /// The locale.
    pub locale: Locale,
    /// Whether standard output is a device that has no room.
    pub full: bool,
}

/// What a run shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Observed {
    pub(crate) output: Vec<u8>,
    pub(crate) errors: Vec<u8>,
    pub(crate) status: i32,
    /// Where a file on standard input stands.
    pub(crate) offset: Option<u64>,
    pub(crate) tree: Vec<String>,
}

/// Bytes as the shell's `$'...'`.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_./=+,:@%".contains(b);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut out = String::from("$'");
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            b'\'' => out.push_str("\\'"),
            0x20..=0x7e => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out + "'"
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.args.iter().map(|word| quoted(word)).collect();
        let locale =
            self.locale.variable().map_or("no LANG".to_owned(), |(name, value)| format!("{name}={value}"));
        write!(
            f,
            "{}\n  input {} ({:?}), {locale}{}",
            words.join(" "),
            quoted(&self.input),
            self.stdin,
            if self.full { " >/dev/full" } else { "" }
        )
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (output, errors) = (quoted(&self.output), quoted(&self.errors));
        write!(f, "status {} out {output} err {errors}", self.status)?;
        if let Some(offset) = self.offset {
            write!(f, " at {offset}")?;
        }
        Ok(())
    }
}

impl Observed {
    /// What of the trees differs.
    pub(crate) fn tree_difference(&self, other: &Observed) -> String {
        let only = |a: &[String], b: &[String]| {
            a.iter().filter(|line| !b.contains(line)).cloned().collect::<Vec<_>>().join("; ")
        };
        if self.tree == other.tree {
            return String::new();
        }
        format!(
            "\n  tree: ours only [{}], GNU only [{}]",
            only(&self.tree, &other.tree),
            only(&other.tree, &self.tree)
        )
    }
}
