//! Git's configuration: the files' syntax, and which settings change what the reads print.
//!
//! Invariant: a setting that is not known to be harmless makes the command decline.

use super::{Attempt, Decline};

/// One `section.subsection.key = value`. Sections and keys are in lower case.
struct Setting {
    section: Vec<u8>,
    subsection: Vec<u8>,
    key: Vec<u8>,
    /// `None` for a key without an equals sign, which means true.
    value: Option<Vec<u8>>,
}

/// All settings, in the order in which they were read; later ones win.
#[derive(Default)]
pub(crate) struct Config {
    settings: Vec<Setting>,
}

impl Config {
    /// Adds the settings of a file's text.
    pub(crate) fn read(&mut self, text: &[u8]) -> Attempt<()> {
        let first = self.settings.len();
        Parser { text: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text), at: 0 }
            .file(&mut self.settings)?;
        let added = self.settings.get(first..).unwrap_or_default();
        if added.iter().all(is_understood) { Ok(()) } else { Err(Decline) }
    }

    /// The last value of a setting.
    pub(crate) fn value(&self, section: &str, subsection: &[u8], key: &str) -> Option<&[u8]> {
        self.settings
            .iter()
            .rev()
            .find(|s| s.is(section, key) && s.subsection == subsection)
            .map(|s| s.value.as_deref().unwrap_or(b"true"))
    }

    /// Whether anything is set in a section.
    pub(crate) fn has_section(&self, section: &str, subsection: &[u8]) -> bool {
        self.settings.iter().any(|s| s.section == section.as_bytes() && s.subsection == subsection)
    }

    /// Every value of a setting, in order.
    pub(crate) fn values<'a>(
        &'a self,
        section: &'a str,
        subsection: &'a [u8],
        key: &'a str,
    ) -> impl Iterator<Item = &'a [u8]> {
        let these = self.settings.iter().filter(move |s| s.is(section, key) && s.subsection == subsection);
        these.map(|s| s.value.as_deref().unwrap_or(b"true"))
    }

    /// A truth value, or `default` where it is not set.
    pub(crate) fn truth(&self, section: &str, key: &str, default: bool) -> Attempt<bool> {
        match self.value(section, b"", key) {
            None => Ok(default),
            Some(value) => truth(value).ok_or(Decline),
        }
    }
}

impl Setting {
    fn is(&self, section: &str, key: &str) -> bool {
        self.section == section.as_bytes() && self.key == key.as_bytes()
    }

    fn truth(&self) -> Option<bool> {
        self.value.as_deref().map_or(Some(true), truth)
    }
}

/// What git takes for true and false.
fn truth(value: &[u8]) -> Option<bool> {
    match value.to_ascii_lowercase().as_slice() {
        b"true" | b"yes" | b"on" | b"1" => Some(true),
        b"" | b"false" | b"no" | b"off" | b"0" => Some(false),
        _ => None,
    }
}

/// Sections of which no setting reaches the output of a read.
const HARMLESS_SECTIONS: &[&str] = &[
    "add",
    "alias",
    "am",
    "apply",
    "author",
    "blame",
    "browser",
    "checkout",
    "clean",
    "clone",
    "commit",
    "committer",
    "credential",
    "difftool",
    "fastimport",
    "feature",
    "fetch",
    "filter",
    "fsck",
    "gc",
    "gpg",
    "grep",
    "gui",
    "help",
    "http",
    "imap",
    "init",
    "instaweb",
    "interactive",
    "lfs",
    "maintenance",
    "man",
    "merge",
    "mergetool",
    "pack",
    "pager",
    "protocol",
    "pull",
    "push",
    "rebase",
    "receive",
    "remote",
    "repack",
    "rerere",
    "safe",
    "sendemail",
    "sequence",
    "ssh",
    "stash",
    "submodule",
    "tag",
    "transfer",
    "uploadarchive",
    "uploadpack",
    "url",
    "user",
    "web",
];

