//! `grep`: searches lines. Flags: `-E -F -G -e -i -v -w -x -c -l -L -q -s -n -H -h -o -m -A -B -C -r -a -Z
//! --include --exclude --exclude-dir --color=never|auto --json`; Perl expressions, back-references and the rest
//! are left to the external program.

mod pattern;
mod search;

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use crate::basename::base_name;
use crate::context::reason;
use crate::limits::DIRECTORY_DEPTH_MAX;
use crate::options::{Parsed, number, parse};
use crate::{Context, Outcome, wildcard};
use pattern::{Matcher, Syntax};
use search::{Report, Search, Style};

const LONG: &[(&str, u8)] = &[
    ("extended-regexp", b'E'),
    ("fixed-strings", b'F'),
    ("basic-regexp", b'G'),
    ("regexp=", b'e'),
    ("ignore-case", b'i'),
    ("invert-match", b'v'),
    ("word-regexp", b'w'),
    ("line-regexp", b'x'),
    ("count", b'c'),
    ("files-with-matches", b'l'),
    ("files-without-match", b'L'),
    ("quiet", b'q'),
    ("silent", b'q'),
    ("no-messages", b's'),
    ("line-number", b'n'),
    ("with-filename", b'H'),
    ("no-filename", b'h'),
    ("only-matching", b'o'),
    ("max-count=", b'm'),
    ("after-context=", b'A'),
    ("before-context=", b'B'),
    ("context=", b'C'),
    ("recursive", b'r'),
    ("text", b'a'),
    ("null", b'Z'),
    ("include=", b'1'),
    ("exclude=", b'2'),
    ("exclude-dir=", b'3'),
    ("color?", b'4'),
    ("colour?", b'4'),
    ("json", b'J'),
];

pub(crate) fn run(context: &mut Context<'_>) -> io::Result<Outcome> {
    let parsed = parse(context.args, "EFGe:ivwxcyLlqsnHhom:A:B:C:raZ", LONG);
    let Some(parsed) = parsed else { return Ok(Outcome::Fallthrough) };
    let coloured = parsed.has(b'4')
        && (context.host.output_is_terminal()
            || !matches!(parsed.value(b'4'), Some(b"never" | b"auto" | b"")));
    let environment = context.host.variable("GREP_COLORS").is_some() && parsed.has(b'4');
    if coloured || environment || parsed.has(b'y') {
        return Ok(Outcome::Fallthrough);
    }
    let mut operands = parsed.operands.clone();
    let mut patterns: Vec<&[u8]> = parsed.given.iter().filter(|(l, _)| *l == b'e').map(|(_, v)| *v).collect();
    if patterns.is_empty() {
        if operands.is_empty() {
            return Ok(Outcome::Fallthrough);
        }
        patterns.push(operands.remove(0));
    }
    // Two kinds of patterns are refused, or the last one counts: releases differ.
    if [b'E', b'F', b'G'].iter().filter(|letter| parsed.has(**letter)).count() > 1 {
        return Ok(Outcome::Fallthrough);
    }
    let syntax = match parsed.last_of(b"EFG") {
        Some(b'E') => Syntax::Extended,
        Some(b'F') => Syntax::Fixed,
        _ => Syntax::Basic,
    };
    let utf8 = context.is_utf8();
    let matcher = Matcher::compile(&patterns, syntax, &parsed, utf8);
    let Some((matcher, style)) = matcher.zip(style(&parsed, &operands, context)) else {
        return Ok(Outcome::Fallthrough);
    };
    let names_files = [b'1', b'2', b'3'].iter().any(|letter| parsed.has(*letter));
    let is_file = |word: &&[u8]| !fs::metadata(context.path(word)).is_ok_and(|m| m.is_dir());
    // What these mean for files on the command line is GNU's own. So is not to look at any file where nothing can be selected.
    if (names_files && (!parsed.has(b'r') || operands.iter().any(is_file)))
        || style.maximum == Some(0)
        || (style.invert && patterns.iter().any(|pattern| pattern.is_empty()))
    {
        return Ok(Outcome::Fallthrough);
    }
    let context_lines = [b'A', b'B', b'C'].iter().any(|letter| parsed.has(*letter));
    if style.only_matching && (context_lines || !matcher.spans_are_exact) {
        return Ok(Outcome::Fallthrough);
    }
    // A folder that is not descended into counts as a file without lines, after the message.
    let is_folder = |word: &&[u8]| fs::metadata(context.path(word)).is_ok_and(|m| m.is_dir());
    if (parsed.has(b'c') || parsed.has(b'L')) && !parsed.has(b'r') && operands.iter().any(is_folder) {
        return Ok(Outcome::Fallthrough);
    }
    let filter = Filter::new(&parsed);
    let mut run = Run {
        style: &style,
        matcher: &matcher,
        filter: &filter,
        utf8,
        found: false,
        failed: false,
        stop: false,
    };
    let mut report = Report::new(style.json);
    let recursive = parsed.has(b'r');
    if operands.is_empty() && recursive {
        run.directory(context, b"", &mut report, 0)?;
    } else if operands.is_empty() {
        run.input(context, &mut report)?;
    }
    for word in operands {
        if run.stop {
            break;
        }
        if word == b"-" {
            run.input(context, &mut report)?;
        } else if fs::metadata(context.path(word)).is_ok_and(|m| m.is_dir()) {
            if recursive {
                run.directory(context, word, &mut report, 0)?;
            } else {
                run.complain(context, word, &io::ErrorKind::IsADirectory.into());
            }
        } else if !recursive
            || filter.accepts_file(word)
            || filter.includes.is_empty() && filter.accepts_file(word)
        {
            run.file(context, word, &mut report, false)?;
        }
    }
    context.output.write_all(&report.finish())?;
    let status = match (run.found, run.failed) {
        (true, false) => 0,
        (true, true) if style.quiet => 0,
        (_, true) => 2,
        (false, false) => 1,
    };
    Ok(Outcome::Status(status))
}

