//! `compgen`: generates candidates.

use super::{ACTIONS, OPTIONS, Specification, actions};
use crate::builtins::options::{Found, OptionReader};
use crate::expand::fields::Separators;
use crate::state::value::Value;
use crate::{Bytes, Outcome, Session, Status, Unwind};

/// The options that describe a specification, as `complete` and `compgen` share them.
const GENERATE_LETTERS: &str = "abcdefgjksuvo:A:G:W:P:S:X:F:C:V:";

/// Puts one option into `specification`; `Err` is the status of a refusal.
pub(super) fn apply_option(
    session: &mut Session,
    builtin: &[u8],
    specification: &mut Specification,
    found: Found<'_>,
) -> Result<(), Status> {
    let text = Some(found.value.to_vec());
    match found.letter {
        b'A' => match ACTIONS.iter().find(|(name, _)| name.as_bytes() == found.value) {
            Some((name, _)) => specification.actions.push(name),
            None => {
                session.builtin_error(builtin, [found.value, b": invalid action name"].concat());
                return Err(2);
            }
        },
        b'o' => match OPTIONS.iter().find(|name| name.as_bytes() == found.value) {
            Some(name) => specification.options.push(name),
            None => {
                session.builtin_error(builtin, [found.value, b": invalid option name"].concat());
                return Err(2);
            }
        },
        b'G' => specification.glob = text,
        b'W' => specification.words = text,
        b'P' => specification.prefix = text,
        b'S' => specification.suffix = text,
        b'X' => specification.filter = text,
        b'F' => specification.function = text,
        b'C' => specification.command = text,
        letter => {
            let action = ACTIONS.iter().find(|(_, l)| *l == letter);
            specification.actions.extend(action.map(|(name, _)| *name));
        }
    }
    Ok(())
}

/// The status by which a completion function asks to be looked up again.
pub(super) const STATUS_RETRY: crate::Status = 124;

/// `compgen [-V varname] [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]`
pub(in crate::builtins) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut specification = Specification::default();
    let mut options = OptionReader::new(args, GENERATE_LETTERS);
    let mut array = None;
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) if found.letter == b'V' => {
                if !crate::state::names::is_name(found.value) {
                    let message = [b"`", found.value, b"': not a valid identifier"].concat();
                    session.builtin_error(b"compgen", message);
                    return Ok(1);
                }
                array = Some(found.value.to_vec());
            }
            Ok(Some(found)) => {
                if let Err(status) = apply_option(session, b"compgen", &mut specification, found) {
                    return Ok(status);
                }
            }
            Err(status) => return Ok(status),
        }
    }
    let word = options.operands().first().cloned().unwrap_or_default();
    for (given, letter) in [(&specification.function, 'F'), (&specification.command, 'C')] {
        if given.is_some() {
            session
                .builtin_error(b"compgen", format!("warning: -{letter} option may not work as you expect"));
        }
    }
    if specification == Specification::default() {
        return Ok(0);
    }
    let mut candidates = generate(session, &specification, b"compgen", (&word, &word), b"")?;
    add_directories(session, &specification.options, &word, &mut candidates);
    // `bashdefault` alone means no files.
    if candidates.is_empty() && specification.options.contains(&"default") {
        candidates = actions::candidates(session, "file", &word);
    }
    let status = i32::from(candidates.is_empty());
    if let Some(array) = array {
        return match session.set_array(&array, candidates) {
            Ok(()) => Ok(status),
            Err(error) => {
                session.report_assign_error(&error);
                Ok(1)
            }
        };
    }
    for candidate in candidates {
        session.write_out(&[candidate.as_slice(), b"\n"].concat());
    }
    Ok(status)
}