/// Settings of `core` that change nothing that is read here, or that are evaluated.
const HARMLESS_CORE: &[&str] = &[
    "askpass",
    "bigfilethreshold",
    "checkstat",
    "commentchar",
    "commitgraph",
    "compression",
    "deltabasecachelimit",
    "editor",
    "excludesfile",
    "filemode",
    "filesreflocktimeout",
    "fsync",
    "fsyncmethod",
    "fsyncobjectfiles",
    "gitproxy",
    "hookspath",
    "logallrefupdates",
    "loosecompression",
    "multipackindex",
    "packedgitlimit",
    "packedgitwindowsize",
    "packedrefstimeout",
    "pager",
    "preloadindex",
    "quotepath",
    "safecrlf",
    "sharedrepository",
    "sshcommand",
    "trustctime",
    "untrackedcache",
    "warnambiguousrefs",
    "whitespace",
];

/// Hints in the output of `status` that can be turned off.
const ADVICE_OF_STATUS: &[&str] =
    &["statushints", "statusuoption", "statusaheadbehind", "statusaheadbehindwarning"];

fn is_understood(setting: &Setting) -> bool {
    let named = |names: &[&str]| names.iter().any(|n| n.as_bytes() == setting.key);
    match setting.section.as_slice() {
        b"core" => named(HARMLESS_CORE) || is_default_of_core(setting),
        b"advice" => !named(ADVICE_OF_STATUS),
        // `branch.NAME.remote` and the like are evaluated or harmless; `branch.sort` is not.
        b"branch" => !setting.subsection.is_empty() || named(&["autosetupmerge", "autosetuprebase"]),
        b"color" => {
            matches!(setting.value.as_deref(), None | Some(b"auto" | b"true" | b"false" | b"never" | b""))
                || !setting.subsection.is_empty()
        }
        b"diff" => {
            named(&["tool", "guitool", "colormoved", "colormovedws"]) || !setting.subsection.is_empty()
        }
        b"index" => {
            named(&["version", "threads", "skiphash", "recordendofindexentries", "recordoffsettable"])
        }
        b"status" => named(&["showuntrackedfiles"]),
        section => HARMLESS_SECTIONS.iter().any(|s| s.as_bytes() == section),
    }
}

