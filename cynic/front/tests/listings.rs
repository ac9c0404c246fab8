//! The bytecode of small programs, as files: a line `--- PROGRAM`, then the listing of each of its functions. A change of the compiler shows as a change
//! of these files: `CYNIC_LISTINGS=bless cargo test -p pithos-cynic-front --test listings` writes them anew, for the eye to judge.
//!
//! A program that is refused has its error in place of the listing.

use std::path::{Path, PathBuf};

use cynic_front::bytecode::FunctionCode;
use cynic_front::bytecode::disassemble::disassemble;
use cynic_front::bytecode::verify::{verify, verify_flow};
use cynic_front::compiler::{CompileOptions, compile_script};

const MARK: &str = "--- ";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/listings");
    let entries = std::fs::read_dir(folder).expect("the listings");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a listing").path()).collect();
    paths.sort();
    paths
}

/// The instructions of a function and of those in it are in order, each table has what they name.
fn verify_all(function: &FunctionCode) {
    verify(function).unwrap_or_else(|error| panic!("{error:?}"));
    function.functions.iter().for_each(|inner| verify_all(inner));
}

fn listed(program: &str) -> String {
    let mut out = format!("{MARK}{program}\n");
    match compile_script("t.js", program, CompileOptions::default()) {
        Ok(code) => {
            verify_flow(&code).unwrap_or_else(|error| panic!("{program}: {error:?}"));
            verify_all(&code);
            out.push_str(&disassemble(&code));
            out.push('\n');
        }
        Err(error) => out.push_str(&format!("{error}\n")),
    }
    out
}

#[test]
fn programs_compile_to_their_listings() {
    let bless = std::env::var_os("CYNIC_LISTINGS").is_some_and(|value| value == "bless");
    let (mut wrong, mut programs) = (Vec::new(), 0);
    for path in files() {
        let wanted = std::fs::read_to_string(&path).expect("a listing");
        let found: String = wanted.lines().filter_map(|line| line.strip_prefix(MARK)).map(listed).collect();
        programs += wanted.lines().filter(|line| line.starts_with(MARK)).count();
        if bless {
            std::fs::write(&path, found).expect("a listing");
        } else if found != wanted {
            let pairs = found.lines().zip(wanted.lines());
            let first = pairs.into_iter().find(|(found, wanted)| found != wanted);
            wrong.push(format!("{}: first (found, expected): {first:?}", path.display()));
        }
    }
    assert!(programs >= 60, "{programs} programs");
    assert!(wrong.is_empty(), "see the head of this file\n{}", wrong.join("\n"));
}