fn style(parsed: &Parsed<'_>, operands: &[&[u8]], context: &Context<'_>) -> Option<Style> {
    if !parsed.every(b"mABC", |_, value| number(value).is_some()) {
        return None;
    }
    let numeric = |letter: u8| match parsed.value(letter) {
        None => Some(None),
        Some(text) => number(text).map(|n| Some(usize::try_from(n).unwrap_or(usize::MAX))),
    };
    let around = numeric(b'C')?;
    let several = operands.len() > 1
        || (parsed.has(b'r')
            && (operands.is_empty()
                || operands.iter().any(|o| fs::metadata(context.path(o)).is_ok_and(|m| m.is_dir()))));
    let lists = parsed.has(b'l') || parsed.has(b'L');
    Some(Style {
        invert: parsed.has(b'v'),
        count: parsed.has(b'c') && !lists,
        list: parsed.last_of(b"lL"),
        quiet: parsed.has(b'q'),
        numbers: parsed.has(b'n'),
        names: match parsed.last_of(b"Hh") {
            Some(b'H') => true,
            Some(_) => false,
            None => several,
        },
        only_matching: parsed.has(b'o'),
        maximum: numeric(b'm')?,
        after: numeric(b'A')?.or(around).unwrap_or(0),
        before: numeric(b'B')?.or(around).unwrap_or(0),
        context: [b'A', b'B', b'C'].iter().any(|letter| parsed.has(*letter)),
        text: parsed.has(b'a'),
        null: parsed.has(b'Z'),
        no_messages: parsed.has(b's'),
        json: parsed.has(b'J'),
    })
}

/// Which files a recursive search looks into.
struct Filter {
    includes: Vec<Vec<u8>>,
    excludes: Vec<Vec<u8>>,
    excluded_directories: Vec<Vec<u8>>,
}

