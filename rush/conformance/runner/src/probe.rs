//! The helper commands that the cases call: `argv.py`, `printenv.py`, `read_from_fd.py`, `show_fd_table.py` and
//! `stdout_stderr.py`, recognised by name.

use rush::sys;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Runs the helper called `name`.
pub(crate) fn run(name: &str, words: &[Vec<u8>]) -> i32 {
    let mut out = Vec::new();
    let status = match name {
        "argv.py" => {
            let quoted: Vec<Vec<u8>> = words.iter().map(|w| quoted(w)).collect();
            out.push(b'[');
            out.extend(quoted.join(&b", "[..]));
            out.extend_from_slice(b"]\n");
            0
        }
        "printenv.py" => {
            for word in words {
                let value = std::env::var_os(std::ffi::OsStr::from_bytes(word));
                out.extend(value.map_or_else(|| b"None".to_vec(), OsStringExt::into_vec));
                out.push(b'\n');
            }
            0
        }
        "read_from_fd.py" => read_from(words, &mut out),
        "show_fd_table.py" => {
            show_table(&mut out);
            0
        }
        _ => return both_streams(words),
    };
    let _ = std::io::stdout().write_all(&out);
    status
}

/// A word as Python shows a string.
fn quoted(word: &[u8]) -> Vec<u8> {
    let quote = if word.contains(&b'\'') && !word.contains(&b'"') { b'"' } else { b'\'' };
    let mut out = vec![quote];
    for &byte in word {
        match byte {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\r' => out.extend_from_slice(b"\\r"),
            _ if byte == quote || byte == b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..=31 | 127.. => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(quote);
    out
}

fn read_from(words: &[Vec<u8>], out: &mut Vec<u8>) -> i32 {
    for word in words {
        let text = String::from_utf8_lossy(word).into_owned();
        let mut buffer = [0; 1024];
        match sys::read(text.parse().unwrap_or(-1), &mut buffer) {
            Ok(n) => {
                out.extend_from_slice(format!("{text}: ").as_bytes());
                out.extend_from_slice(&buffer[..n]);
            }
            Err(error) => {
                let _ = std::io::stdout().write_all(out);
                out.clear();
                let message = sys::strerror(error);
                eprintln!("FATAL: Error reading from fd {text}: [Errno {error}] {message}");
                return 1;
            }
        }
    }
    0
}

fn show_table(out: &mut Vec<u8>) {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    for entry in entries.flatten() {
        if let Ok(target) = std::fs::read_link(entry.path()) {
            let line = format!("{} {}\n", entry.file_name().to_string_lossy(), target.display());
            out.extend_from_slice(line.as_bytes());
        }
    }
}

fn both_streams(words: &[Vec<u8>]) -> i32 {
    let word = |n: usize, default: &str| {
        words.get(n).map_or_else(|| default.to_string(), |w| String::from_utf8_lossy(w).into_owned())
    };
    println!("{}", word(0, "STDOUT"));
    eprintln!("{}", word(1, "STDERR"));
    word(2, "0").parse().unwrap_or(0)
}
