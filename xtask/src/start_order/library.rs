//! The GNU C library in a static build: its functions have no sections of their own, so whole members of the archive are moved.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use super::Counts;

/// Members that prepare the code which the kernel gives every process; valgrind hides it.
const HIDDEN: [&str; 2] = ["dl-lookup.o", "dl-object.o"];

/// Splits the functions into members of the C library that have some of them, and the rest.
pub(super) fn split(counts: &Counts) -> Result<(BTreeSet<String>, Counts), String> {
    let mut symbols = String::new();
    for name in ["libc.a", "libm.a"] {
        let path = output("cc", &[&format!("-print-file-name={name}")])?;
        for archive in archives(path.trim())? {
            symbols.push_str(&output("nm", &[&archive])?);
        }
    }
    let member_of = members(&symbols);
    let mut members = BTreeSet::from(HIDDEN.map(str::to_string));
    let mut functions = Counts::new();
    for (name, &runs) in counts {
        // What Rust mangles is not C.
        match member_of.get(name.as_str()) {
            Some(member) if !name.starts_with("_ZN") => drop(members.insert(variants(member))),
            _ => drop(functions.insert(name.clone(), runs)),
        }
    }
    Ok((members, functions))
}

/// The pattern of a member: of a function that has variants for processors, all of them, because valgrind's processor is not ours.
fn variants(member: &str) -> String {
    match member.split_once('-') {
        Some((function, variant)) if variant.starts_with("avx") || variant.starts_with("sse") => {
            format!("{function}-*.o")
        }
        _ => member.to_string(),
    }
}

/// The archives behind a library's name: it may be a linker's script that names others.
fn archives(path: &str) -> Result<Vec<String>, String> {
    let content = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    if content.starts_with(b"!<arch>") {
        return Ok(vec![path.to_string()]);
    }
    let script = String::from_utf8_lossy(&content);
    Ok(script.split_whitespace().filter(|word| word.ends_with(".a")).map(str::to_string).collect())
}

/// Which member has which function, by what `nm` says of an archive: the member's name and a colon, then its symbols.
fn members(symbols: &str) -> BTreeMap<&str, &str> {
    let mut member = "";
    let mut found = BTreeMap::new();
    for line in symbols.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [name] if name.ends_with(".o:") => member = name.trim_end_matches(':'),
            [_, "t" | "T" | "w" | "W" | "i", name] => {
                found.entry(name).or_insert(member);
            }
            _ => {}
        }
    }
    found
}

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_in_their_members() {
        let text = "\nmalloc.o:\n0000000000000010 T malloc\n0000000000000000 t sysmalloc\n                 U mmap\n\nmmap.o:\n0000000000000000 W mmap\n0000000000000008 D data\n";
        let expected = [("malloc", "malloc.o"), ("mmap", "mmap.o"), ("sysmalloc", "malloc.o")];
        assert_eq!(members(text), BTreeMap::from(expected));
        assert_eq!(variants("memmove-avx-unaligned-erms.o"), "memmove-*.o");
        assert_eq!(variants("libc-start.o"), "libc-start.o");
    }
}
