//! The command line of `rush`, as bash's: options, then a command string or a script with its arguments.

use rush::state::options::{SetOption, Shopt};

/// What the command line asks for.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// `-c`: run the first operand.
    pub(crate) command_string: bool,
    /// `-s`: read standard input.
    pub(crate) standard_input: bool,
    /// `-i`
    pub(crate) interactive: bool,
    /// `-l`
    pub(crate) login: bool,
    /// `-r`
    pub(crate) restricted: bool,
    /// `--posix`
    pub(crate) posix: bool,
    /// `--norc`
    pub(crate) no_rc: bool,
    /// `--noprofile`
    pub(crate) no_profile: bool,
    /// `--rcfile`
    pub(crate) rc_file: Option<Vec<u8>>,
    /// `set` options and whether they are turned on.
    pub(crate) set: Vec<(SetOption, bool)>,
    /// `shopt` options and whether they are turned on.
    pub(crate) shopt: Vec<(Shopt, bool)>,
    /// `--version`
    pub(crate) version: bool,
    /// `--check`: tell what bash would do otherwise, and run nothing.
    pub(crate) check: bool,
    /// `--help`
    pub(crate) help: bool,
    /// `--json`: one object about the run in place of its output.
    pub(crate) json: bool,
    /// `--json-limit`: how many bytes of each stream it keeps.
    pub(crate) json_limit: Option<u64>,
    /// What follows the options.
    pub(crate) operands: Vec<Vec<u8>>,
}

/// Parses the words after the command's name; otherwise the message of a usage error.
pub(crate) fn parse(words: &[Vec<u8>]) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.starts_with(b"--") && word.len() > 2 {
            at += long_option(&mut arguments, &words[at..])?;
            continue;
        }
        let on = match word.first() {
            Some(b'-') => true,
            Some(b'+') => false,
            _ => break,
        };
        at += 1;
        if word == b"--" || word == b"-" {
            break;
        }
        at += short_options(&mut arguments, &word[1..], on, &words[at..])?;
    }
    arguments.operands = words.get(at..).unwrap_or_default().to_vec();
    if arguments.command_string && arguments.operands.is_empty() {
        return Err("-c: option requires an argument".into());
    }
    if arguments.json && (!arguments.command_string || arguments.interactive) {
        return Err("--json: needs -c COMMAND, and no -i".into());
    }
    Ok(arguments)
}

/// Parses a long option; how many words it took.
fn long_option(arguments: &mut Arguments, words: &[Vec<u8>]) -> Result<usize, String> {
    let text = String::from_utf8_lossy(&words[0]).into_owned();
    match text.as_str() {
        "--posix" => arguments.posix = true,
        "--norc" => arguments.no_rc = true,
        "--noprofile" => arguments.no_profile = true,
        "--login" => arguments.login = true,
        "--version" => arguments.version = true,
        "--check" => arguments.check = true,
        "--help" => arguments.help = true,
        "--json" => arguments.json = true,
        "--json-limit" => {
            let number = words.get(1).and_then(|word| std::str::from_utf8(word).ok()?.parse().ok());
            arguments.json_limit = Some(number.ok_or_else(|| format!("{text}: needs a number of bytes"))?);
            return Ok(2);
        }
        "--verbose" => arguments.set.push((SetOption::Verbose, true)),
        "--restricted" => arguments.restricted = true,
        "--noediting" | "--debugger" => {}
        "--rcfile" | "--init-file" => {
            let file = words.get(1).ok_or_else(|| format!("{text}: option requires an argument"))?;
            arguments.rc_file = Some(file.clone());
            return Ok(2);
        }
        _ => return Err(format!("{text}: invalid option")),
    }
    Ok(1)
}

/// Parses the letters of a short option word; how many further words it took.
fn short_options(
    arguments: &mut Arguments,
    letters: &[u8],
    on: bool,
    following: &[Vec<u8>],
) -> Result<usize, String> {
    let mut taken = 0;
    for letter in letters {
        match letter {
            b'c' => arguments.command_string = true,
            b's' if on => arguments.standard_input = true,
            b'i' if on => arguments.interactive = true,
            b'l' if on => arguments.login = true,
            b'r' => arguments.restricted |= on,
            b'o' | b'O' => {
                let Some(name) = following.get(taken) else { continue };
                taken += 1;
                let invalid = || format!("{}: invalid option name", String::from_utf8_lossy(name));
                if *letter == b'o' {
                    arguments.set.push((SetOption::from_name(name).ok_or_else(invalid)?, on));
                } else {
                    arguments.shopt.push((Shopt::from_name(name).ok_or_else(invalid)?, on));
                }
            }
            _ => match SetOption::from_letter(*letter) {
                Some(option) => arguments.set.push((option, on)),
                None => {
                    let sign = if on { '-' } else { '+' };
                    return Err(format!("{sign}{}: invalid option", *letter as char));
                }
            },
        }
    }
    Ok(taken)
}
