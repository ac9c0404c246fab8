//! `git log`: which commits, and in which form.

mod format;
mod print;

use super::dates;
use super::head::Head;
use super::history::History;
use super::objects::Objects;
use super::oid::Oid;
use super::refs::Refs;
use super::repository::Repository;
use super::revision::resolve;
use super::{Attempt, Decline};
use crate::Context;
use crate::limits::GIT_LOG_MAX;

/// How a commit is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Form {
    Oneline,
    Short,
    Medium,
    Full,
    Fuller,
    /// With placeholders; each ends in a newline, or newlines stand between them.
    Custom {
        template: Vec<u8>,
        terminated: bool,
    },
}

struct Options {
    form: Form,
    abbreviated: bool,
    date: dates::Form,
    count: usize,
    skip: usize,
    reverse: bool,
    first_parents: bool,
    /// Only commits with several parents, or only those without.
    merges: Option<bool>,
    revisions: Vec<Vec<u8>>,
}

/// `git log [--oneline] [-n N] [--format=FORM] [--date=FORM] [--reverse] [--first-parent] [--[no-]merges] [--skip=N]
/// [REVISION|A..B]...`.
pub(crate) fn run(context: &Context<'_>, words: &[Vec<u8>]) -> Attempt<Vec<u8>> {
    let options = parse(words)?;
    let repository = Repository::discover(context)?;
    let refs = Refs::open(&repository)?;
    let objects = Objects::new(&repository);
    // Notes are shown below messages, and a mail map changes names.
    let has_notes = refs.resolve(b"refs/notes/commits")?.is_some();
    if has_notes || repository.tree_path(b".mailmap").symlink_metadata().is_ok() {
        return Err(Decline);
    }
    let (tips, hidden) = ends(context, &options, &refs, &objects)?;
    let mut history = History::new(&objects, &tips, &hidden, options.first_parents)?;
    let mut chosen = Vec::new();
    let mut skipped = 0;
    let mut looked_at = 0;
    while chosen.len() < options.count {
        let Some((id, commit)) = history.next()? else { break };
        looked_at += 1;
        if looked_at > GIT_LOG_MAX {
            return Err(Decline);
        }
        if options.merges.is_some_and(|merges| merges != (commit.parents.len() > 1)) {
            continue;
        }
        if skipped < options.skip {
            skipped += 1;
            continue;
        }
        chosen.push((id, commit));
    }
    if options.reverse {
        chosen.reverse();
    }
    let printer = print::Printer { options: &options, objects: &objects, now: context.host.now().0 };
    printer.all(&chosen)
}

/// The commits to begin at, and those to hide with all that they reach.
fn ends(
    context: &Context<'_>,
    options: &Options,
    refs: &Refs<'_>,
    objects: &Objects<'_>,
) -> Attempt<(Vec<Oid>, Vec<Oid>)> {
    let (mut tips, mut hidden) = (Vec::new(), Vec::new());
    for word in &options.revisions {
        // A file of that name makes the word ambiguous.
        if context.path(word).symlink_metadata().is_ok() || memchr::memmem::find(word, b"...").is_some() {
            return Err(Decline);
        }
        let or_head = |name: &[u8]| resolve(if name.is_empty() { b"HEAD" } else { name }, refs, objects);
        if let Some(dots) = memchr::memmem::find(word, b"..") {
            hidden.push(or_head(word.get(..dots).unwrap_or_default())?);
            tips.push(or_head(word.get(dots + 2..).unwrap_or_default())?);
        } else if let Some(name) = word.strip_prefix(b"^") {
            hidden.push(resolve(name, refs, objects)?);
        } else {
            tips.push(resolve(word, refs, objects)?);
        }
    }
    if options.revisions.is_empty() {
        // Before the first commit git has something to say.
        tips.push(Head::read(refs)?.commit.ok_or(Decline)?);
    }
    Ok((tips, hidden))
}

fn parse(words: &[Vec<u8>]) -> Attempt<Options> {
    let mut options = Options {
        form: Form::Medium,
        abbreviated: false,
        date: dates::Form::Default,
        count: usize::MAX,
        skip: 0,
        reverse: false,
        first_parents: false,
        merges: None,
        revisions: Vec::new(),
    };
    let mut words = words.iter().map(Vec::as_slice);
    while let Some(word) = words.next() {
        match word {
            b"--oneline" => (options.form, options.abbreviated) = (Form::Oneline, true),
            b"--abbrev-commit" => options.abbreviated = true,
            b"--no-abbrev-commit" => options.abbreviated = false,
            b"--reverse" => options.reverse = true,
            b"--first-parent" => options.first_parents = true,
            b"--merges" => options.merges = Some(true),
            b"--no-merges" => options.merges = Some(false),
            b"--no-decorate" | b"--no-color" | b"--no-patch" | b"-s" | b"--no-notes" => {}
            b"-n" | b"--max-count" => options.count = number(words.next().ok_or(Decline)?)?,
            b"--pretty" => options.form = Form::Medium,
            // Nothing may follow: paths are git's.
            b"--" if words.len() == 0 => {}
            [b'-', b'-', ..] => with_value(word, &mut options)?,
            [b'-', b'n', digits @ ..] | [b'-', digits @ ..] if !digits.is_empty() => {
                options.count = number(digits)?
            }
            _ => options.revisions.push(word.to_vec()),
        }
    }
    Ok(options)
}

/// `--NAME=VALUE`.
fn with_value(word: &[u8], options: &mut Options) -> Attempt<()> {
    let equals = word.iter().position(|&b| b == b'=').ok_or(Decline)?;
    let (name, value) = (word.get(..equals).ok_or(Decline)?, word.get(equals + 1..).ok_or(Decline)?);
    match name {
        b"--format" | b"--pretty" => options.form = form(value)?,
        b"--date" => options.date = dates::Form::named(value)?,
        b"--max-count" => options.count = number(value)?,
        b"--skip" => options.skip = number(value)?,
        _ => return Err(Decline),
    }
    Ok(())
}

fn number(digits: &[u8]) -> Attempt<usize> {
    let number = crate::options::number(digits).ok_or(Decline)?;
    usize::try_from(number).map_err(|_| Decline)
}

fn form(value: &[u8]) -> Attempt<Form> {
    let custom = |template: &[u8], terminated| Form::Custom { template: template.to_vec(), terminated };
    Ok(match value {
        b"oneline" => Form::Oneline,
        b"short" => Form::Short,
        b"medium" => Form::Medium,
        b"full" => Form::Full,
        b"fuller" => Form::Fuller,
        _ => match (value.strip_prefix(b"format:"), value.strip_prefix(b"tformat:")) {
            (Some(template), _) if !template.is_empty() => custom(template, false),
            (_, Some(template)) if !template.is_empty() => custom(template, true),
            (None, None) if value.contains(&b'%') => custom(value, true),
            _ => return Err(Decline),
        },
    })
}
