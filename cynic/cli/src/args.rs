//! The command line: one table of flags, from which the parser and the help text come.
//!
//! Invariant: every flag is one row of [`FLAGS`]; nothing else knows its spelling. Values may be given as `--flag=value` or
//! `--flag value`. What the options *do* is decided by the commands.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use cynic::{Jit, Zeal};

use crate::exit_status;
use crate::permissions::{self, Permissions};
use crate::shell_help;

/// What the user asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// Run a program: a file, or `-` and nothing for the standard input.
    Run(Option<PathBuf>),
    /// Evaluate a piece of code and print its value.
    Eval(String),
    /// Read, evaluate, print, loop.
    Repl,
    /// Show the bytecode of a file.
    Disassemble(Vec<PathBuf>),
    /// Run the conformance suite.
    Test262,
    /// Serve tests to a supervisor; not for users.
    Test262Worker,
    /// Show the help text.
    Help,
    /// Show the version.
    Version,
    /// List what `--enable` knows.
    ListFeatures,
    /// Print the completions for a shell.
    Completions(String),
    /// Print the manual page.
    Manual,
}

/// The options, whatever the command.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) unhardened: bool,
    pub(crate) allow: Permissions,
    pub(crate) seal_globals: bool,
    pub(crate) deterministic: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) check: bool,
    pub(crate) module: bool,
    pub(crate) watch: bool,
    pub(crate) import_map: Option<PathBuf>,
    /// Scripts that run before the program.
    pub(crate) before: Vec<PathBuf>,
    /// What the program is given.
    pub(crate) arguments: Vec<String>,
    code: Option<String>,
    pub(crate) fuel: Option<u64>,
    pub(crate) heap_bytes_max: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) gc_threshold_bytes: Option<usize>,
    pub(crate) gc_stats: bool,
    pub(crate) gc_zeal: Zeal,
    pub(crate) jit: Jit,
    pub(crate) jit_stats: bool,
    pub(crate) native: bool,
    pub(crate) enable: Vec<String>,
    pub(crate) suite: Option<PathBuf>,
    pub(crate) filter: String,
    pub(crate) jobs: Option<usize>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) expectations: Option<PathBuf>,
    pub(crate) quiet: bool,
    pub(crate) list_failures: bool,
    pub(crate) bless: bool,
}

/// Everything on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    pub(crate) command: Command,
    pub(crate) options: Options,
}