impl Filter {
    fn new(parsed: &Parsed<'_>) -> Self {
        let all =
            |letter: u8| parsed.given.iter().filter(|(l, _)| *l == letter).map(|(_, v)| v.to_vec()).collect();
        Self { includes: all(b'1'), excludes: all(b'2'), excluded_directories: all(b'3') }
    }

    fn accepts_file(&self, path: &[u8]) -> bool {
        let name = base_name(path);
        let any = |patterns: &[Vec<u8>]| patterns.iter().any(|p| wildcard::matches(p, name, false));
        !any(&self.excludes) && (self.includes.is_empty() || any(&self.includes))
    }

    fn accepts_directory(&self, name: &[u8]) -> bool {
        !self.excluded_directories.iter().any(|p| {
            let pattern = p.strip_suffix(b"/").unwrap_or(p);
            wildcard::matches(pattern, name, false)
        })
    }
}

struct Run<'r> {
    style: &'r Style,
    matcher: &'r Matcher,
    filter: &'r Filter,
    utf8: bool,
    found: bool,
    failed: bool,
    stop: bool,
}

impl Run<'_> {
    fn complain(&mut self, context: &mut Context<'_>, word: &[u8], error: &io::Error) {
        self.failed = true;
        if !self.style.no_messages {
            context.complain(&[word, b": ", reason(error).as_bytes()]);
        }
    }

    fn input(&mut self, context: &mut Context<'_>, report: &mut Report) -> io::Result<()> {
        let mut search = Search::new(self.style, self.matcher, self.utf8, b"(standard input)");
        let result = search.run(&mut *context.input, context.output, report)?;
        if search.unused() > 0 {
            context.input.unread(search.unused());
        }
        self.conclude(context, b"(standard input)", &search, result)
    }

    fn file(
        &mut self,
        context: &mut Context<'_>,
        word: &[u8],
        report: &mut Report,
        regular: bool,
    ) -> io::Result<()> {
        let file = match File::open(context.path(word)) {
            Ok(file) => file,
            Err(error) => {
                self.complain(context, word, &error);
                return Ok(());
            }
        };
        let mut search = Search::new(self.style, self.matcher, self.utf8, word);
        let mut reader = if regular { context.regular(file) } else { context.polled(file) };
        let result = search.run(&mut reader, context.output, report)?;
        self.conclude(context, word, &search, result)
    }

    fn conclude(
        &mut self,
        context: &mut Context<'_>,
        word: &[u8],
        search: &Search<'_>,
        result: io::Result<()>,
    ) -> io::Result<()> {
        if search.binary_matches {
            context.complain(&[word, b": binary file matches"]);
        }
        if let Err(error) = result {
            self.complain(context, word, &error);
        }
        // The status of `-L`, too, tells whether lines were selected.
        self.found |= search.selected > 0;
        self.stop = self.found && self.style.quiet;
        Ok(())
    }

    fn directory(
        &mut self,
        context: &mut Context<'_>,
        word: &[u8],
        report: &mut Report,
        depth: usize,
    ) -> io::Result<()> {
        let path = context.path(if word.is_empty() { b"." } else { word }).into_owned();
        let reader = match fs::read_dir(Path::new(&path)) {
            Ok(reader) => reader,
            Err(error) => {
                self.complain(context, word, &error);
                return Ok(());
            }
        };
        for entry in reader.flatten() {
            if self.stop {
                break;
            }
            context.poll()?;
            let name = entry.file_name().into_vec();
            let inner = match word {
                b"" => name.clone(),
                _ if word.last() == Some(&b'/') => [word, &name].concat(),
                _ => [word, b"/", &name].concat(),
            };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if depth < DIRECTORY_DEPTH_MAX && self.filter.accepts_directory(&name) {
                    self.directory(context, &inner, report, depth + 1)?;
                }
            } else if kind.is_file() && self.filter.accepts_file(&inner) {
                self.file(context, &inner, report, true)?;
            }
        }
        Ok(())
    }
}
