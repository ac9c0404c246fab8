//! What the documents name must be there: paths of the tree, flags of commands, and names of functions, types, tests and variables.
//! A name counts as there when a source file has it; what belongs to other programs and stands in no file of ours is declared in `tidy.toml`.

use std::collections::BTreeSet;
use std::path::Path;

use super::Tree;

/// Pages about what was once, or that a program makes.
const APART: [&str; 6] = [
    "CHANGELOG.md",
    "docs/measurements",
    "bench/log",
    "docs/benchmarks.md",
    "docs/dependencies.md",
    "docs/unsafe.md",
];
/// Where names are looked for.
const SOURCES: [&str; 17] = [
    "rs", "py", "pyi", "js", "mjs", "ts", "toml", "sh", "c", "h", "yml", "txt", "html", "json", "erl", "ld",
    "awk",
];

/// The check over all pages that say what is.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let known = Known::read(tree);
    let mut problems = Vec::new();
    for (file, text) in tree.texts(&["md"]) {
        if APART.iter().any(|apart| file.starts_with(apart)) {
            continue;
        }
        for (line, span) in spans(&text) {
            if let Some(problem) = known.problem(&span) {
                problems.push(format!("{}:{line}: `{span}`: {problem}", file.display()));
            }
        }
    }
    problems.extend(architecture(tree));
    Ok(problems)
}

struct Known {
    words: BTreeSet<String>,
    flags: BTreeSet<String>,
    /// Files and their folders.
    paths: BTreeSet<String>,
    foreign: BTreeSet<String>,
}

impl Known {
    fn read(tree: &Tree<'_>) -> Self {
        let mut known = Self {
            words: BTreeSet::new(),
            flags: BTreeSet::new(),
            paths: BTreeSet::new(),
            foreign: BTreeSet::new(),
        };
        for file in &tree.files {
            for path in file.ancestors() {
                known.paths.insert(path.to_string_lossy().into_owned());
            }
            known.add(&file.to_string_lossy());
        }
        let plain = ["Makefile", ".ci/run"]
            .into_iter()
            .filter_map(|name| std::fs::read_to_string(tree.workspace.root.join(name)).ok());
        for text in tree.texts(&SOURCES).map(|(_, text)| text).chain(plain) {
            known.add(&text);
        }
        let foreign = tree.rule("documents", "foreign").and_then(toml::Value::as_array);
        known
            .foreign
            .extend(foreign.into_iter().flatten().filter_map(toml::Value::as_str).map(str::to_string));
        known
    }