/// Settings of `core` that are only understood at their default.
fn is_default_of_core(setting: &Setting) -> bool {
    match setting.key.as_slice() {
        b"repositoryformatversion" => setting.value.as_deref() == Some(b"0"),
        b"bare"
        | b"ignorecase"
        | b"precomposeunicode"
        | b"autocrlf"
        | b"fsmonitor"
        | b"sparsecheckout"
        | b"sparsecheckoutcone"
        | b"ignorestat" => setting.truth() == Some(false),
        b"symlinks" => setting.truth() == Some(true),
        b"eol" => matches!(setting.value.as_deref(), Some(b"lf" | b"native")),
        _ => false,
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        match self.text.get(self.at) {
            Some(b'\r') if self.text.get(self.at + 1) == Some(&b'\n') => Some(b'\n'),
            other => other.copied(),
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        if byte == Some(b'\n') && self.text.get(self.at) == Some(&b'\r') {
            self.at += 1;
        }
        self.at += usize::from(byte.is_some());
        byte
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    fn file(&mut self, settings: &mut Vec<Setting>) -> Attempt<()> {
        let (mut section, mut subsection) = (Vec::new(), Vec::new());
        while let Some(byte) = self.next() {
            match byte {
                b'#' | b';' => while !matches!(self.next(), None | Some(b'\n')) {},
                b'[' => (section, subsection) = self.header()?,
                byte if byte.is_ascii_whitespace() => {}
                byte if byte.is_ascii_alphabetic() && !section.is_empty() => {
                    let (key, value) = self.setting(byte)?;
                    settings.push(Setting {
                        section: section.clone(),
                        subsection: subsection.clone(),
                        key,
                        value,
                    });
                }
                _ => return Err(Decline),
            }
        }
        Ok(())
    }

    /// What stands between the brackets of `[section "subsection"]`.
    fn header(&mut self) -> Attempt<(Vec<u8>, Vec<u8>)> {
        let mut section = Vec::new();
        loop {
            match self.next().ok_or(Decline)? {
                b']' => return Ok((section, Vec::new())),
                b' ' | b'\t' => break,
                byte if byte.is_ascii_alphanumeric() || byte == b'-' => {
                    section.push(byte.to_ascii_lowercase())
                }
                // Includes the old form `[section.subsection]`.
                _ => return Err(Decline),
            }
        }
        self.skip_blanks();
        if self.next() != Some(b'"') {
            return Err(Decline);
        }
        let mut subsection = Vec::new();
        loop {
            match self.next().ok_or(Decline)? {
                b'"' => break,
                b'\n' => return Err(Decline),
                b'\\' => subsection.push(self.next().ok_or(Decline)?),
                byte => subsection.push(byte),
            }
        }
        if self.next() == Some(b']') { Ok((section, subsection)) } else { Err(Decline) }
    }

    fn setting(&mut self, first: u8) -> Attempt<(Vec<u8>, Option<Vec<u8>>)> {
        let mut key = vec![first.to_ascii_lowercase()];
        while let Some(byte) = self.peek().filter(|b| b.is_ascii_alphanumeric() || *b == b'-') {
            key.push(byte.to_ascii_lowercase());
            self.at += 1;
        }
        self.skip_blanks();
        match self.next() {
            None | Some(b'\n') => Ok((key, None)),
            Some(b'=') => Ok((key, Some(self.value()?))),
            Some(_) => Err(Decline),
        }
    }

    fn value(&mut self) -> Attempt<Vec<u8>> {
        self.skip_blanks();
        let mut value = Vec::new();
        // The length without trailing blanks that no quotes protect.
        let mut kept = 0;
        let mut quoted = false;
        loop {
            match self.next() {
                None | Some(b'\n') if quoted => return Err(Decline),
                None | Some(b'\n') => break,
                Some(b'#' | b';') if !quoted => {
                    while !matches!(self.next(), None | Some(b'\n')) {}
                    break;
                }
                Some(b'"') => {
                    quoted = !quoted;
                    kept = value.len();
                }
                Some(b'\\') => {
                    match self.next().ok_or(Decline)? {
                        b'\n' => continue,
                        b't' => value.push(b'\t'),
                        b'n' => value.push(b'\n'),
                        b'b' => value.push(8),
                        byte @ (b'"' | b'\\') => value.push(byte),
                        _ => return Err(Decline),
                    }
                    kept = value.len();
                }
                Some(byte) => {
                    value.push(byte);
                    if quoted || !byte.is_ascii_whitespace() {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<Config> {
        let mut config = Config::default();
        config.read(text.as_bytes()).ok()?;
        Some(config)
    }

    #[test]
    fn values_are_unquoted_and_continued() {
        let text =
            "[core]\n\tfilemode = true ; why\n[remote \"a \\\"b\"]\nURL = \" x \" y\\\n z # c\n\tpush\n";
        let config = parsed(text).unwrap();
        assert_eq!(config.value("core", b"", "filemode"), Some(&b"true"[..]));
        assert_eq!(config.value("remote", b"a \"b", "url"), Some(&b" x  y z"[..]));
        assert_eq!(config.value("remote", b"a \"b", "push"), Some(&b"true"[..]));
    }

    #[test]
    fn what_could_matter_declines() {
        for text in [
            "[include]\npath=x\n",
            "[core]\nautocrlf=input\n",
            "[core]\nworktree=x\n",
            "[extensions]\nobjectformat=sha256\n",
            "[core]\nrepositoryformatversion=1\n",
            "[status]\nshowstash\n",
            "[nonsense]\na=b\n",
            "[core\n",
            "[core]\neditor = \"open\n",
        ] {
            assert!(parsed(text).is_none(), "{text}");
        }
    }
}
