//! The order of the functions in the static commands: those that run, by valgrind's account, come first, and of these the ones
//! that more of the counted programs run. The kernel maps code in parts of 64 KiB around each page that is touched, so functions
//! that lie apart cost time at the start and memory ever after.

mod cynic;
mod library;
mod rush;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::release::run as checked;
use crate::workspace::Workspace;

/// In how many of the counted programs each function runs, by its mangled name.
type Counts = BTreeMap<String, usize>;

/// A crate's hash has 64 bits, which are eleven digits of base 62, seldom a few less.
const HASH_DIGITS_MIN: usize = 8;

/// `cargo xtask start-order cynic|rush [BUILD]`: builds, or takes the static build it is given; runs, writes the list.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let (command, given) = match arguments {
        [command] => (command.as_str(), None),
        [command, build] => (command.as_str(), Some(PathBuf::from(build))),
        _ => ("", None),
    };
    let (list, text) = match command {
        "cynic" => (cynic::LIST, cynic::list(workspace, given)?),
        "rush" => (rush::LIST, rush::list(workspace, given)?),
        _ => return Err("usage: cargo xtask start-order cynic|rush [BUILD]".to_string()),
    };
    let path = workspace.root.join(list);
    std::fs::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{list}: {} lines", text.lines().count());
    Ok(())
}

