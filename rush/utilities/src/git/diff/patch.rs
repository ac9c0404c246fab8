//! A difference as a patch: headers, and hunks of changed lines with the lines around them.

use super::lines::{self, Side};
use super::{Blob, Pair, Printer, slide};
use crate::git::change::Kind;
use crate::git::quote::quoted;
use crate::git::{Attempt, Decline};

/// Bytes of the line that names the function of a hunk.
const FUNCTION_BYTES_MAX: usize = 80;
/// Bytes in which a zero makes a file binary.
const BINARY_BYTES: usize = 8_000;

/// Removed lines and the added ones in their place; either may be none.
#[derive(Clone, Copy)]
struct Edit {
    old: (usize, usize),
    new: (usize, usize),
}

/// Whether a file is shown as binary.
pub(super) fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, content.get(..BINARY_BYTES).unwrap_or(content)).is_some()
}

/// The two files, with what was removed and added marked where git marks it.
pub(super) fn compared<'t>(old: &'t [u8], new: &'t [u8]) -> Attempt<[Side<'t>; 2]> {
    let [mut old, mut new] = lines::compare(old, new)?;
    slide::settle(&mut old, &new);
    slide::settle(&mut new, &old);
    Ok([old, new])
}

impl Printer<'_> {
    /// One changed path. A file that became a link, or the other way round, is removed and made anew.
    pub(super) fn patch(&self, pair: &Pair<'_>, out: &mut Vec<u8>) -> Attempt<()> {
        if pair.change.kind == Kind::TypeChanged {
            self.section(pair, Some(&pair.old), None, out)?;
            return self.section(pair, None, Some(&pair.new), out);
        }
        let old = (pair.change.kind != Kind::Added).then_some(&pair.old);
        let new = (pair.change.kind != Kind::Deleted).then_some(&pair.new);
        self.section(pair, old, new, out)
    }

    fn section(
        &self,
        pair: &Pair<'_>,
        old: Option<&Blob>,
        new: Option<&Blob>,
        out: &mut Vec<u8>,
    ) -> Attempt<()> {
        let change = pair.change;
        let from = change.from.as_ref().unwrap_or(&change.path);
        let (a, b) = (self.name(self.prefixes.0, from), self.name(self.prefixes.1, &change.path));
        let mut line = |parts: &[&[u8]]| {
            parts.iter().for_each(|part| out.extend_from_slice(part));
            out.push(b'\n');
        };
        line(&[b"diff --git ", &a, b" ", &b]);
        match (old, new) {
            (None, Some(new)) => line(&[b"new file mode ", &octal(new.mode)]),
            (Some(old), None) => line(&[b"deleted file mode ", &octal(old.mode)]),
            (Some(old), Some(new)) if old.mode != new.mode => {
                line(&[b"old mode ", &octal(old.mode)]);
                line(&[b"new mode ", &octal(new.mode)]);
            }
            _ => {}
        }
        if change.from.is_some() {
            line(&[format!("similarity index {}%", change.score).as_bytes()]);
            line(&[b"rename from ", &self.name(b"", from)]);
            line(&[b"rename to ", &self.name(b"", &change.path)]);
        }
        let id = |blob: Option<&Blob>| blob.map_or(crate::git::oid::NULL, |blob| blob.id);
        if id(old) == id(new) {
            return Ok(());
        }
        let (short_a, short_b) = (self.objects.abbreviate(&id(old))?, self.objects.abbreviate(&id(new))?);
        let mode = match (old, new) {
            (Some(old), Some(new)) if old.mode == new.mode => [b" ".as_slice(), &octal(old.mode)].concat(),
            _ => Vec::new(),
        };
        line(&[b"index ", short_a.as_bytes(), b"..", short_b.as_bytes(), &mode]);
        let label =
            |blob: Option<&Blob>, name: Vec<u8>| if blob.is_some() { name } else { b"/dev/null".to_vec() };
        let (a, b) = (label(old, a), label(new, b));
        let content = |blob: Option<&'_ Blob>| blob.map_or(Vec::new(), |blob| blob.content.clone());
        let (old, new) = (content(old), content(new));
        if is_binary(&old) || is_binary(&new) {
            line(&[b"Binary files ", &a, b" and ", &b, b" differ"]);
            return Ok(());
        }
        let sides = compared(&old, &new)?;
        let edits = edits(&sides);
        if !edits.is_empty() {
            let tab = |name: &[u8]| if name.contains(&b' ') { &b"\t"[..] } else { b"" };
            line(&[b"--- ", &a, tab(&a)]);
            line(&[b"+++ ", &b, tab(&b)]);
        }
        self.hunks(&sides, &edits, out)
    }

    /// `path` behind `prefix`, in quotes if it needs them.
    fn name(&self, prefix: &[u8], path: &[u8]) -> Vec<u8> {
        let whole = [prefix, path].concat();
        quoted(&whole, self.ascii_only).unwrap_or(whole)
    }

    fn hunks(&self, [old, new]: &[Side<'_>; 2], edits: &[Edit], out: &mut Vec<u8>) -> Attempt<()> {
        let mut function: &[u8] = b"";
        // Lines of the old file from here on were not looked at for a function's name yet.
        let mut looked_at = 0;
        for group in edits.chunk_by(|a, b| b.old.0 - a.old.1 <= 2 * self.context) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let start = (first.old.0.saturating_sub(self.context), first.new.0.saturating_sub(self.context));
            let behind = self.context.min(old.lines.len() - last.old.1).min(new.lines.len() - last.new.1);
            let end = (last.old.1 + behind, last.new.1 + behind);
            let named = (looked_at..start.0).rev().find(|&at| names_function(old.lines[at]));
            function = named.map_or(function, |at| shortened(old.lines[at]));
            looked_at = looked_at.max(start.0);
            out.extend(heading(start, end, function)?);
            let mut at = start.0;
            for edit in group {
                old.lines[at..edit.old.0].iter().for_each(|line| put(b' ', line, out));
                old.lines[edit.old.0..edit.old.1].iter().for_each(|line| put(b'-', line, out));
                new.lines[edit.new.0..edit.new.1].iter().for_each(|line| put(b'+', line, out));
                at = edit.old.1;
            }
            old.lines[at..end.0].iter().for_each(|line| put(b' ', line, out));
        }
        Ok(())
    }
}

