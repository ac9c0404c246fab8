//! Interned variable names. Owns the mapping name <-> `NameId`; ids index the slots of `Variables` and never change
//! or disappear within a session. Names the shell itself uses have constant ids, in the order of the table below, and
//! are in every `Names` without being put there.

use crate::Bytes;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The interned id of a variable name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub(crate) u32);

impl NameId {
    /// The slot index of this name.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The name that the identifier `_0` stands for is not an identifier.
const fn spelled(identifier: &'static str) -> &'static str {
    if let [b'_', ..] = identifier.as_bytes() { "_" } else { identifier }
}

macro_rules! well_known {
    ($($ident:ident)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u32)]
        enum Order { $($ident),* }
        $(
            #[doc = concat!("The variable `", stringify!($ident), "`.")]
            pub const $ident: NameId = NameId(Order::$ident as u32);
        )*
        /// Every name with a constant id, in id order.
        const WELL_KNOWN: &[&str] = &[$(spelled(stringify!($ident))),*];
    };
}

well_known! {
    IFS PATH GLOBIGNORE LANG LC_ALL LC_CTYPE POSIXLY_CORRECT OPTIND HOME PWD OLDPWD OPTARG OPTERR REPLY PS0 PS1 PS2 PS3 PS4 LINENO RANDOM SECONDS SRANDOM
    EPOCHSECONDS EPOCHREALTIME BASHPID BASH_SUBSHELL BASH_COMMAND BASH_SOURCE BASH_LINENO FUNCNAME BASH_ARGC BASH_ARGV
    BASH_ARGV0 BASH_REMATCH PIPESTATUS DIRSTACK GROUPS HISTCMD BASH_ALIASES BASH_CMDS SHELLOPTS BASHOPTS UID EUID PPID
    BASH BASH_VERSION BASH_VERSINFO HOSTNAME HOSTTYPE MACHTYPE OSTYPE SHLVL TIMEFORMAT
    MAPFILE COPROC FUNCNEST BASH_ENV ENV CDPATH LC_COLLATE LC_NUMERIC EXECIGNORE COLUMNS LINES
    HISTFILE HISTSIZE HISTCONTROL TMOUT MAIL BASH_EXECUTION_STRING COMP_WORDS COMP_WORDBREAKS PROMPT_DIRTRIM COMP_CWORD COMP_LINE COMP_POINT COMPREPLY
    IGNOREEOF TERM _0 BASH_XTRACEFD BASH_COMPAT CHILD_MAX PROMPT_COMMAND FIGNORE GLOBSORT BASH_MONOSECONDS
}

/// Names with an id below this one are watched: caches that depend on them are checked when one changes.
pub const WATCHED: u32 = OPTIND.0 + 1;

/// The variable `$_` (its slot is named `_`).
pub const UNDERSCORE: NameId = _0;

/// Slots of the table of well-known names; a power of two, and about four for every name.
const SLOTS: usize = 512;

/// The well-known names by hash: one more than the id, or 0 where a slot is free. It is there before anything runs, so
/// that starting a shell fills no table.
const TABLE: [u8; SLOTS] = {
    assert!(WELL_KNOWN.len() < 255);
    let mut table = [0; SLOTS];
    let mut id = 0;
    while id < WELL_KNOWN.len() {
        let mut slot = hash(WELL_KNOWN[id].as_bytes());
        while table[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        id += 1;
        table[slot] = id as u8;
    }
    table
};

/// The first slot to look for `name` in.
const fn hash(name: &[u8]) -> usize {
    let mut hash = name.len();
    let mut at = 0;
    while at < name.len() {
        hash = hash.wrapping_mul(31).wrapping_add(name[at] as usize);
        at += 1;
    }
    hash % SLOTS
}

/// The id of `name` if it is well-known.
#[inline]
fn well_known(name: &[u8]) -> Option<NameId> {
    // None of them begins with a small letter, as most names in scripts do.
    if name.first()?.is_ascii_lowercase() {
        return None;
    }
    let mut slot = hash(name);
    loop {
        let index = usize::from(TABLE[slot]).checked_sub(1)?;
        if WELL_KNOWN[index].as_bytes() == name {
            return Some(NameId(index as u32));
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The table of interned names. The well-known ones are in none of its parts.
#[derive(Default)]
pub struct Names {
    /// Whether anything that was read names BASH_COMMAND, whose text is not kept for nobody.
    pub(crate) asks_command: bool,
    ids: FxHashMap<Rc<[u8]>, NameId>,
    texts: Vec<Rc<[u8]>>,
}

impl Names {
    /// The id of `name`, made if need be.
    pub fn intern(&mut self, name: &[u8]) -> NameId {
        if let Some(id) = self.find(name) {
            self.asks_command |= id == BASH_COMMAND;
            return id;
        }
        let id = NameId(self.len() as u32);
        let text: Rc<[u8]> = Rc::from(name);
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    /// The id of `name` if anyone has used it.
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<NameId> {
        well_known(name).or_else(|| self.ids.get(name).copied())
    }

    /// The text of `id`.
    pub fn text(&self, id: NameId) -> &[u8] {
        match id.index().checked_sub(WELL_KNOWN.len()) {
            Some(index) => &self.texts[index],
            None => WELL_KNOWN[id.index()].as_bytes(),
        }
    }

    /// How many names there are; every id is below this.
    pub fn len(&self) -> usize {
        WELL_KNOWN.len() + self.texts.len()
    }

    /// Never true: the well-known names are always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// Whether `text` is a valid variable name: `[A-Za-z_][A-Za-z0-9_]*`.
pub fn is_name(text: &[u8]) -> bool {
    match text.first() {
        Some(b) if is_name_start(*b) => text.iter().all(|b| is_name_byte(*b)),
        _ => false,
    }
}

/// Whether `byte` can start a name.
pub fn is_name_start(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphabetic()
}

/// Whether `byte` can continue a name.
pub fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// Owned copies of `names`, for tests and listings.
pub fn sorted(mut names: Vec<Bytes>) -> Vec<Bytes> {
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_names_have_their_ids_and_others_come_after() {
        let mut names = Names::default();
        for (index, name) in WELL_KNOWN.iter().enumerate() {
            assert_eq!(names.find(name.as_bytes()), Some(NameId(index as u32)), "{name}");
        }
        assert_eq!((names.find(b"PATH"), names.find(b"_")), (Some(PATH), Some(UNDERSCORE)));
        for name in ["path", "PATHS", "_0", "Q"] {
            assert_eq!(names.find(name.as_bytes()), None);
            let id = names.intern(name.as_bytes());
            assert_eq!((names.find(name.as_bytes()), names.text(id)), (Some(id), name.as_bytes()));
            assert_eq!(id.index() + 1, names.len());
        }
    }
}
