//! The order of the functions in the static `rush`: those that a start runs, by valgrind's account, come first.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::release::{self, run as checked};
use crate::workspace::Workspace;

/// Where the list is.
const LIST: &str = "rush/cli/start.ld";
/// What of the C library a start runs and has no section that is called as the function.
const MEMBERS: [&str; 7] =
    ["__libc_start_main", "__init_tls", "__set_thread_area", "memcpy", "memmove", "memset", "memcmp"];
/// A crate's hash has 64 bits, which are eleven digits of base 62, seldom a few less.
const HASH_DIGITS_MIN: usize = 8;
/// What is run: a start, and a start that ends at the daemon.
const RUNS: [&[&str]; 2] = [&["-c", ":"], &["--connect", "-c", ":"]];

/// `cargo xtask start-order [RUSH]`: builds, or takes the static build it is given; runs, writes the list.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), String> {
    let rush = match arguments {
        [] => release::build_static_rush(workspace)?.ok_or("there is no static build to order")?,
        [given] => PathBuf::from(given),
        _ => return Err("usage: cargo xtask start-order [RUSH]".to_string()),
    };
    let folder = workspace.target().join("start-order");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut functions = BTreeSet::new();
    checked(rushed(&rush, &folder).args(["daemon", "start"]), "the daemon")?;
    let counted = RUNS.iter().try_for_each(|words| {
        functions.extend(functions_of(&rush, words, &folder)?);
        Ok::<(), String>(())
    });
    checked(rushed(&rush, &folder).args(["daemon", "stop"]), "the daemon")?;
    counted?;
    let functions = with_aliases(&rush, &functions)?;
    let list = workspace.root.join(LIST);
    std::fs::write(&list, script(&functions)).map_err(|error| format!("{}: {error}", list.display()))?;
    println!("{LIST}: {} functions", functions.len());
    Ok(())
}

fn rushed(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("RUSH_DAEMON_DIR", folder.join("daemon")).stdin(Stdio::null());
    command
}

/// The mangled names of what runs.
fn functions_of(rush: &Path, words: &[&str], folder: &Path) -> Result<HashSet<String>, String> {
    let account = folder.join("account");
    let mut command = rushed(Path::new("valgrind"), folder);
    command.args(["--quiet", "--tool=callgrind", "--demangle=no"]);
    command.arg(format!("--callgrind-out-file={}", account.display())).arg(rush).args(words);
    checked(&mut command, "valgrind")?;
    let text =
        std::fs::read_to_string(&account).map_err(|error| format!("{}: {error}", account.display()))?;
    Ok(names(&text))
}

/// The names in an account: each stands behind its number where it is first mentioned; a recursion adds `'2`.
fn names(account: &str) -> HashSet<String> {
    let lines = account.lines().filter_map(|line| line.strip_prefix("fn=").or(line.strip_prefix("cfn=")));
    let named = lines.filter_map(|line| line.split_once(") "));
    named.map(|(_, name)| name.split('\'').next().unwrap_or(name).to_string()).collect()
}

/// The functions and what else is called by their addresses: a function that several share has the section of one name.
fn with_aliases(rush: &Path, functions: &BTreeSet<String>) -> Result<BTreeSet<String>, String> {
    let output = Command::new("nm").arg(rush).output().map_err(|error| format!("nm: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let symbols = || text.lines().filter_map(|line| line.split_once(' ')).map(|(at, rest)| (at, &rest[2..]));
    let called: HashSet<&str> =
        symbols().filter(|(_, name)| functions.contains(*name)).map(|(at, _)| at).collect();
    Ok(symbols().filter(|(at, _)| called.contains(at)).map(|(_, name)| name.to_string()).collect())
}

/// The list as the linker reads it.
fn script(functions: &BTreeSet<String>) -> String {
    let mut patterns: BTreeSet<String> = BTreeSet::new();
    // What is not a name is an address or a remark.
    for name in
        functions.iter().filter(|name| name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
    {
        patterns.insert(pattern(name));
    }
    let mut text = String::from(
        "/* The functions that a start runs, together. Written by `cargo xtask start-order`. */\n\
         SECTIONS\n{\n  .text.start :\n  {\n    *crt1.o(.text .text.*)\n",
    );
    for member in MEMBERS {
        let _ = writeln!(text, "    *libc.a:{member}.lo(.text .text.*)");
    }
    for pattern in patterns {
        let _ = writeln!(text, "    *(.text.{pattern})");
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
        let functions = names(account).into_iter().collect();
        let text = script(&functions);
        for line in ["    *(.text._ZN4rush3run*)", "    *(.text.main)", "    *(.text._ZN1a1b?u20?c*)"] {
            assert!(text.contains(&format!("{line}\n")), "{text}");
        }
        assert_eq!(functions.len(), 3);
    }

    #[test]
    fn the_hashes_of_crates_are_left_open() {
        let name = "_RNvMNtNtCsaz6eC2DG7lh_3std3sys6socketNtB2_6Socket3new";
        assert_eq!(pattern(name), "_RNvMNtNtCs*_3std3sys6socketNtB2_6Socket3new");
        assert_eq!(pattern("_ZN4rush8CsDigits_3std17h0123456789abcdefE"), "_ZN4rush8CsDigits_3std*");
        assert_eq!(pattern("_RNvCs_4main"), "_RNvCs_4main");
    }
}
