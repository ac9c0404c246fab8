//! `md5sum`, `sha1sum`, `sha224sum`, `sha256sum`, `sha384sum` and `sha512sum`: prints and checks digests. Flags: `-b -t -z -c --tag --quiet --status --strict
//! --ignore-missing -w`.

use std::fs::File;
use std::io::{self, Read};

use sha1::digest::DynDigest;

use crate::limits::COPY_BLOCK_BYTES;
use crate::options::{Parsed, parse};
use crate::{Context, Outcome};

/// The longest list of digests that is read.
const LIST_BYTES_MAX: u64 = 64 << 20;

struct Algorithm {
    /// As `--tag` writes it.
    name: &'static str,
    digits: usize,
    make: fn() -> Box<dyn DynDigest>,
}

fn algorithm(program: &[u8]) -> Option<Algorithm> {
    let (name, digits, make): (_, _, fn() -> Box<dyn DynDigest>) = match program {
        b"md5sum" => ("MD5", 32, || Box::<md5::Md5>::default()),
        b"sha1sum" => ("SHA1", 40, || Box::<sha1::Sha1>::default()),
        b"sha224sum" => ("SHA224", 56, || Box::<sha2::Sha224>::default()),
        b"sha256sum" => ("SHA256", 64, || Box::<sha2::Sha256>::default()),
        b"sha384sum" => ("SHA384", 96, || Box::<sha2::Sha384>::default()),
        b"sha512sum" => ("SHA512", 128, || Box::<sha2::Sha512>::default()),
        _ => return None,
    };
    Some(Algorithm { name, digits, make })
}

const LONG: &[(&str, u8)] = &[
    ("binary", b'b'),
    ("text", b't'),
    ("zero", b'z'),
    ("check", b'c'),
    ("warn", b'w'),
    ("tag", b'1'),
    ("quiet", b'2'),
    ("status", b'3'),
    ("strict", b'4'),
    ("ignore-missing", b'5'),
];

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let Some(algorithm) = algorithm(context.name()) else { return Ok(Outcome::Fallthrough) };
    let Some(parsed) = parse(context.args, "btzcw", LONG) else { return Ok(Outcome::Fallthrough) };
    let checks = parsed.has(b'c');
    let any = |letters: &[u8]| letters.iter().any(|letter| parsed.has(*letter));
    // Wrong use is the program's to explain.
    if (checks && any(b"btz1")) || (!checks && any(b"w2345")) || (parsed.has(b'1') && any(b"t")) {
        return Ok(Outcome::Fallthrough);
    }
    let operands = if parsed.operands.is_empty() { vec![b"-".as_slice()] } else { parsed.operands.clone() };
    let mut status = 0;
    let mut reversed = None;
    for word in operands {
        let good = if checks {
            check(context, &algorithm, &parsed, word, &mut reversed)?
        } else {
            print(context, &algorithm, &parsed, word)?
        };
        status |= i32::from(!good);
    }
    Ok(Outcome::Status(status))
}

/// The digest of a file, in digits.
fn digest(context: &mut Context<'_>, algorithm: &Algorithm, word: &[u8]) -> io::Result<String> {
    let mut state = (algorithm.make)();
    let mut buffer = vec![0u8; COPY_BLOCK_BYTES];
    let mut file = if word == b"-" { None } else { Some(context.polled(File::open(context.path(word))?)) };
    loop {
        let read = match &mut file {
            Some(file) => file.read(&mut buffer),
            None => context.input.read(&mut buffer),
        };
        match read {
            Ok(0) => break,
            Ok(count) => state.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(state.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A name with what would break its line escaped; `None` if nothing would.
fn escaped(name: &[u8]) -> Option<Vec<u8>> {
    let needs = |byte: &u8| matches!(byte, b'\n' | b'\r' | b'\\');
    if !name.iter().any(needs) {
        return None;
    }
    let mut out = Vec::new();
    for &byte in name {
        match byte {
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\\' => out.extend(b"\\\\"),
            _ => out.push(byte),
        }
    }
    Some(out)
}

fn print(
    context: &mut Context<'_>,
    algorithm: &Algorithm,
    parsed: &Parsed<'_>,
    word: &[u8],
) -> io::Result<bool> {
    let digits = match digest(context, algorithm, word) {
        Ok(digits) => digits,
        Err(error) => {
            context.poll()?;
            context.complain_about(word, &error);
            return Ok(false);
        }
    };
    let zero = parsed.has(b'z');
    let name = if zero { None } else { escaped(word) };
    let mark: &[u8] = if name.is_some() { b"\\" } else { b"" };
    let name = name.as_deref().unwrap_or(word);
    let end: &[u8] = if zero { b"\0" } else { b"\n" };
    let line = if parsed.has(b'1') {
        [mark, algorithm.name.as_bytes(), b" (", name, b") = ", digits.as_bytes(), end].concat()
    } else {
        let kind: &[u8] = if parsed.last_of(b"bt") == Some(b'b') { b" *" } else { b"  " };
        [mark, digits.as_bytes(), kind, name, end].concat()
    };
    context.output.write_all(&line)?;
    if !zero {
        // Lines come as they are made; what fails then is said at the end.
        let _ = context.output.flush();
    }
    Ok(true)
}

/// A line of a list: the digest, and the name that it is of.
///
/// `reversed` is what the first line without a tag decided: whether names begin right behind one blank, as BSD writes them.
fn entry(algorithm: &Algorithm, line: &[u8], reversed: &mut Option<bool>) -> Option<(Vec<u8>, Vec<u8>)> {
    let blanks = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let line = line.get(blanks..)?;
    let (marked, line) = line.strip_prefix(b"\\").map_or((false, line), |rest| (true, rest));
    let is_digest = |text: &[u8]| text.len() == algorithm.digits && text.iter().all(u8::is_ascii_hexdigit);
    let (digits, name) = match line.strip_prefix(algorithm.name.as_bytes()) {
        Some(rest) => {
            let rest = rest.strip_prefix(b" ").unwrap_or(rest).strip_prefix(b"(")?;
            let end = memchr::memmem::rfind(rest, b")")?;
            let digits = rest.get(end + 1..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
            (digits, rest.get(..end)?)
        }
        None => {
            let (digits, rest) = line.split_at_checked(algorithm.digits)?;
            let rest = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"\t"))?;
            if !is_digest(digits) || rest.is_empty() {
                return None;
            }
            // One more character says how the file was read.
            let marked = rest.len() > 1 && matches!(rest.first(), Some(b' ' | b'*'));
            let name = if !marked {
                if *reversed == Some(false) {
                    return None;
                }
                *reversed = Some(true);
                rest
            } else if *reversed == Some(true) {
                rest
            } else {
                *reversed = Some(false);
                rest.get(1..)?
            };
            (digits, name)
        }
    };
    if !is_digest(digits) {
        return None;
    }
    if !marked {
        return Some((digits.to_ascii_lowercase(), name.to_vec()));
    }
    let mut plain = Vec::new();
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next()? {
                b'n' => b'\n',
                b'r' => b'\r',
                b'\\' => b'\\',
                _ => return None,
            },
            byte => byte,
        });
    }
    Some((digits.to_ascii_lowercase(), plain))
}

