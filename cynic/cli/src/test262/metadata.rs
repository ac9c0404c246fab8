//! The front matter of a test262 file: the `/*--- ... ---*/` comment.
//!
//! Owns the parser for the YAML subset that the suite uses (scalars, block scalars, flow and block lists, and the one
//! nested mapping `negative:`). Unknown keys are skipped with their values. A file without front matter is not an error:
//! it has the empty metadata. What the fields *mean* is decided by `plan` and `judge`.

use std::fmt;

/// What a test says about itself, reduced to what a runner acts upon.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Metadata {
    /// The expected failure, if the test must fail.
    pub(crate) negative: Option<Negative>,
    /// Harness files to load before the test, in order.
    pub(crate) includes: Vec<String>,
    /// Names of the language features the test relies on.
    pub(crate) features: Vec<String>,
    /// Modes: `module`, `raw`, `async`, `noStrict` and others that do not concern us.
    pub(crate) flags: Flags,
}

/// An expected failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Negative {
    /// When the failure must come.
    pub(crate) phase: Phase,
    /// The name of the constructor of the error.
    pub(crate) error_type: String,
}

/// When something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before anything was evaluated: a syntax or early error of the test's own source.
    Parse,
    /// While modules were loaded and linked.
    Resolution,
    /// During evaluation.
    Runtime,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Parse => "parse",
            Phase::Resolution => "resolution",
            Phase::Runtime => "runtime",
        })
    }
}

/// The flags of a test that change how it is run.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags {
    /// The source is a module.
    pub(crate) module: bool,
    /// The source is run as it is: no harness.
    pub(crate) raw: bool,
    /// Completion is reported through `print`.
    pub(crate) asynchronous: bool,
    /// The test is only meaningful in sloppy mode.
    pub(crate) no_strict: bool,
    /// The main agent must be able to block.
    pub(crate) can_block: Option<bool>,
}

/// Front matter that cannot be understood; the test counts as failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MetadataError(String);

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "front matter: {}", self.0)
    }
}

/// Parses the front matter of a whole test file.
pub(crate) fn parse(source: &str) -> Result<Metadata, MetadataError> {
    let Some(block) = front_matter(source)? else { return Ok(Metadata::default()) };
    let normalised = block.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<&str> = normalised.split('\n').collect();
    let mut metadata = Metadata::default();
    let mut at = 0;
    while at < lines.len() {
        let entry = Entry::read(&lines, &mut at);
        if let Some(entry) = entry {
            metadata.apply(&entry)?;
        }
    }
    Ok(metadata)
}

fn front_matter(source: &str) -> Result<Option<&str>, MetadataError> {
    let Some(start) = source.find("/*---") else { return Ok(None) };
    let body = &source[start + "/*---".len()..];
    match body.find("---*/") {
        Some(end) => Ok(Some(&body[..end])),
        None => Err(MetadataError("no closing ---*/".into())),
    }
}

/// One top-level key with the text on its line and the indented lines that follow it.
struct Entry<'a> {
    key: &'a str,
    inline: &'a str,
    nested: Vec<&'a str>,
}

