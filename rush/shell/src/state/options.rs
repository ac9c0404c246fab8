//! The options of `set -o` and `shopt`: their names, letters and defaults, and the set a session has.

/// Declares an option enum, its name table and its default set.
macro_rules! option_table {
    ($(#[$doc:meta])* $enum:ident { $($variant:ident $name:literal $default:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $enum {
            $(#[doc = concat!("The option `", $name, "`.")] $variant),*
        }
        impl $enum {
            /// Every option, in the order bash lists them.
            pub const ALL: &[$enum] = &[$($enum::$variant),*];

            /// The option's long name.
            pub fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),* }
            }

            /// The option called `name`.
            pub fn from_name(name: &[u8]) -> Option<$enum> {
                // bash 5.3's name for what it also does for indexed arrays.
                let name = if name == b"array_expand_once" { b"assoc_expand_once" } else { name };
                $enum::ALL.iter().copied().find(|o| o.name().as_bytes() == name)
            }

            /// Bit set of the defaults of a non-interactive shell.
            pub const DEFAULTS: u64 = 0 $(| (($default as u64) << ($enum::$variant as u8)))*;
        }
    };
}

option_table! {
    /// An option of `set -o`.
    SetOption {
        Allexport "allexport" 0,
        Braceexpand "braceexpand" 1,
        Emacs "emacs" 0,
        Errexit "errexit" 0,
        Errtrace "errtrace" 0,
        Functrace "functrace" 0,
        Hashall "hashall" 1,
        Histexpand "histexpand" 0,
        History "history" 0,
        Ignoreeof "ignoreeof" 0,
        InteractiveComments "interactive-comments" 1,
        Keyword "keyword" 0,
        Monitor "monitor" 0,
        Noclobber "noclobber" 0,
        Noexec "noexec" 0,
        Noglob "noglob" 0,
        Nolog "nolog" 0,
        Notify "notify" 0,
        Nounset "nounset" 0,
        Onecmd "onecmd" 0,
        Physical "physical" 0,
        Pipefail "pipefail" 0,
        Posix "posix" 0,
        Privileged "privileged" 0,
        Undo "undo" 0,
        Utilities "utilities" 1,
        Verbose "verbose" 0,
        Vi "vi" 0,
        Xtrace "xtrace" 0,
    }
}

impl SetOption {
    /// Whether bash has no such option: it is not part of `SHELLOPTS`.
    pub fn is_own(self) -> bool {
        matches!(self, SetOption::Undo | SetOption::Utilities)
    }

    /// The option of the letter in `set -LETTER`.
    pub fn from_letter(letter: u8) -> Option<SetOption> {
        SetOption::ALL.iter().copied().find(|o| o.letter() == Some(letter))
    }

    /// The letter of the option in `set -LETTER` and `$-`.
    pub fn letter(self) -> Option<u8> {
        Some(match self {
            SetOption::Allexport => b'a',
            SetOption::Notify => b'b',
            SetOption::Errexit => b'e',
            SetOption::Noglob => b'f',
            SetOption::Hashall => b'h',
            SetOption::Keyword => b'k',
            SetOption::Monitor => b'm',
            SetOption::Noexec => b'n',
            SetOption::Privileged => b'p',
            SetOption::Onecmd => b't',
            SetOption::Nounset => b'u',
            SetOption::Verbose => b'v',
            SetOption::Xtrace => b'x',
            SetOption::Braceexpand => b'B',
            SetOption::Noclobber => b'C',
            SetOption::Errtrace => b'E',
            SetOption::Histexpand => b'H',
            SetOption::Physical => b'P',
            SetOption::Functrace => b'T',
            _ => return None,
        })
    }
}

option_table! {
    /// An option of `shopt`.
    Shopt {
        Autocd "autocd" 0,
        AssocExpandOnce "assoc_expand_once" 0,
        CdableVars "cdable_vars" 0,
        Cdspell "cdspell" 0,
        Checkhash "checkhash" 0,
        Checkjobs "checkjobs" 0,
        Checkwinsize "checkwinsize" 1,
        Cmdhist "cmdhist" 1,
        Compat31 "compat31" 0,
        Compat32 "compat32" 0,
        Compat40 "compat40" 0,
        Compat41 "compat41" 0,
        Compat42 "compat42" 0,
        Compat43 "compat43" 0,
        Compat44 "compat44" 0,
        CompleteFullquote "complete_fullquote" 1,
        Direxpand "direxpand" 0,
        Dirspell "dirspell" 0,
        Dotglob "dotglob" 0,
        Execfail "execfail" 0,
        ExpandAliases "expand_aliases" 0,
        Extdebug "extdebug" 0,
        Extglob "extglob" 0,
        Extquote "extquote" 1,
        Failglob "failglob" 0,
        ForceFignore "force_fignore" 1,
        Globasciiranges "globasciiranges" 1,
        Globskipdots "globskipdots" 1,
        Globstar "globstar" 0,
        GnuErrfmt "gnu_errfmt" 0,
        Histappend "histappend" 0,
        Histreedit "histreedit" 0,
        Histverify "histverify" 0,
        Hostcomplete "hostcomplete" 1,
        Huponexit "huponexit" 0,
        InheritErrexit "inherit_errexit" 0,
        InteractiveComments "interactive_comments" 1,
        Lastpipe "lastpipe" 0,
        Lithist "lithist" 0,
        LocalvarInherit "localvar_inherit" 0,
        LocalvarUnset "localvar_unset" 0,
        LoginShell "login_shell" 0,
        Mailwarn "mailwarn" 0,
        NoEmptyCmdCompletion "no_empty_cmd_completion" 0,
        Nocaseglob "nocaseglob" 0,
        Nocasematch "nocasematch" 0,
        NoexpandTranslation "noexpand_translation" 0,
        Nullglob "nullglob" 0,
        PatsubReplacement "patsub_replacement" 1,
        Progcomp "progcomp" 1,
        ProgcompAlias "progcomp_alias" 0,
        Promptvars "promptvars" 1,
        RestrictedShell "restricted_shell" 0,
        ShiftVerbose "shift_verbose" 0,
        Sourcepath "sourcepath" 1,
        VarredirClose "varredir_close" 0,
        XpgEcho "xpg_echo" 0,
    }
}

/// The options of a session; two words, copied with every snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    set: u64,
    shopt: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { set: SetOption::DEFAULTS, shopt: Shopt::DEFAULTS }
    }
}

impl Options {
    /// Whether a `set -o` option is on.
    pub fn is(&self, option: SetOption) -> bool {
        self.set >> option as u8 & 1 != 0
    }

    /// Takes the `set -o` options of `other`, and leaves those of `shopt`.
    pub fn put_set_options(&mut self, other: Options) {
        self.set = other.set;
    }

    /// Turns a `set -o` option on or off.
    pub fn put(&mut self, option: SetOption, on: bool) {
        self.set = self.set & !(1 << option as u8) | u64::from(on) << option as u8;
    }

    /// Whether a `shopt` option is on.
    pub fn shopt(&self, option: Shopt) -> bool {
        self.shopt >> option as u8 & 1 != 0
    }

    /// Turns a `shopt` option on or off.
    pub fn put_shopt(&mut self, option: Shopt, on: bool) {
        self.shopt = self.shopt & !(1 << option as u8) | u64::from(on) << option as u8;
    }
}