/// How a flag is applied.
enum Action {
    /// Takes no value.
    Set(fn(&mut Options)),
    /// Takes a value; the string names it in the help text.
    Value(&'static str, fn(&mut Options, &str) -> Result<(), String>),
    /// Stands for a command.
    Command(fn() -> Command),
}

struct Flag {
    name: &'static str,
    group: &'static str,
    help: &'static str,
    action: Action,
}

const PROGRAM: &str = "Program";
const PERMISSIONS: &str = "Permissions";
const ENGINE: &str = "Engine";
const LIMITS: &str = "Limits";
const HEAP: &str = "Heap";
const SUITE: &str = "test262";
const GENERAL: &str = "General";

/// The values of `--jit`.
pub(crate) const JIT_MODES: [(&str, Jit); 4] = [
    ("off", Jit::Off),
    ("template", Jit::Template),
    ("force-template", Jit::ForceTemplate),
    ("eager-template", Jit::EagerTemplate),
];

/// Every flag of the command.
#[rustfmt::skip]
const FLAGS: &[Flag] = &[
    Flag { name: "eval", group: PROGRAM, help: "evaluate CODE and print its value, as `cynic eval` does; operands are the program's arguments", action: Action::Value("CODE", |o, v| { o.code = Some(v.to_owned()); Ok(()) }) },
    Flag { name: "check", group: PROGRAM, help: "look for syntax errors in the FILEs and run nothing", action: Action::Set(|o| o.check = true) },
    Flag { name: "module", group: PROGRAM, help: "the program is a module, whatever its name and its text", action: Action::Set(|o| o.module = true) },
    Flag { name: "watch", group: PROGRAM, help: "run the program again whenever a file that it was read from changes", action: Action::Set(|o| o.watch = true) },
    Flag { name: "import-map", group: PROGRAM, help: "what specifiers of imports mean, as an import map says; its paths are relative to it", action: Action::Value("FILE", |o, v| { o.import_map = Some(v.into()); Ok(()) }) },
    Flag { name: "before", group: PROGRAM, help: "run the script FILE first, in the same realm; may be repeated", action: Action::Value("FILE", |o, v| { o.before.push(v.into()); Ok(()) }) },
    Flag { name: "allow", group: PERMISSIONS, help: permissions::HELP, action: Action::Value("WHAT", |o, v| o.allow.add(v)) },
    Flag { name: "seal-globals", group: PERMISSIONS, help: "let programs add nothing to the hardened global object", action: Action::Set(|o| o.seal_globals = true) },
    Flag { name: "deterministic", group: PERMISSIONS, help: "the same in every run: a virtual clock that begins in 2000 and waits for nothing, fixed random numbers, UTC", action: Action::Set(|o| o.deterministic = true) },
    Flag { name: "seed", group: PERMISSIONS, help: "begin all random numbers with N", action: Action::Value("N", |o, v| { o.seed = Some(integer(v)?); Ok(()) }) },
    Flag { name: "unhardened", group: ENGINE, help: "leave primordials and the global object mutable", action: Action::Set(|o| o.unhardened = true) },
    Flag { name: "enable", group: ENGINE, help: "enable a feature that is off by default; may be repeated", action: Action::Value("FEATURE", |o, v| { o.enable.push(v.to_owned()); Ok(()) }) },
    Flag { name: "list-features", group: ENGINE, help: "list the features that --enable knows", action: Action::Command(|| Command::ListFeatures) },
    Flag { name: "jit", group: ENGINE, help: "compile what runs often to machine code: off (the default), template; for tests, force-template, which compiles everything before it runs, and eager-template, which does so after some dozens of steps", action: Action::Value("MODE", |o, v| { o.jit = jit(v)?; Ok(()) }) },
    Flag { name: "jit-stats", group: ENGINE, help: "print at the end what was compiled", action: Action::Set(|o| o.jit_stats = true) },
    Flag { name: "native", group: ENGINE, help: "with disasm: show the machine code of scripts, too, as it would be before they run", action: Action::Set(|o| o.native = true) },
    Flag { name: "fuel", group: LIMITS, help: "terminate after about N steps", action: Action::Value("N", |o, v| { o.fuel = Some(integer(v)?); Ok(()) }) },
    Flag { name: "heap-limit", group: LIMITS, help: "terminate beyond BYTES of heap (suffixes K, M, G)", action: Action::Value("BYTES", |o, v| { o.heap_bytes_max = Some(bytes(v)?); Ok(()) }) },
    Flag { name: "timeout", group: LIMITS, help: "terminate after TIME (seconds, or 250ms)", action: Action::Value("TIME", |o, v| { o.timeout = Some(duration(v)?); Ok(()) }) },
    Flag { name: "gc-threshold", group: HEAP, help: "allocate BYTES between collections", action: Action::Value("BYTES", |o, v| { o.gc_threshold_bytes = Some(bytes(v)?); Ok(()) }) },
    Flag { name: "gc-stats", group: HEAP, help: "print collector statistics at the end", action: Action::Set(|o| o.gc_stats = true) },
    Flag { name: "gc-zeal", group: HEAP, help: "collect at every allocation", action: Action::Set(|o| o.gc_zeal = Zeal::Whole) },
    Flag { name: "gc-zeal-steps", group: HEAP, help: "mark a little at every allocation", action: Action::Set(|o| o.gc_zeal = Zeal::Steps) },
    Flag { name: "suite", group: SUITE, help: "the suite's folder (default: the variable TEST262)", action: Action::Value("DIR", |o, v| { o.suite = Some(v.into()); Ok(()) }) },
    Flag { name: "filter", group: SUITE, help: "only tests whose path contains S", action: Action::Value("S", |o, v| { v.clone_into(&mut o.filter); Ok(()) }) },
    Flag { name: "jobs", group: SUITE, help: "worker processes (default: one per core)", action: Action::Value("N", |o, v| { o.jobs = Some(positive(v)?); Ok(()) }) },
    Flag { name: "json", group: SUITE, help: "write the full report to FILE", action: Action::Value("FILE", |o, v| { o.json = Some(v.into()); Ok(()) }) },
    Flag { name: "expectations", group: SUITE, help: "the list of known failures to compare with", action: Action::Value("FILE", |o, v| { o.expectations = Some(v.into()); Ok(()) }) },
    Flag { name: "quiet", group: SUITE, help: "print the totals and the surprises only", action: Action::Set(|o| o.quiet = true) },
    Flag { name: "list-failures", group: SUITE, help: "print one line per failed test", action: Action::Set(|o| o.list_failures = true) },
    Flag { name: "bless", group: SUITE, help: "rewrite the list of known failures from this run", action: Action::Set(|o| o.bless = true) },
    Flag { name: "help", group: GENERAL, help: "show this text", action: Action::Command(|| Command::Help) },
    Flag { name: "version", group: GENERAL, help: "show the version", action: Action::Command(|| Command::Version) },
];

const USAGE: &str = "\
usage: cynic [FLAGS] FILE [ARGUMENT...]   run a script or a module; - is the standard input
       cynic run [FLAGS] FILE [ARGUMENT...]
                                          the same
       cynic eval [FLAGS] CODE            evaluate CODE and print its value (also -e CODE)
       cynic repl [FLAGS]                 interactive
       cynic disasm [--native] FILE...    show bytecode, and machine code
       cynic test262 [FLAGS]              run the conformance suite
       cynic completions SHELL            print completions for bash, zsh or fish
       cynic man                          print the manual page

A program finds its name and its ARGUMENTs in the global array `scriptArgs`.
";

/// Parses the arguments (without the program's name). `interactive` says whether the standard input is a terminal, which
/// decides what no arguments mean. The error is a sentence for the user.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
    interactive: bool,
) -> Result<Invocation, String> {
    let mut options = Options::default();
    let mut asked = None;
    let mut operands: Vec<OsString> = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            operands.extend(arguments.by_ref());
        } else if argument == "-e" {
            options.code = Some(text(arguments.next().ok_or("-e needs CODE")?)?);
        } else if argument == "-h" {
            asked = Some(Command::Help);
        } else if let Some(flag) = argument.to_str().and_then(|argument| argument.strip_prefix("--")) {
            asked = apply_flag(flag, &mut arguments, &mut options)?.or(asked);
        } else if argument.as_encoded_bytes().starts_with(b"-") && argument.len() > 1 {
            return Err(format!("unknown flag {}", argument.display()));
        } else {
            operands.push(argument);
            if options.code.is_some() || names_a_program(&operands) {
                // What follows is the program's, flags too.
                operands.extend(arguments.by_ref());
            }
        }
    }
    let command = match (asked, options.code.take()) {
        (Some(command), _) => command,
        (None, Some(code)) => {
            options.arguments = all_texts(operands)?;
            Command::Eval(code)
        }
        (None, None) => command_from(operands, interactive, &mut options)?,
    };
    if options.seed.is_some() && !options.deterministic {
        return Err("--seed needs --deterministic".into());
    }
    if options.watch && (options.check || !matches!(command, Command::Run(Some(_)))) {
        return Err("--watch needs a FILE to run".into());
    }
    Ok(Invocation { command, options })
}