/// Where accounts are put meanwhile.
fn folder(workspace: &Workspace) -> Result<PathBuf, String> {
    let folder = workspace.target().join("start-order");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Adds to `counts` what a run of the program calls. `command` is what runs valgrind, with the environment that the program needs.
fn count(
    counts: &mut Counts,
    mut command: Command,
    program: &Path,
    words: &[&str],
    account: &Path,
) -> Result<(), String> {
    command.args(["--quiet", "--tool=callgrind", "--demangle=no"]);
    command.arg(format!("--callgrind-out-file={}", account.display())).arg(program).args(words);
    checked(command.stdin(Stdio::null()).stdout(Stdio::null()), "valgrind")?;
    let text = std::fs::read_to_string(account).map_err(|error| format!("{}: {error}", account.display()))?;
    for name in names(&text) {
        *counts.entry(name).or_default() += 1;
    }
    Ok(())
}

/// The names in an account: each stands behind its number where it is first mentioned; a recursion adds `'2`.
fn names(account: &str) -> HashSet<String> {
    let lines = account.lines().filter_map(|line| line.strip_prefix("fn=").or(line.strip_prefix("cfn=")));
    let named = lines.filter_map(|line| line.split_once(") "));
    named.map(|(_, name)| name.split('\'').next().unwrap_or(name).to_string()).collect()
}

/// The functions and what else is called by their addresses: a function that several share has the section of one name. What
/// chooses between variants of a function for this processor runs at every start, before valgrind can see it.
fn with_aliases(program: &Path, counts: &Counts) -> Result<Counts, String> {
    let output = Command::new("nm").arg(program).output().map_err(|error| format!("nm: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let symbols = || text.lines().filter_map(|line| line.split_once(' ')).map(|(at, rest)| (at, &rest[2..]));
    let always = counts.values().copied().max().unwrap_or_default();
    let choosers = text.lines().filter_map(|line| line.split_once(" i "));
    let mut by_address: BTreeMap<&str, usize> = choosers.map(|(at, _)| (at, always)).collect();
    for (at, name) in symbols() {
        if let Some(&runs) = counts.get(name) {
            let most = by_address.entry(at).or_default();
            *most = (*most).max(runs);
        }
    }
    let aliases = symbols().filter_map(|(at, name)| Some((name.to_string(), *by_address.get(at)?)));
    Ok(aliases.collect())
}

/// The list as the linker reads it: whole members of the C library, then functions.
fn script(members: &BTreeSet<String>, functions: &Counts) -> String {
    let mut runs_of: BTreeMap<String, usize> = BTreeMap::new();
    // What is not a name is an address or a remark.
    for (name, &runs) in
        functions.iter().filter(|(name, _)| name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
    {
        let most = runs_of.entry(pattern(name)).or_default();
        *most = (*most).max(runs);
    }
    let mut patterns: Vec<_> = runs_of.into_iter().collect();
    patterns.sort_by_key(|&(_, runs)| Reverse(runs));
    let mut text = String::from(
        "/* The functions that run, together. Written by `cargo xtask start-order`. */\n\
         SECTIONS\n{\n  .text.start :\n  {\n    *crt*.o(.text .text.*)\n",
    );
    for member in members {
        let _ = writeln!(text, "    *lib*.a:{member}(.text .text.*)");
    }
    for (pattern, _) in patterns {
        // What is marked as cold has a section of another kind, and is run all the same.
        let _ = writeln!(text, "    *(.text.{pattern} .text.unlikely.{pattern})");
    }
    text.push_str("  }\n}\nINSERT BEFORE .text;\n");
    text
}

/// A name as a pattern: without the hash, which differs from build to build, and without what linkers' patterns cannot hold.
fn pattern(name: &str) -> String {
    let name = name.split(".llvm.").next().unwrap_or(name);
    let hash = name.len().checked_sub("17h0123456789abcdefE".len());
    let stem = match hash {
        Some(at) if name.starts_with("_ZN") && name[at..].starts_with("17h") => format!("{}*", &name[..at]),
        _ => name.to_string(),
    };
    without_disambiguators(&stem.replace('$', "?"))
}

/// A name of the newer mangling (`_R...`) names each crate with a hash of the compiler that built it (`Cs<digits>_3std`): one
/// list shall do for several compilers.
fn without_disambiguators(name: &str) -> String {
    if !name.starts_with("_R") {
        return name.to_string();
    }
    let mut parts = name.split("Cs");
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let is_hash = digits >= HASH_DIGITS_MIN && part.as_bytes().get(digits) == Some(&b'_');
        text.push_str(if is_hash { "Cs*" } else { "Cs" });
        text.push_str(if is_hash { &part[digits..] } else { part });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_becomes_patterns() {
        let account = "fl=(1) a.rs\nfn=(1) _ZN4rush3run17h0123456789abcdefE\n12 3\ncfn=(2) main\ncalls=1 2\nfn=(3) _ZN1a1b$u20$c17hfedcba9876543210E'2\nfn=(1)\n";
        let functions: Counts = names(account).into_iter().map(|name| (name, 1)).collect();
        let text = script(&BTreeSet::new(), &functions);
        for name in ["_ZN4rush3run*", "main", "_ZN1a1b?u20?c*"] {
            assert!(text.contains(&format!("    *(.text.{name} .text.unlikely.{name})\n")), "{text}");
        }
        assert_eq!(functions.len(), 3);
    }

    #[test]
    fn what_more_programs_run_comes_first() {
        let functions = [
            ("a", 1),
            ("b", 3),
            ("c", 2),
            ("_ZN1d17h0123456789abcdefE", 1),
            ("_ZN1d17hfedcba9876543210E", 3),
        ];
        let functions: Counts = functions.map(|(name, runs)| (name.to_string(), runs)).into();
        let text = script(&BTreeSet::from(["malloc.o".to_string()]), &functions);
        let inputs = text.lines().filter_map(|line| line.trim().strip_prefix('*')?.split([' ', ')']).next());
        let expected =
            ["crt*.o(.text", "lib*.a:malloc.o(.text", "(.text._ZN1d*", "(.text.b", "(.text.c", "(.text.a"];
        let order: Vec<_> = inputs.collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn the_hashes_of_crates_are_left_open() {
        let name = "_RNvMNtNtCsaz6eC2DG7lh_3std3sys6socketNtB2_6Socket3new";
        assert_eq!(pattern(name), "_RNvMNtNtCs*_3std3sys6socketNtB2_6Socket3new");
        assert_eq!(pattern("_ZN4rush8CsDigits_3std17h0123456789abcdefE"), "_ZN4rush8CsDigits_3std*");
        assert_eq!(pattern("_RNvCs_4main"), "_RNvCs_4main");
    }
}
