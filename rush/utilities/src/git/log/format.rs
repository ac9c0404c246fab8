//! The placeholders of `--format`.

use super::super::dates::Form as DateForm;
use super::super::decode::{Commit, Signature};
use super::super::oid::Oid;
use super::print::Printer;
use crate::git::{Attempt, Decline};

/// Fills a template. A placeholder that is not known declines.
pub(super) fn expand(printer: &Printer<'_>, template: &[u8], id: &Oid, commit: &Commit) -> Attempt<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = template;
    while let Some(percent) = memchr::memchr(b'%', rest) {
        out.extend(rest.get(..percent).unwrap_or_default());
        rest = rest.get(percent + 1..).unwrap_or_default();
        rest = placeholder(printer, rest, id, commit, &mut out)?;
    }
    out.extend(rest);
    Ok(out)
}

/// Appends what the placeholder at the beginning of `rest` stands for; what follows it.
fn placeholder<'t>(
    printer: &Printer<'_>,
    rest: &'t [u8],
    id: &Oid,
    commit: &Commit,
    out: &mut Vec<u8>,
) -> Attempt<&'t [u8]> {
    if let Some(after) = without_colour(rest)? {
        return Ok(after);
    }
    let (&letter, after) = rest.split_first().ok_or(Decline)?;
    let short = |id: &Oid| printer.objects.abbreviate(id);
    let all = |ids: &[Oid], show: &dyn Fn(&Oid) -> Attempt<String>| -> Attempt<String> {
        Ok(ids.iter().map(show).collect::<Attempt<Vec<_>>>()?.join(" "))
    };
    let whole = |id: &Oid| Ok(id.hex());
    match letter {
        b'%' => out.push(b'%'),
        b'n' => out.push(b'\n'),
        b'H' => out.extend(id.hex().into_bytes()),
        b'h' => out.extend(short(id)?.into_bytes()),
        b'T' => out.extend(commit.tree.hex().into_bytes()),
        b't' => out.extend(short(&commit.tree)?.into_bytes()),
        b'P' => out.extend(all(&commit.parents, &whole)?.into_bytes()),
        b'p' => out.extend(all(&commit.parents, &short)?.into_bytes()),
        b's' => out.extend(commit.subject()),
        b'b' => out.extend(commit.body()),
        b'B' => out.extend(&commit.message),
        b'x' => {
            let (digits, after) = after.split_at_checked(2).ok_or(Decline)?;
            let digits = std::str::from_utf8(digits).map_err(|_| Decline)?;
            out.push(u8::from_str_radix(digits, 16).map_err(|_| Decline)?);
            return Ok(after);
        }
        b'a' | b'c' => {
            let who = if letter == b'a' { &commit.author } else { &commit.committer };
            let (&what, after) = after.split_first().ok_or(Decline)?;
            person(printer, &Signature::parse(who)?, what, out)?;
            return Ok(after);
        }
        _ => return Err(Decline),
    }
    Ok(after)
}

fn person(printer: &Printer<'_>, who: &Signature<'_>, what: u8, out: &mut Vec<u8>) -> Attempt<()> {
    let form = match what {
        b'n' | b'N' => {
            out.extend(who.name);
            return Ok(());
        }
        b'e' | b'E' => {
            out.extend(who.mail);
            return Ok(());
        }
        b'd' => printer.options.date,
        b'D' => DateForm::Mail,
        b'r' => DateForm::Relative,
        b't' => DateForm::Unix,
        b'i' => DateForm::Iso,
        b'I' => DateForm::IsoStrict,
        b's' => DateForm::Short,
        _ => return Err(Decline),
    };
    out.extend(form.show(who, printer.now)?);
    Ok(())
}

/// What follows a colour, which is nothing away from a terminal; none if `rest` does not begin with one.
fn without_colour(rest: &[u8]) -> Attempt<Option<&[u8]>> {
    for name in [&b"Cred"[..], b"Cgreen", b"Cblue", b"Creset"] {
        if let Some(after) = rest.strip_prefix(name) {
            return Ok(Some(after));
        }
    }
    let Some(inside) = rest.strip_prefix(b"C(") else { return Ok(None) };
    let end = memchr::memchr(b')', inside).ok_or(Decline)?;
    let colour = inside.get(..end).unwrap_or_default();
    // `always,...` is shown everywhere; a misspelt colour is an error.
    let known: [&[u8]; 12] = [
        b"auto", b"reset", b"black", b"red", b"green", b"yellow", b"blue", b"magenta", b"cyan", b"white",
        b"bold", b"dim",
    ];
    if colour.split(|&b| b == b' ').all(|word| known.contains(&word)) {
        Ok(inside.get(end + 1..))
    } else {
        Err(Decline)
    }
}
