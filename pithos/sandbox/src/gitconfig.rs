//! A person's git configuration without what is secret in it: what sessions see in its place. Sections and keys that are known to be harmless stay, so that commits
//! have an author; whatever else there is, tokens in addresses, headers, credential helpers and files that it includes, is left out.
//!
//! Who mounts the copy is `plan`; what configuration leads to is `repository`'s.

use std::path::Path;

use crate::limits::GIT_CONFIGURATION_BYTES_MAX;

/// Sections without secrets, but for the keys and values below.
const SECTIONS: [&str; 46] = [
    "add",
    "advice",
    "alias",
    "am",
    "apply",
    "blame",
    "branch",
    "checkout",
    "clean",
    "clone",
    "color",
    "column",
    "commit",
    "core",
    "diff",
    "difftool",
    "feature",
    "fetch",
    "filter",
    "format",
    "gc",
    "grep",
    "gui",
    "help",
    "http",
    "i18n",
    "index",
    "init",
    "interactive",
    "log",
    "lfs",
    "maintenance",
    "merge",
    "mergetool",
    "pack",
    "pager",
    "pull",
    "push",
    "rebase",
    "rerere",
    "safe",
    "stash",
    "status",
    "submodule",
    "tag",
    "user",
];
/// Keys, and parts of keys, that hold secrets or name programs and files that do.
const KEYS: [&str; 11] = [
    "askpass",
    "authorization",
    "cookie",
    "extraheader",
    "helper",
    "key",
    "pass",
    "proxy",
    "secret",
    "sshcommand",
    "token",
];
/// Keys that look like those and are none.
const HARMLESS_KEYS: [&str; 2] = ["signingkey", "keepbackup"];
/// How values begin, somewhere inside, that give access by themselves.
const VALUES: [&str; 12] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xox",
    "akia",
    "bearer ",
    "basic ",
    "private key",
];

/// What a file of configuration holds; none when it is no file, or is longer than any that people have.
pub(crate) fn read(file: &Path) -> Option<Vec<u8>> {
    let short = file.metadata().is_ok_and(|data| data.is_file() && data.len() <= GIT_CONFIGURATION_BYTES_MAX);
    if short { std::fs::read(file).ok() } else { None }
}

/// The text without secrets; none when there are none.
pub(crate) fn redacted(text: &str) -> Option<String> {
    let mut kept = String::new();
    let (mut dropped, mut inside) = (false, false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut whole = line.to_owned();
        // A backslash at its end joins the next line to a value.
        while whole.ends_with('\\')
            && let Some(next) = lines.next()
        {
            whole.push('\n');
            whole.push_str(next);
        }
        let trimmed = whole.trim_start();
        let mut good = inside || trimmed.is_empty();
        let mut setting = trimmed;
        if trimmed.starts_with('[') {
            let (header, rest) = trimmed.split_at(end_of_header(trimmed));
            inside = section_is_harmless(header);
            (good, setting) = (inside, rest.trim_start());
        }
        good = good && setting_is_harmless(setting);
        if good {
            kept.push_str(&whole);
            kept.push('\n');
        } else {
            dropped |= !trimmed.starts_with(['#', ';']);
            if inside && trimmed.starts_with('[') {
                kept.push_str(&trimmed[..end_of_header(trimmed)]);
                kept.push('\n');
            }
        }
    }
    dropped.then_some(kept)
}

/// One line of a configuration. Names are in lower case, as git compares them.
#[derive(Debug, PartialEq)]
pub(crate) struct Setting {
    section: String,
    key: String,
    /// Without quotes and comments.
    pub(crate) value: String,
}

impl Setting {
    pub(crate) fn is(&self, section: &str, key: &str) -> bool {
        self.section == section && self.key == key
    }
}

/// What a configuration sets, in order. Lines that git would refuse are left out.
pub(crate) fn settings(text: &str) -> Vec<Setting> {
    let mut all = Vec::new();
    let mut section = String::new();
    for line in joined(text).lines() {
        let mut setting = line.trim();
        if setting.starts_with('[') {
            let (header, rest) = setting.split_at(end_of_header(setting));
            let name = header.trim_start_matches('[').split(['"', ' ', '\t', '.', ']']).next();
            section = name.unwrap_or_default().to_ascii_lowercase();
            setting = rest.trim();
        }
        if setting.is_empty() || setting.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
        all.push(Setting {
            section: section.clone(),
            key: key.trim().to_ascii_lowercase(),
            value: plain(value.trim()),
        });
    }
    all
}

