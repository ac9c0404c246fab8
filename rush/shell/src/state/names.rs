//! Interned variable names. Owns the mapping name <-> `NameId`; ids index the slots of `Variables` and never change
//! or disappear within a session. Names the shell itself uses have constant ids, in the order of the table below.

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
        pub const WELL_KNOWN: &[&str] = &[$(stringify!($ident)),*];
    };
}

well_known! {
    IFS PATH GLOBIGNORE LANG LC_ALL LC_CTYPE POSIXLY_CORRECT OPTIND HOME PWD OLDPWD OPTARG OPTERR REPLY PS0 PS1 PS2 PS3 PS4 LINENO RANDOM SECONDS SRANDOM
    EPOCHSECONDS EPOCHREALTIME BASHPID BASH_SUBSHELL BASH_COMMAND BASH_SOURCE BASH_LINENO FUNCNAME BASH_ARGC BASH_ARGV
    BASH_ARGV0 BASH_REMATCH PIPESTATUS DIRSTACK GROUPS HISTCMD BASH_ALIASES BASH_CMDS SHELLOPTS BASHOPTS UID EUID PPID
    BASH BASH_VERSION BASH_VERSINFO HOSTNAME HOSTTYPE MACHTYPE OSTYPE SHLVL TIMEFORMAT
    MAPFILE COPROC FUNCNEST BASH_ENV ENV CDPATH LC_COLLATE LC_NUMERIC EXECIGNORE COLUMNS LINES
    HISTFILE HISTSIZE HISTCONTROL TMOUT MAIL BASH_EXECUTION_STRING COMP_WORDS COMP_CWORD COMP_LINE COMP_POINT COMPREPLY
    IGNOREEOF TERM _0 BASH_XTRACEFD BASH_COMPAT CHILD_MAX PROMPT_COMMAND FIGNORE
}

/// Names with an id below this one are watched: caches that depend on them are checked when one changes.
pub const WATCHED: u32 = OPTIND.0 + 1;

/// The variable `$_` (its slot is named `_`).
pub const UNDERSCORE: NameId = _0;

/// The table of interned names.
pub struct Names {
    ids: FxHashMap<Rc<[u8]>, NameId>,
    texts: Vec<Rc<[u8]>>,
}

impl Names {
    /// A table holding the well-known names.
    pub fn new() -> Names {
        let mut names = Names { ids: FxHashMap::default(), texts: Vec::with_capacity(160) };
        for text in WELL_KNOWN {
            let text = if *text == "_0" { "_" } else { text };
            names.intern(text.as_bytes());
        }
        names
    }

    /// The id of `name`, made if need be.
    pub fn intern(&mut self, name: &[u8]) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = NameId(self.texts.len() as u32);
        let text: Rc<[u8]> = Rc::from(name);
        self.texts.push(text.clone());
        self.ids.insert(text, id);
        id
    }

    /// The id of `name` if anyone has used it.
    pub fn find(&self, name: &[u8]) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    /// The text of `id`.
    pub fn text(&self, id: NameId) -> &[u8] {
        &self.texts[id.index()]
    }

    /// The text of `id`, shared.
    pub fn shared_text(&self, id: NameId) -> Rc<[u8]> {
        self.texts[id.index()].clone()
    }

    /// How many names there are; every id is below this.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Never true: the well-known names are always there.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}

impl Default for Names {
    fn default() -> Self {
        Names::new()
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