    fn add(&mut self, text: &str) {
        for word in text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'))) {
            if let Some(flag) = word.strip_prefix("--") {
                self.flags.insert(flag.to_string());
            } else if word.contains('-') {
                // A table of flags has them without the hyphens in front.
                self.flags.insert(word.to_string());
            }
            for name in word.split('-').filter(|name| !name.is_empty()) {
                if !self.words.contains(name) {
                    self.words.insert(name.to_string());
                }
            }
        }
    }

    /// What is wrong with a span of code.
    fn problem(&self, span: &str) -> Option<String> {
        if self.foreign.contains(span) {
            return None;
        }
        for word in span
            .split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | ',' | '"' | '\'' | '(' | '|' | ')'))
        {
            let word = word.trim_end_matches(['.', ';', ':', '…']);
            if self.foreign.contains(word) {
                continue;
            }
            if let Some(problem) = self.path(word).or_else(|| self.flag(word)).or_else(|| self.name(word)) {
                return Some(problem);
            }
        }
        None
    }

    /// A path that begins in a folder of the tree's top; `*` stands for anything.
    fn path(&self, word: &str) -> Option<String> {
        let (first, rest) = word.split_once('/')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-/*".contains(c);
        if !self.paths.contains(first) || first.is_empty() || rest.is_empty() || !word.chars().all(plain) {
            return None;
        }
        let wanted = word.trim_end_matches('/');
        let there = match wanted.split_once('*') {
            None => self.paths.contains(wanted),
            Some((start, _)) => {
                self.paths.range(start.to_string()..).next().is_some_and(|path| path.starts_with(start))
            }
        };
        (!there).then(|| "no such file or folder".to_string())
    }

    fn flag(&self, word: &str) -> Option<String> {
        let name = word.strip_prefix("--")?.split('=').next()?;
        let form = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty()
            || !name.chars().all(form)
            || self.flags.contains(name)
            || self.words.contains(name)
        {
            return None;
        }
        Some(format!("no source names the flag --{name}"))
    }

    /// `Type::name`, `snake_case`, `UPPER_CASE`, each perhaps called.
    fn name(&self, word: &str) -> Option<String> {
        let parts: Vec<&str> = word.split("::").flat_map(|part| part.split('.')).collect();
        let form = |part: &&str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let telling = word.contains("::") || word.contains('_');
        if !telling || !parts.iter().all(form) {
            return None;
        }
        let missing = parts.into_iter().find(|part| !self.words.contains(*part))?;
        Some(format!("no source has the name '{missing}'"))
    }
}

/// The code in a page's text, with its lines, and the lines that are typed in its terminals.
fn spans(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language) };
        } else if let Some(language) = fence {
            let typed = language.starts_with("sh") || line.starts_with("$ ");
            let flags = line.split_whitespace().filter(|word| typed && word.starts_with("--"));
            found.extend(flags.map(|word| (index + 1, word.to_string())));
        } else {
            found.extend(line.split('`').skip(1).step_by(2).map(|span| (index + 1, span.to_string())));
        }
    }
    found
}

/// The code map: each room, and what a reader begins with in it.
fn architecture(tree: &Tree<'_>) -> Vec<String> {
    let text = std::fs::read_to_string(tree.workspace.root.join("ARCHITECTURE.md")).unwrap_or_default();
    let mut problems = Vec::new();
    for (line, row) in text.lines().enumerate().filter(|(_, row)| row.starts_with("| `")) {
        let spans: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let Some((room, rest)) = spans.split_first() else { continue };
        let last = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap_or("");
        for name in rest.iter().filter(|name| last.contains(&format!("`{name}`"))) {
            let there = [Path::new(room).join(name), name.into()];
            if !there.iter().any(|path| tree.workspace.root.join(path).exists()) {
                problems.push(format!("ARCHITECTURE.md:{}: {room} has no {name}", line + 1));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_string()).collect::<BTreeSet<String>>();
        let mut known = Known {
            words: BTreeSet::new(),
            flags: BTreeSet::new(),
            paths: set(&["docs", "docs/a.md", "rush", "rush/cli", "rush/cli/src"]),
            foreign: set(&["--parents", "other_name"]),
        };
        known.add("fn set_fuel() {} name: \"heap-limit\" --json RUSH_PERF struct Realm");
        known
    }

    #[test]
    fn what_is_there_is_no_problem() {
        let known = known();
        let there = [
            "docs/a.md",
            "rush/cli/",
            "rush/c*",
            "--json",
            "--heap-limit=8M",
            "Realm::set_fuel",
            "set_fuel()",
            "RUSH_PERF",
            "mkdir --parents x",
            "other_name",
            "a/b.c",
            "/etc/passwd",
            "x_{n}",
            "two words",
            "plain",
            "--",
            "docs/$NAME",
        ];
        for span in there {
            assert_eq!(known.problem(span), None, "{span}");
        }
    }

    #[test]
    fn what_is_not_is_named() {
        let known = known();
        let gone = [
            "docs/b.md",
            "rush/x*",
            "see --bogus=1",
            "Realm::gone",
            "Gone::set_fuel",
            "set_deadline()",
            "RUSH_GONE",
        ];
        for span in gone {
            assert!(known.problem(span).is_some(), "{span}");
        }
    }

    #[test]
    fn code_in_text_and_what_is_typed() {
        let text = "a `b` c `d e`\n```console\n$ x --y\n--z\n```\n```sh\nmake --q # `no`\n```\n";
        let found: Vec<String> =
            spans(text).into_iter().map(|(line, span)| format!("{line}{span}")).collect();
        assert_eq!(found, ["1b", "1d e", "3--y", "7--q"]);
    }
}
