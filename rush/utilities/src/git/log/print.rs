//! Commits in git's named forms.

use super::super::decode::{Commit, Signature, lines, trim_end};
use super::super::objects::Objects;
use super::super::oid::Oid;
use super::{Form, Options, format};
use crate::git::{Attempt, Decline};

/// Columns to which tabs in messages go.
const TAB_COLUMNS: usize = 8;

pub(super) struct Printer<'o> {
    pub(super) options: &'o Options,
    pub(super) objects: &'o Objects<'o>,
    /// Seconds since the epoch.
    pub(super) now: i64,
}

impl Printer<'_> {
    /// All commits, with what stands between them.
    pub(super) fn all(&self, commits: &[(Oid, Commit)]) -> Attempt<Vec<u8>> {
        let mut out = Vec::new();
        for (at, (id, commit)) in commits.iter().enumerate() {
            let between = match &self.options.form {
                Form::Oneline | Form::Custom { terminated: true, .. } => false,
                _ => at > 0,
            };
            if between {
                out.push(b'\n');
            }
            match &self.options.form {
                Form::Oneline => {
                    out.extend(self.name(id)?.into_bytes());
                    out.push(b' ');
                    out.extend(commit.subject());
                    out.push(b'\n');
                }
                Form::Custom { template, terminated } => {
                    out.extend(format::expand(self, template, id, commit)?);
                    if *terminated {
                        out.push(b'\n');
                    }
                }
                form => self.paragraphs(form, id, commit, &mut out)?,
            }
        }
        Ok(out)
    }

    fn name(&self, id: &Oid) -> Attempt<String> {
        if self.options.abbreviated { self.objects.abbreviate(id) } else { Ok(id.hex()) }
    }

    fn paragraphs(&self, form: &Form, id: &Oid, commit: &Commit, out: &mut Vec<u8>) -> Attempt<()> {
        let author = Signature::parse(&commit.author)?;
        let committer = Signature::parse(&commit.committer)?;
        let person =
            |label: &str, who: &Signature<'_>| [label.as_bytes(), who.name, b" <", who.mail, b">\n"].concat();
        let date = |label: &str, who: &Signature<'_>| -> Attempt<Vec<u8>> {
            Ok([label.as_bytes(), &self.options.date.show(who, self.now)?, b"\n"].concat())
        };
        out.extend(format!("commit {}\n", self.name(id)?).into_bytes());
        if commit.parents.len() > 1 {
            out.extend(b"Merge:");
            for parent in &commit.parents {
                out.extend(format!(" {}", self.objects.abbreviate(parent)?).into_bytes());
            }
            out.push(b'\n');
        }
        match form {
            Form::Short => out.extend(person("Author: ", &author)),
            Form::Full => {
                out.extend(person("Author: ", &author));
                out.extend(person("Commit: ", &committer));
            }
            Form::Fuller => {
                out.extend(person("Author:     ", &author));
                out.extend(date("AuthorDate: ", &author)?);
                out.extend(person("Commit:     ", &committer));
                out.extend(date("CommitDate: ", &committer)?);
            }
            _ => {
                out.extend(person("Author: ", &author));
                out.extend(date("Date:   ", &author)?);
            }
        }
        out.push(b'\n');
        message(&commit.message, *form == Form::Short, out)
    }
}

/// The message, indented.
fn message(message: &[u8], first_paragraph: bool, out: &mut Vec<u8>) -> Attempt<()> {
    let lines = lines(message).map(trim_end).skip_while(|line| line.is_empty());
    for line in lines {
        if line.is_empty() && first_paragraph {
            break;
        }
        out.extend(b"    ");
        if line.contains(&b'\t') && !first_paragraph {
            untabbed(line, out)?;
        } else {
            out.extend(line);
        }
        out.push(b'\n');
    }
    let kept = trim_end(out).len();
    out.truncate(kept);
    out.push(b'\n');
    Ok(())
}

/// A line with blanks for its tabs. One whose columns need a table of widths declines.
fn untabbed(line: &[u8], out: &mut Vec<u8>) -> Attempt<()> {
    if !line.iter().all(|b| b.is_ascii_graphic() || matches!(b, b' ' | b'\t')) {
        return Err(Decline);
    }
    let mut column = 0;
    for &byte in line {
        let columns = if byte == b'\t' { TAB_COLUMNS - column % TAB_COLUMNS } else { 1 };
        let shown = if byte == b'\t' { b' ' } else { byte };
        out.extend(std::iter::repeat_n(shown, columns));
        column += columns;
    }
    Ok(())
}
