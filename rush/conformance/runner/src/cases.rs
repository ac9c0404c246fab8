//! Parsing `*.test.sh`: cases begin with `####`, annotations with `##`. An annotation may be qualified by a verdict
//! (`OK`, `BUG`, `N-I`) and the shells it holds for; `STDOUT:` and `STDERR:` are followed by lines up to `## END`.

use std::collections::BTreeMap;

/// What a run must match; absent parts are not looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expectation {
    pub(crate) stdout: Option<Vec<u8>>,
    pub(crate) stderr: Option<Vec<u8>>,
    pub(crate) status: Option<i32>,
}

/// A case.
#[derive(Debug, Clone, Default)]
pub(crate) struct Case {
    pub(crate) description: String,
    pub(crate) code: Vec<u8>,
    /// The unqualified expectation, then that for bash if there is one.
    pub(crate) accepted: Vec<Expectation>,
}

/// Annotations, by name.
type Values = BTreeMap<String, Vec<u8>>;

#[derive(Default)]
struct Builder {
    description: String,
    code: Option<Vec<u8>>,
    plain: Values,
    shells: BTreeMap<String, Values>,
}

enum Line<'a> {
    Begin(String),
    Key { shells: Option<String>, name: String, value: Vec<u8> },
    End,
    Comment,
    Plain(&'a [u8]),
}

fn classify(line: &[u8]) -> Line<'_> {
    if line.starts_with(b"####") {
        return Line::Begin(String::from_utf8_lossy(&line[4..]).trim().to_string());
    }
    if line.starts_with(b"##") {
        if let Some(key) = annotation(line) {
            return key;
        }
        if line[2..].trim_ascii_start().starts_with(b"END") {
            return Line::End;
        }
    }
    if line.trim_ascii_start().starts_with(b"#") { Line::Comment } else { Line::Plain(line) }
}

/// `## [VERDICT shells] name: value`
fn annotation(line: &[u8]) -> Option<Line<'_>> {
    let text = line[2..].strip_suffix(b"\n").unwrap_or(&line[2..]).trim_ascii_start();
    let first = text.split(|b| *b == b' ').next()?;
    let verdict = [&b"OK"[..], b"BUG", b"N-I"]
        .iter()
        .any(|v| first == *v || first.starts_with(&[v, &b"-"[..]].concat()));
    let (shells, rest) = if verdict {
        let rest = text[first.len()..].trim_ascii_start();
        let shells = rest.split(|b| *b == b' ').next()?;
        (Some(String::from_utf8_lossy(shells).into_owned()), rest[shells.len()..].trim_ascii_start())
    } else {
        (None, text)
    };
    let colon = rest.iter().position(|b| *b == b':')?;
    let name = &rest[..colon];
    let valid =
        !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if !valid {
        return None;
    }
    let mut value = rest[colon + 1..].trim_ascii_start().to_vec();
    let name = String::from_utf8_lossy(name).into_owned();
    if matches!(name.as_str(), "stdout" | "stderr") {
        value.push(b'\n');
    }
    Some(Line::Key { shells, name, value })
}

/// The cases of a file.
pub(crate) fn parse(text: &[u8]) -> Vec<Case> {
    let lines: Vec<&[u8]> = text.split_inclusive(|b| *b == b'\n').collect();
    let mut cases = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Line::Begin(description) = classify(lines[at]) else {
            at += 1;
            continue;
        };
        let mut builder = Builder { description, ..Builder::default() };
        at = builder.read(&lines, at + 1);
        cases.push(builder.finish());
    }
    cases
}

impl Builder {
    /// Reads the annotations, the code and the annotations after it; the index of the next case.
    fn read(&mut self, lines: &[&[u8]], mut at: usize) -> usize {
        at = self.annotations(lines, at);
        if !self.plain.contains_key("code") {
            let mut code = Vec::new();
            let mut skipping = true;
            while at < lines.len() {
                // Blank lines and comments count only once the code has begun.
                let blank = lines[at].trim_ascii().is_empty();
                match classify(lines[at]) {
                    Line::Plain(text) if !(skipping && blank) => {
                        skipping = false;
                        code.extend_from_slice(text);
                    }
                    Line::Plain(_) | Line::Comment => {}
                    _ => break,
                }
                at += 1;
            }
            self.code = Some(code);
            at = self.annotations(lines, at);
        }
        while at < lines.len() && !matches!(classify(lines[at]), Line::Begin(_)) {
            at += 1;
        }
        at
    }

    fn annotations(&mut self, lines: &[&[u8]], mut at: usize) -> usize {
        while at < lines.len() {
            match classify(lines[at]) {
                Line::Key { shells, name, value } => {
                    at += 1;
                    if matches!(name.as_str(), "STDOUT" | "STDERR") {
                        let mut text = Vec::new();
                        while let Some(line) = lines.get(at) {
                            match classify(line) {
                                Line::Plain(line) => text.extend_from_slice(line),
                                Line::Comment => {}
                                _ => break,
                            }
                            at += 1;
                        }
                        self.add(shells.as_deref(), name.to_lowercase(), text);
                        if lines.get(at).is_some_and(|l| matches!(classify(l), Line::End)) {
                            at += 1;
                        }
                    } else {
                        self.add(shells.as_deref(), name, value);
                    }
                }
                Line::Comment | Line::End => at += 1,
                Line::Plain(text) if text.trim_ascii().is_empty() => at += 1,
                _ => return at,
            }
        }
        at
    }

    fn add(&mut self, shells: Option<&str>, name: String, value: Vec<u8>) {
        match shells {
            None => {
                self.plain.insert(name, value);
            }
            Some(shells) => {
                for shell in shells.split('/') {
                    self.shells.entry(shell.to_string()).or_default().insert(name.clone(), value.clone());
                }
            }
        }
    }

    fn finish(self) -> Case {
        let mut ideal = expectation(&self.plain);
        ideal.status.get_or_insert(0);
        let mut accepted = vec![ideal.clone()];
        let bash = self.shells.get("bash").or_else(|| {
            self.shells.iter().find(|(name, _)| name.starts_with("bash-")).map(|(_, values)| values)
        });
        if let Some(values) = bash {
            let special = expectation(values);
            accepted.push(Expectation {
                stdout: special.stdout.or(ideal.stdout),
                stderr: special.stderr.or(ideal.stderr),
                status: special.status.or(ideal.status),
            });
        }
        let code = self.code.or_else(|| self.plain.get("code").cloned()).unwrap_or_default();
        Case { description: self.description, code, accepted }
    }
}

fn expectation(values: &Values) -> Expectation {
    let text = |name: &str| {
        values.get(name).cloned().or_else(|| values.get(&format!("{name}-json")).map(|v| json_string(v)))
    };
    // The wording of errors belongs to each shell; only what looks portable is compared.
    let portable = |text: &Vec<u8>| {
        let text = String::from_utf8_lossy(text);
        let foreign = text.contains("osh") || text.contains("[ stdin ]") || text.contains("fatal:");
        let numbered = text
            .match_indices("line ")
            .any(|(i, _)| text.as_bytes().get(i + 5).is_some_and(u8::is_ascii_digit));
        !foreign && !text.contains("bash:") && !numbered
    };
    Expectation {
        stdout: text("stdout"),
        stderr: text("stderr").filter(portable),
        status: values.get("status").and_then(|v| String::from_utf8_lossy(v).trim().parse().ok()),
    }
}

/// Decodes a JSON string.
fn json_string(text: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(text).into_owned();
    let inner = text.trim().trim_start_matches('"');
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                out.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out.into_bytes()
}