/// The words that are commands.
pub(crate) const WORDS: [&str; 8] =
    ["run", "eval", "repl", "disasm", "test262", "test262-worker", "completions", "man"];

fn names_a_program(operands: &[OsString]) -> bool {
    match operands {
        [only] => !WORDS.iter().any(|word| only == OsStr::new(word)),
        [first, _] => first == OsStr::new("run"),
        _ => false,
    }
}

fn apply_flag(
    flag: &str,
    rest: &mut impl Iterator<Item = OsString>,
    options: &mut Options,
) -> Result<Option<Command>, String> {
    let (name, inline) = match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag, None),
    };
    let Some(flag) = FLAGS.iter().find(|known| known.name == name) else {
        return Err(format!("unknown flag --{name}"));
    };
    match (&flag.action, inline) {
        (Action::Set(set), None) => set(options),
        (Action::Command(command), None) => return Ok(Some(command())),
        (Action::Set(_) | Action::Command(_), Some(_)) => return Err(format!("--{name} takes no value")),
        (Action::Value(value_name, apply), inline) => {
            let value = match inline {
                Some(value) => value.to_owned(),
                None => text(rest.next().ok_or_else(|| format!("--{name} needs {value_name}"))?)?,
            };
            apply(options, &value).map_err(|why| format!("--{name}: {why}"))?;
        }
    }
    Ok(None)
}