/// What was changed, from the top.
fn edits([old, new]: &[Side<'_>; 2]) -> Vec<Edit> {
    let run = |side: &Side<'_>, from: usize| from + side.changed[from..].iter().take_while(|c| **c).count();
    let mut edits = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < old.lines.len() || b < new.lines.len() {
        let (end_a, end_b) = (run(old, a), run(new, b));
        if (end_a, end_b) != (a, b) {
            edits.push(Edit { old: (a, end_a), new: (b, end_b) });
        }
        // The line behind them is in both.
        (a, b) = (end_a + 1, end_b + 1);
        if end_a >= old.lines.len() && end_b >= new.lines.len() {
            break;
        }
    }
    edits
}

fn put(sign: u8, line: &[u8], out: &mut Vec<u8>) {
    out.push(sign);
    out.extend_from_slice(line);
    if line.last() != Some(&b'\n') {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// Whether a line looks like the beginning of a function.
fn names_function(line: &[u8]) -> bool {
    line.first().is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'$'))
}

fn shortened(line: &[u8]) -> &[u8] {
    crate::git::decode::trim_end(line.get(..FUNCTION_BYTES_MAX).unwrap_or(line))
}

/// The line above a hunk, up to the first byte that is not UTF-8.
fn heading(start: (usize, usize), end: (usize, usize), function: &[u8]) -> Attempt<Vec<u8>> {
    let range = |start: usize, end: usize| match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    };
    let mut text = format!("@@ -{} +{} @@", range(start.0, end.0), range(start.1, end.1)).into_bytes();
    if !function.is_empty() {
        text.push(b' ');
        text.extend_from_slice(function);
    }
    if let Err(error) = std::str::from_utf8(&text) {
        text.truncate(error.valid_up_to());
    }
    // Git ends the line at these, too.
    if [&b"\xef\xbf\xbe"[..], b"\xef\xbf\xbf"].iter().any(|odd| memchr::memmem::find(&text, odd).is_some()) {
        return Err(Decline);
    }
    text.push(b'\n');
    Ok(text)
}

fn octal(mode: u32) -> Vec<u8> {
    format!("{mode:06o}").into_bytes()
}