/// The candidates of `specification` for a word, as it was typed and without its quotes, which follows `previous` in the arguments of
/// `command`.
pub fn generate(
    session: &mut Session,
    specification: &Specification,
    command: &[u8],
    (typed, word): (&[u8], &[u8]),
    previous: &[u8],
) -> Result<Vec<Bytes>, Unwind> {
    let mut candidates = Vec::new();
    for action in &specification.actions {
        candidates.extend(actions::candidates(session, action, word));
    }
    if let Some(glob) = &specification.glob {
        candidates.extend(session.match_pathnames(glob));
    }
    if let Some(words) = &specification.words {
        let separators = session.separators();
        let mut fields = Vec::new();
        for piece in split_words(words, &separators) {
            let parsed = session.parse_word(&piece, crate::syntax::Mode::Whole)?;
            session.expand_word(&parsed, &mut fields)?;
        }
        candidates.extend(fields.into_iter().filter(|w| !w.is_empty() && w.starts_with(word)));
    }
    if let Some(function) = &specification.function {
        candidates.extend(from_function(session, function, command, typed, previous)?);
    }
    if let Some(program) = &specification.command {
        let quoted = [command, typed, previous].map(crate::quote::single_quote).join(&b' ');
        let text = session.expand_text(&[b"$(".as_slice(), program, b" ", &quoted, b")"].concat())?;
        candidates.extend(text.split(|&b| b == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    }
    if let Some(filter) = &specification.filter {
        filter_out(session, filter, word, &mut candidates);
    }
    let (prefix, suffix) = (specification.prefix.as_deref(), specification.suffix.as_deref());
    if prefix.is_some() || suffix.is_some() {
        for candidate in &mut candidates {
            *candidate = [prefix.unwrap_or_default(), candidate, suffix.unwrap_or_default()].concat();
        }
    }
    Ok(candidates)
}

/// Adds the directories that `dirnames` (if there is nothing else) or `plusdirs` (always) ask for, to which no filter, prefix or suffix
/// applies; whether there were any.
pub(super) fn add_directories(
    session: &mut Session,
    options: &[&'static str],
    word: &[u8],
    candidates: &mut Vec<Bytes>,
) -> bool {
    let wanted = options.contains(&"plusdirs") || candidates.is_empty() && options.contains(&"dirnames");
    if !wanted {
        return false;
    }
    let directories = actions::candidates(session, "directory", word);
    let any = !directories.is_empty();
    candidates.extend(directories);
    any
}

/// Splits the list of `-W` at separators that are not quoted, escaped or inside an expansion.
pub(super) fn split_words(words: &[u8], separators: &Separators) -> Vec<Bytes> {
    let mut pieces = vec![Bytes::new()];
    let mut quote: Option<u8> = None;
    let mut nesting = 0usize;
    let mut at = 0;
    while let Some(&byte) = words.get(at) {
        at += 1;
        let Some(piece) = pieces.last_mut() else { break };
        let separator = separators.length_at(&words[at - 1..]);
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => {
                piece.push(byte);
                piece.extend(words.get(at));
                at += 1;
                continue;
            }
            (_, Some(open)) if open == byte => quote = None,
            (b'\'' | b'"' | b'`', None) => quote = Some(byte),
            (b'(' | b'{', None) if nesting > 0 || piece.last() == Some(&b'$') => nesting += 1,
            (b')' | b'}', None) => nesting = nesting.saturating_sub(1),
            _ if quote.is_none() && nesting == 0 && separator > 0 => {
                at += separator - 1;
                pieces.push(Bytes::new());
                continue;
            }
            _ => {}
        }
        piece.push(byte);
    }
    pieces.retain(|p| !p.is_empty());
    pieces
}

fn from_function(
    session: &mut Session,
    function: &[u8],
    command: &[u8],
    word: &[u8],
    previous: &[u8],
) -> Result<Vec<Bytes>, Unwind> {
    if !session.functions.contains_key(function) {
        session.builtin_error(b"completion", [b"function `", function, b"' not found"].concat());
        return Ok(Vec::new());
    }
    if command == b"compgen" {
        // There is no command line: bash shows an empty one.
        let _ = session.set(b"COMP_LINE", Bytes::new());
        let _ = session.set(b"COMP_POINT", b"0".to_vec());
        let _ = session.set(b"COMP_CWORD", b"-1".to_vec());
        let _ = session.set_array(b"COMP_WORDS", Vec::new());
    }
    let args = vec![function.to_vec(), command.to_vec(), word.to_vec(), previous.to_vec()];
    session.run_arguments(args, true)?;
    let id = session.variables.intern(b"COMPREPLY");
    let found = match session.value(id) {
        Value::Indexed(array) => array.iter().map(|(_, value)| value.clone()).collect(),
        other => other.scalar().map(|v| v.into_owned()).into_iter().collect(),
    };
    session.variables.unset(id, None);
    Ok(found)
}

/// `-X`: removes what the pattern matches, or with `!` what it does not; `&` stands for the word.
fn filter_out(session: &mut Session, filter: &[u8], word: &[u8], candidates: &mut Vec<Bytes>) {
    let (negated, filter) = match filter.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, filter),
    };
    let mut text = Bytes::new();
    let mut bytes = filter.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if bytes.peek() == Some(&b'&') => text.extend(bytes.next()),
            b'&' => crate::pattern::escape_into(&mut text, word),
            _ => text.push(byte),
        }
    }
    // What cannot be matched filters nothing; that has been said.
    let Ok(pattern) = session.compile_pattern(&text) else { return };
    candidates.retain(|candidate| pattern.matches(candidate) == negated);
}