fn command_from(
    mut operands: Vec<OsString>,
    interactive: bool,
    options: &mut Options,
) -> Result<Command, String> {
    let Some(first) = operands.first() else {
        return Ok(if interactive { Command::Repl } else { Command::Run(None) });
    };
    let Some(word) = WORDS.iter().find(|word| first == OsStr::new(word)) else {
        return program_from(operands, options);
    };
    operands.remove(0);
    match *word {
        "run" => program_from(operands, options),
        "disasm" if operands.is_empty() => Err("disasm needs a file".into()),
        "disasm" => Ok(Command::Disassemble(paths(operands))),
        "completions" => match operands.first().and_then(|shell| shell.to_str()) {
            Some(shell) if operands.len() == 1 && shell_help::SHELLS.contains(&shell) => {
                Ok(Command::Completions(shell.to_owned()))
            }
            _ => Err("completions needs one of bash, zsh, fish".into()),
        },
        "eval" => match <[OsString; 1]>::try_from(operands) {
            Ok([code]) => Ok(Command::Eval(text(code)?)),
            Err(_) => Err("eval needs one argument, the code".into()),
        },
        _ if !operands.is_empty() => Err(format!("{word} takes no operand")),
        "repl" => Ok(Command::Repl),
        "man" => Ok(Command::Manual),
        "test262" => Ok(Command::Test262),
        _ => Ok(Command::Test262Worker),
    }
}

fn program_from(mut operands: Vec<OsString>, options: &mut Options) -> Result<Command, String> {
    if operands.is_empty() {
        return Ok(Command::Run(None));
    }
    let file = operands.remove(0);
    options.arguments = all_texts(operands)?;
    Ok(Command::Run(Some(file.into()).filter(|file: &PathBuf| file.as_os_str() != "-")))
}

fn all_texts(operands: Vec<OsString>) -> Result<Vec<String>, String> {
    operands.into_iter().map(text).collect()
}

fn paths(operands: Vec<OsString>) -> Vec<PathBuf> {
    operands.into_iter().map(PathBuf::from).collect()
}

fn text(value: OsString) -> Result<String, String> {
    value.into_string().map_err(|value| format!("{} is not UTF-8", value.display()))
}

fn jit(value: &str) -> Result<Jit, String> {
    let mode = JIT_MODES.iter().find(|(name, _)| *name == value);
    mode.map(|(_, mode)| *mode).ok_or_else(|| format!("{value:?} is none of off, template, force-template"))
}

fn integer(value: &str) -> Result<u64, String> {
    value.replace('_', "").parse().map_err(|_| format!("{value} is not a whole number"))
}

fn positive(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("{value} is not a positive number")),
    }
}

fn bytes(value: &str) -> Result<usize, String> {
    let (digits, shift) = match value.as_bytes().last() {
        Some(b'k' | b'K') => (&value[..value.len() - 1], 10),
        Some(b'm' | b'M') => (&value[..value.len() - 1], 20),
        Some(b'g' | b'G') => (&value[..value.len() - 1], 30),
        _ => (value, 0),
    };
    let count = usize::try_from(integer(digits)?).ok().and_then(|count| count.checked_mul(1 << shift));
    count.ok_or_else(|| format!("{value} is too large"))
}

fn duration(value: &str) -> Result<Duration, String> {
    let (digits, scale) = match (value.strip_suffix("ms"), value.strip_suffix('s')) {
        (Some(digits), _) => (digits, 0.001),
        (None, Some(digits)) => (digits, 1.0),
        (None, None) => (value, 1.0),
    };
    let amount: Option<f64> = digits.parse().ok();
    let time = amount.and_then(|amount| Duration::try_from_secs_f64(amount * scale).ok());
    time.ok_or_else(|| format!("{value} is not a time (seconds, or 250ms)"))
}

/// What a flag takes.
pub(crate) enum Shape {
    Alone,
    /// A value: its name, and the values there are if these are known.
    Value(&'static str, Vec<&'static str>),
}

/// A flag as others may know it.
pub(crate) struct Described {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    pub(crate) help: &'static str,
    pub(crate) shape: Shape,
}

/// All flags, as the table has them.
pub(crate) fn flags() -> impl Iterator<Item = Described> {
    FLAGS.iter().map(|flag| Described {
        name: flag.name,
        group: flag.group,
        help: flag.help,
        shape: match &flag.action {
            Action::Value(value, _) => Shape::Value(value, choices(flag.name)),
            Action::Set(_) | Action::Command(_) => Shape::Alone,
        },
    })
}

fn choices(flag: &str) -> Vec<&'static str> {
    match flag {
        "jit" => JIT_MODES.iter().map(|(name, _)| *name).collect(),
        "allow" => permissions::NAMES.to_vec(),
        _ => Vec::new(),
    }
}

/// The manual page.
pub(crate) fn manual() -> String {
    shell_help::manual(USAGE)
}