fn check(
    context: &mut Context<'_>,
    algorithm: &Algorithm,
    parsed: &Parsed<'_>,
    list: &[u8],
    reversed: &mut Option<bool>,
) -> io::Result<bool> {
    let shown: &[u8] = if list == b"-" { b"standard input" } else { list };
    let mut text = Vec::new();
    if list == b"-" {
        (&mut *context.input).take(LIST_BYTES_MAX).read_to_end(&mut text)?;
    } else {
        match File::open(context.path(list)) {
            Ok(file) => {
                if context.polled(file).take(LIST_BYTES_MAX).read_to_end(&mut text).is_err() {
                    context.poll()?;
                    context.complain(&[&context.before_colon(shown), b": read error"]);
                    return Ok(false);
                }
            }
            Err(error) => {
                context.complain_about(shown, &error);
                return Ok(false);
            }
        }
    }
    if text.len() as u64 >= LIST_BYTES_MAX {
        context.complain(&[&context.before_colon(shown), b": more than 64 MiB of digests"]);
        return Ok(false);
    }
    // The last of these counts.
    let manner = parsed.last_of(b"23w");
    let (quiet, silent, warns) =
        (matches!(manner, Some(b'2' | b'3')), manner == Some(b'3'), manner == Some(b'w'));
    let (mut proper, mut improper, mut unreadable, mut wrong, mut matched) = (0, 0, 0, 0, 0);
    let lines = text.strip_suffix(b"\n").unwrap_or(&text).split(|b| *b == b'\n');
    for (index, line) in lines.enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let Some((wanted, name)) = entry(algorithm, line, reversed) else {
            improper += 1;
            if warns {
                let place = format!(": {}: improperly formatted {} checksum line", index + 1, algorithm.name);
                context.complain(&[&context.before_colon(shown), place.as_bytes()]);
            }
            continue;
        };
        proper += 1;
        let (mark, label): (&[u8], _) =
            match escaped(&name).filter(|_| name.contains(&b'\n') || name.contains(&b'\r')) {
                Some(label) => (b"\\", label),
                None => (b"", name.clone()),
            };
        match digest(context, algorithm, &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && parsed.has(b'5') => {}
            Err(error) => {
                context.poll()?;
                unreadable += 1;
                context.complain_about(&name, &error);
                if !silent {
                    context.output.write_all(&[mark, &label, b": FAILED open or read\n"].concat())?;
                    let _ = context.output.flush();
                }
            }
            Ok(digits) if digits.as_bytes() == wanted => {
                matched += 1;
                if !quiet {
                    context.output.write_all(&[mark, &label, b": OK\n"].concat())?;
                    let _ = context.output.flush();
                }
            }
            Ok(_) => {
                wrong += 1;
                if !silent {
                    context.output.write_all(&[mark, &label, b": FAILED\n"].concat())?;
                    let _ = context.output.flush();
                }
            }
        }
    }
    if proper == 0 {
        context.complain(&[&context.before_colon(shown), b": no properly formatted checksum lines found"]);
        return Ok(false);
    }
    if !silent {
        let mut warn = |count: i32, one: &str, many: &str| {
            if count > 0 {
                let text = format!("WARNING: {count} {}", if count == 1 { one } else { many });
                context.complain(&[text.as_bytes()]);
            }
        };
        warn(improper, "line is improperly formatted", "lines are improperly formatted");
        warn(unreadable, "listed file could not be read", "listed files could not be read");
        warn(wrong, "computed checksum did NOT match", "computed checksums did NOT match");
    }
    if parsed.has(b'5') && matched == 0 && !silent {
        context.complain(&[&context.before_colon(shown), b": no file was verified"]);
    }
    let nothing = parsed.has(b'5') && matched == 0;
    Ok(unreadable == 0 && wrong == 0 && !nothing && !(parsed.has(b'4') && improper > 0))
}