impl<'a> Entry<'a> {
    /// Reads the entry at `lines[*at]` and moves past it; `None` for blank and comment lines.
    fn read(lines: &[&'a str], at: &mut usize) -> Option<Self> {
        let line = lines[*at];
        *at += 1;
        let indent = indentation(line);
        let (key, inline) = line.trim().split_once(':')?;
        if key.starts_with('#') {
            return None;
        }
        let mut nested = Vec::new();
        while let Some(next) = lines.get(*at) {
            let is_item = next.trim_start().starts_with("- ") && inline.trim().is_empty();
            let belongs = next.trim().is_empty() || indentation(next) > indent || is_item;
            if !belongs {
                break;
            }
            nested.push(*next);
            *at += 1;
        }
        Some(Entry { key: key.trim(), inline: without_comment(inline), nested })
    }

    /// The value as a list: `[a, b]`, possibly over several lines, `- a` items, or one bare scalar.
    fn list(&self) -> Vec<String> {
        if self.inline.starts_with('[') {
            let mut joined = self.inline.to_owned();
            for line in &self.nested {
                joined.push(' ');
                joined.push_str(without_comment(line));
            }
            let inner = joined.trim_start_matches('[');
            let inner = inner.split(']').next().unwrap_or_default();
            return inner.split(',').map(unquote).filter(|item| !item.is_empty()).collect();
        }
        if !self.inline.is_empty() {
            return vec![unquote(self.inline)];
        }
        let items = self.nested.iter().filter_map(|line| without_comment(line).strip_prefix('-'));
        items.map(unquote).filter(|item| !item.is_empty()).collect()
    }

    /// The value as a mapping of scalars: indented `key: value` lines or `{key: value, ...}`.
    fn mapping(&self) -> Vec<(String, String)> {
        let flow = self.inline.trim_start_matches('{').trim_end_matches('}');
        let pairs = flow.split(',').chain(self.nested.iter().copied());
        pairs
            .filter_map(|pair| without_comment(pair).split_once(':'))
            .map(|(key, value)| (unquote(key), unquote(value)))
            .collect()
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn without_comment(text: &str) -> &str {
    let end = text.find(" #").unwrap_or(text.len());
    text[..end].trim()
}

fn unquote(text: &str) -> String {
    text.trim().trim_matches(|c| c == '"' || c == '\'').to_owned()
}

impl Metadata {
    fn apply(&mut self, entry: &Entry<'_>) -> Result<(), MetadataError> {
        match entry.key {
            "includes" => self.includes = entry.list(),
            "features" => self.features = entry.list(),
            "flags" => {
                for flag in entry.list() {
                    self.flags.set(&flag);
                }
            }
            "negative" => self.negative = Some(Negative::from_pairs(&entry.mapping())?),
            _ => {}
        }
        Ok(())
    }
}

impl Flags {
    fn set(&mut self, flag: &str) {
        match flag {
            "module" => self.module = true,
            "raw" => self.raw = true,
            "async" => self.asynchronous = true,
            "noStrict" => self.no_strict = true,
            "CanBlockIsTrue" => self.can_block = Some(true),
            "CanBlockIsFalse" => self.can_block = Some(false),
            // `onlyStrict` is how everything runs; `generated`, `non-deterministic` and locale flags say nothing to us.
            _ => {}
        }
    }
}

impl Negative {
    fn from_pairs(pairs: &[(String, String)]) -> Result<Self, MetadataError> {
        let find = |key: &str| pairs.iter().find(|pair| pair.0 == key).map(|pair| pair.1.as_str());
        let phase = match find("phase") {
            Some("parse" | "early") => Phase::Parse,
            Some("resolution") => Phase::Resolution,
            Some("runtime") => Phase::Runtime,
            other => return Err(MetadataError(format!("negative phase {other:?}"))),
        };
        match find("type") {
            Some(name) => Ok(Negative { phase, error_type: name.to_owned() }),
            None => Err(MetadataError("negative without a type".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(front: &str) -> Metadata {
        parse(&format!("// Copyright\n/*---\n{front}\n---*/\nthrow 1;")).expect("front matter parses")
    }

    #[test]
    fn a_file_without_front_matter_has_no_demands() {
        assert_eq!(parse("var x = '---';"), Ok(Metadata::default()));
    }

    #[test]
    fn unclosed_front_matter_is_an_error() {
        assert!(parse("/*---\nflags: [raw]\n").is_err());
    }

    #[test]
    fn flow_lists_may_span_lines_and_carry_comments() {
        let found = metadata("features: [a,\n  b-c, # why\n  d]\nincludes: [one.js, two.js]");
        assert_eq!(found.features, ["a", "b-c", "d"]);
        assert_eq!(found.includes, ["one.js", "two.js"]);
    }

    #[test]
    fn block_lists_may_be_indented_or_not() {
        assert_eq!(metadata("includes:\n  - a.js\n  - b.js").includes, ["a.js", "b.js"]);
        assert_eq!(metadata("includes:\n- a.js\nflags: [raw]").includes, ["a.js"]);
    }

    #[test]
    fn block_scalars_are_not_taken_for_keys() {
        let found = metadata(
            "info: |\n  flags: [raw]\n\n  negative:\ndescription: >\n    includes: [x]\nflags: [async]",
        );
        assert_eq!(
            found,
            Metadata { flags: Flags { asynchronous: true, ..Flags::default() }, ..found.clone() }
        );
        assert!(found.includes.is_empty() && found.negative.is_none() && !found.flags.raw);
    }

    #[test]
    fn negative_names_phase_and_type() {
        let found = metadata("negative:\n  phase: resolution\n  type: SyntaxError\nflags: [module]");
        let expected = Negative { phase: Phase::Resolution, error_type: "SyntaxError".into() };
        assert_eq!(found.negative, Some(expected));
        assert!(found.flags.module);
    }

    #[test]
    fn an_unknown_phase_is_an_error() {
        assert!(parse("/*---\nnegative:\n  phase: lunch\n  type: E\n---*/").is_err());
    }

    #[test]
    fn carriage_returns_end_lines() {
        let found = parse("/*---\rflags: [noStrict]\rincludes: [a.js]\r\n---*/").expect("parses");
        assert!(found.flags.no_strict);
        assert_eq!(found.includes, ["a.js"]);
    }

    #[test]
    fn can_block_flags() {
        assert_eq!(metadata("flags: [CanBlockIsFalse]").flags.can_block, Some(false));
        assert_eq!(metadata("flags: [CanBlockIsTrue]").flags.can_block, Some(true));
    }
}