/// The help text, from the tables.
pub(crate) fn help() -> String {
    let mut text = USAGE.to_owned();
    let mut group = "";
    for flag in FLAGS {
        if flag.group != group {
            group = flag.group;
            let _ = write!(text, "\n{group}:\n");
        }
        let shown = match &flag.action {
            Action::Value(value, _) => format!("--{}={value}", flag.name),
            Action::Set(_) | Action::Command(_) => format!("--{}", flag.name),
        };
        let _ = writeln!(text, "  {shown:22} {}", flag.help);
    }
    text.push_str("\nExit status:\n");
    for (status, meaning) in exit_status::TABLE {
        let _ = writeln!(text, "  {:<22} {meaning}", *status as u8);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Invocation, String> {
        parse(line.split_whitespace().map(OsString::from), false)
    }

    fn command(line: &str) -> Command {
        parsed(line).expect("a good command line").command
    }

    fn options(line: &str) -> Options {
        parsed(line).expect("a good command line").options
    }

    #[test]
    fn commands() {
        assert_eq!(command("run a.js b.mjs"), Command::Run(Some("a.js".into())));
        assert_eq!(command("a.js run"), Command::Run(Some("a.js".into())));
        assert_eq!(command("-"), Command::Run(None));
        assert_eq!(command("eval 1+1"), Command::Eval("1+1".into()));
        assert_eq!(command("-e 1+1"), Command::Eval("1+1".into()));
        assert_eq!(command("--eval=1+1"), Command::Eval("1+1".into()));
        assert_eq!(command(""), Command::Run(None));
        assert_eq!(parse([], true).expect("good").command, Command::Repl);
        assert_eq!(command("-- --odd.js"), Command::Run(Some("--odd.js".into())));
        assert_eq!(command("run --help a.js"), Command::Help);
    }

    #[test]
    fn what_follows_the_program_is_its_own() {
        for (line, arguments) in [
            ("--fuel=5 a.js x --fuel=6 -e", vec!["x", "--fuel=6", "-e"]),
            ("run --fuel=5 a.js run --help", vec!["run", "--help"]),
            ("run -- a.js -- x", vec!["--", "x"]),
            ("- x", vec!["x"]),
            ("--fuel=5 -e 1 x --fuel=6", vec!["x", "--fuel=6"]),
            ("a.js", vec![]),
        ] {
            let options = options(line);
            assert_eq!(options.arguments, arguments, "{line}");
            assert_ne!(options.fuel, Some(6), "{line}");
        }
    }

    #[test]
    fn values_inline_or_apart() {
        assert_eq!(options("--fuel=1_000 a.js").fuel, Some(1000));
        assert_eq!(options("--fuel 5 a.js").fuel, Some(5));
        assert_eq!(options("--heap-limit=2M a.js").heap_bytes_max, Some(2 << 20));
        assert_eq!(options("--timeout=250ms a.js").timeout, Some(Duration::from_millis(250)));
        assert_eq!(options("--timeout 1.5 a.js").timeout, Some(Duration::from_millis(1500)));
        assert!(options("--unhardened --allow=eval a.js").allow.eval);
    }

    #[test]
    fn bad_usage_is_explained() {
        let cases = [
            ("--nope", "unknown flag --nope"),
            ("-z", "unknown flag -z"),
            ("--fuel", "--fuel needs N"),
            ("--fuel=x", "--fuel: x is not a whole number"),
            ("--quiet=1", "--quiet takes no value"),
            (
                "--allow=fs",
                "--allow: unknown permission fs; there are `eval`, `read=DIR`, `packages`, `commonjs`, `clock`, `random` and `globals`",
            ),
            ("--seed=1", "--seed needs --deterministic"),
            ("--allow=read=", "--allow: `read=` needs a folder"),
            ("--timeout=-1", "--timeout: -1 is not a time (seconds, or 250ms)"),
            ("--heap-limit=99999999999999G", "--heap-limit: 99999999999999G is too large"),
            ("--jobs=0", "--jobs: 0 is not a positive number"),
            ("eval", "eval needs one argument, the code"),
            ("disasm", "disasm needs a file"),
            ("repl x", "repl takes no operand"),
            ("-e", "-e needs CODE"),
            ("completions", "completions needs one of bash, zsh, fish"),
            ("completions sh", "completions needs one of bash, zsh, fish"),
            ("--watch", "--watch needs a FILE to run"),
            ("--watch -e 1", "--watch needs a FILE to run"),
            ("--watch --check a.js", "--watch needs a FILE to run"),
        ];
        for (line, expected) in cases {
            assert_eq!(parsed(line), Err(expected.to_owned()), "{line}");
        }
    }

    #[test]
    fn help_names_every_flag_and_status() {
        let help = help();
        assert!(FLAGS.iter().all(|flag| help.contains(&format!("--{}", flag.name))));
        assert!(help.contains("124"));
    }
}
