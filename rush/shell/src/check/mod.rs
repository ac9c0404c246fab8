//! What this shell would do otherwise than bash with a script, found by reading it: nothing runs. Owns the findings and the reading of a whole
//! script; `walk` goes over its tree and `rules` knows the constructs. `docs/differences-bash.md` says more of each.
//!
//! What a script makes of text while it runs (`eval`, names in variables) cannot be seen here.

mod rules;
mod walk;

use crate::Session;
use crate::state::options::Shopt;
use crate::syntax::{Input, Next};

/// What a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Both shells run it, and not alike.
    Differs,
    /// It is not there.
    Missing,
    /// It is there, and bash 5.2 has nothing of the kind.
    Newer,
    /// The parser does not take it.
    Refused,
}

impl Kind {
    /// The word that it is shown as.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Differs => "differs",
            Kind::Missing => "missing",
            Kind::Newer => "newer",
            Kind::Refused => "refused",
        }
    }
}

/// A construct that is treated otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its line.
    pub line: u32,
    /// What it is.
    pub kind: Kind,
    /// What will be otherwise.
    pub message: String,
}

/// What there is to say of a script, by lines.
pub fn script(session: &mut Session, text: &[u8]) -> Vec<Finding> {
    // The option changes what is read after it; where it is turned on cannot be known without running.
    let extended = text.windows(b"extglob".len()).any(|part| part == b"extglob");
    if extended {
        session.options.put_shopt(Shopt::Extglob, true);
    }
    let mut findings = Vec::new();
    let mut input = Input::from_bytes(text, 1);
    loop {
        match session.parse_next(&mut input) {
            Ok(Next::End) => break,
            Ok(Next::List(list)) => walk::list(session, &list, &mut findings),
            Err(error) => {
                let message = String::from_utf8_lossy(&error.message).into_owned();
                findings.push(Finding { line: error.line, kind: Kind::Refused, message });
                break;
            }
        }
    }
    if walk::defines(text, "help") {
        findings.retain(|finding| !finding.message.starts_with("`help`"));
    }
    findings.sort_by_key(|finding| finding.line);
    findings.dedup();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line, kind and the beginning of the message of every finding.
    fn found(text: &str) -> String {
        let mut session = Session::new(b"rush".to_vec());
        let findings = script(&mut session, text.as_bytes());
        let shown = findings.iter().map(|finding| format!("{} {}", finding.line, finding.kind.name()));
        shown.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn what_both_shells_do_alike_is_not_told() {
        for script in [
            "for i in 1 2; do echo \"$i\" | cat; done\nf() { local x=1; ((x++)); }\nf >/dev/null 2>&1\n",
            "shopt -s extglob\ncase $1 in +(a|b)) ;; esac\ntrap 'echo x' EXIT INT\n",
            "kill $$\nulimit -n 100\nlocal x\nIFS=, read -r a b <<<\"1,2\"\nLC_ALL=C sort f\n",
            "[[ $x =~ ^(a+)b ]] && echo \"${BASH_REMATCH[1]}\"\necho \"${x:+\"a b\"}\" ${y:-{z}\n",
            "help() { echo; }\nhelp x\n",
            "enable -n test\ndeclare -p x\nhash -r\n",
        ] {
            assert_eq!(found(script), "", "{script}");
        }
    }

    #[test]
    fn every_rule_has_its_construct() {
        for (script, expected) in [
            ("enable -f ./x.so x", "1 missing"),
            ("if :; then\n trap : CHLD\nfi", "2 differs"),
            ("(\nkill -9 $$\n)", "2 differs"),
            ("x=$(kill $$)", "1 differs"),
            ("a | { kill \"$$\"; }", "1 differs"),
            ("shopt -s failglob", "1 differs"),
            ("f() { local; }", "1 differs"),
            ("declare -A", "1 differs"),
            ("help cd", "1 differs"),
            ("IFS=ä", "1 differs"),
            ("LC_ALL=de_DE.ISO-8859-1 sort", "1 differs"),
            ("export LC_COLLATE=en_US.UTF-8", "1 differs"),
            ("[[ $x =~ (a)\\1 ]]", "1 differs"),
            ("BASH_COMPAT=4.2", "1 differs"),
            ("TEXTDOMAIN=x", "1 differs"),
            ("echo ${ date; }", "1 newer"),
            ("echo ${| REPLY=1; }", "1 newer"),
            ("source -p . x", "1 newer"),
            ("GLOBSORT=-name", "1 newer"),
            ("echo $BASH_MONOSECONDS", "1 newer"),
            ("read -E x", "1 newer"),
            ("compgen -V a -W 'b c'", "1 newer"),
            ("echo a\nif x; then", "3 refused"),
            ("echo `if`", "2 refused"),
        ] {
            assert_eq!(found(script), expected, "{script}");
        }
    }
}