/// The text with each line joined to the next one that a backslash ends which is not itself escaped.
fn joined(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut joined = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letters.clone().next()) {
            ('\\', Some('\n')) => drop(letters.next()),
            ('\\', Some(escaped)) => {
                joined.extend([letter, escaped]);
                letters.next();
            }
            _ => joined.push(letter),
        }
    }
    joined
}

/// A value without quotes, escapes and what is a comment after it.
fn plain(value: &str) -> String {
    let (mut text, mut quoted) = (String::new(), false);
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => quoted = !quoted,
            '\\' => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            '#' | ';' if !quoted => break,
            _ => text.push(letter),
        }
    }
    text.trim_end().to_owned()
}

/// Where what follows a section's header begins: a bracket in the quoted part does not end it.
fn end_of_header(line: &str) -> usize {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b']' if !quoted => return at + 1,
            _ => {}
        }
    }
    line.len()
}

fn section_is_harmless(header: &str) -> bool {
    let name = header.trim_start_matches('[').split(['"', ' ', '\t', '.', ']']).next().unwrap_or_default();
    SECTIONS.contains(&name.to_ascii_lowercase().as_str()) && value_is_harmless(header)
}

fn setting_is_harmless(setting: &str) -> bool {
    if setting.starts_with(['#', ';']) {
        // People keep old tokens in comments.
        return value_is_harmless(setting);
    }
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = key.trim().to_ascii_lowercase();
    let bad = KEYS.iter().any(|part| key.contains(part)) && !HARMLESS_KEYS.contains(&key.as_str());
    !bad && value_is_harmless(value)
}

fn value_is_harmless(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let user_in_address =
        lower.split("://").skip(1).any(|rest| rest.split('/').next().is_some_and(|host| host.contains('@')));
    !user_in_address && !VALUES.iter().any(|start| lower.contains(start))
}

#[cfg(test)]
mod tests {
    use super::{redacted, settings};

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "# a note\n[Core]\n\thooksPath = \"a # b\" ; c\n bare\n[includeIf \"gitdir:x]\"] path=one\\\n two\n[a.b]\nc = \\\"d\\\\\n";
        let found: Vec<_> = settings(text).into_iter().map(|one| (one.section, one.key, one.value)).collect();
        let wanted = [
            ("core", "hookspath", "a # b"),
            ("core", "bare", "true"),
            ("includeif", "path", "one two"),
            ("a", "c", "\"d\\"),
        ];
        let wanted = wanted.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned()));
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_configuration_without_secrets_stays_as_it_is() {
        assert_eq!(redacted("[user]\n\tname = A\n\temail = a@b.c\n[core]\n  editor = vi\n# a note\n"), None);
        assert_eq!(redacted(""), None);
    }

    #[test]
    fn secrets_go_wherever_they_stand_and_the_author_stays() {
        let secrets = [
            "[github]\n\ttoken = S3CRET\n",
            "[credential]\n\thelper = \"!f() { echo password=S3CRET; }; f\"\n",
            "[credential \"https://example.org\"]\n\tusername = S3CRET\n",
            "[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic S3CRET\n",
            "[http]\n\textraHeader = \\\n  Authorization: S3CRET\n",
            "[http] proxy = http://u:S3CRET@proxy:80\n",
            "[url \"https://u:S3CRET@github.com/\"]\n\tinsteadOf = https://github.com/\n",
            "[http \"https://u:S3CRET@a]b/\"]\n\tsslVerify = false\n",
            "[core]\n\tsshCommand = ssh -i S3CRET\n\taskPass=S3CRET\n",
            "[sendemail]\n\tsmtpPass = S3CRET\n",
            "[alias]\n\tup = push https://u:S3CRET@host/x\n\tgo = \"!curl -H 'X: ghp_S3CRET'\"\n",
            "[include]\n\tpath = S3CRET\n[includeIf \"gitdir:~/S3CRET\"]\n\tpath = x\n",
            "[core]\n\teditor = vi\n\t# old: https://u:S3CRET@host\n\ttoken = S3CRET\n",
            "[a.b]\n S3CRET = 1\n",
        ];
        for secret in secrets {
            let text = format!("[user]\n\tname = Ann\n{secret}[init]\n\tdefaultBranch = main\n");
            let kept = redacted(&text).unwrap_or_else(|| panic!("{secret}"));
            assert!(!kept.contains("S3CRET"), "{secret}: {kept}");
            assert!(kept.contains("name = Ann") && kept.contains("defaultBranch = main"), "{secret}: {kept}");
        }
    }
}
