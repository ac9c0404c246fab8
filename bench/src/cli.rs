//! The command line: what can be asked for, and the help text. Parses and nothing else.

use crate::limits::{PROCESS_TIMEOUT, RUNS_DEFAULT, RUNS_MAX};
use crate::model::Clock;
use std::path::PathBuf;
use std::time::Duration;

/// The text of `--help`.
pub(crate) const HELP: &str = "\
pithos-bench: the same work on our binaries and on every peer, interleaved in one run

usage: pithos-bench COMMAND [OPTION...]

commands
  all                    js, shell, actors and agents
  js                     start-up, eleven fixtures, six macro and twenty classic programs on the JavaScript engines
  shell                  start-up, loops, expansions, spawning, parsing and a session on the shells
  actors                 W1 to W7 on the actor runtimes, Rust and Python
  agents                 a call, a session, a cell and a hundred sessions through the server
  growth [PART...]       headline workloads at x1, x10 and x100, with slopes (parts: js shell actors)
  record PART...         run a part (cynic, rush, iris, pithos) and append it to bench/log/PART.md and bench/runs
  show FILE              print a stored run again
  compare OLD NEW        how ours changed between two stored runs of one host
  list                   what would take part here, with versions, and the rows

options
  --filter TEXT          only rows whose name contains TEXT
  --peers NAME[,NAME]    only these peers (ours always takes part)
  --runs N               timed runs of each row after one discarded warm-up (default 10)
  --clock wall|cpu       elapsed time, or processor time for busy machines (default wall)
  --timeout SECONDS      kill a process that takes longer (default 20)
  --cpu N                the processor to pin to (default the last; actors are never pinned)
  --json FILE            write the run, every sample included
  --html FILE            write a page with plots
  --root DIR             the tree, when it is not the one around the working directory
  --no-colour            no colour, even on a terminal (NO_COLOR does the same)
  -h, --help             this text
  -V, --version          the version

Ours are taken from target/release, or PITHOS_BENCH_CYNIC, PITHOS_BENCH_RUSH, PITHOS_BENCH_IRIS_RUST,
PITHOS_BENCH_IRIS_PYTHON and PITHOS_BENCH_PITHOS name them. Peers are found where `make bench-peers` puts them, else on PATH.
Shell rows run in a private mount namespace in which all but a scratch folder is read-only.

status: 0, 1 when something failed, 2 when the command line is wrong.
";

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Suites(Vec<Part>),
    Growth(Vec<Part>),
    Record(Vec<Part>),
    Show(PathBuf),
    Compare(PathBuf, PathBuf),
    List,
    Help,
    Version,
    /// Internal: a child of this program that enters the sandbox with the given folder and runs the shells in it.
    ShellWorker(ShellWork, PathBuf),
    /// Internal: spawn `/bin/true` so many times, the floor of the `external` row.
    Spawn(u64),
}

/// What the shells do inside the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellWork {
    Rows,
    Growth,
    /// The split of our own time.
    Split,
}

impl ShellWork {
    /// The word on the worker's command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            ShellWork::Rows => "rows",
            ShellWork::Growth => "growth",
            ShellWork::Split => "split",
        }
    }

    fn parse(word: &str) -> Result<ShellWork, String> {
        let all = [ShellWork::Rows, ShellWork::Growth, ShellWork::Split];
        all.into_iter()
            .find(|work| work.name() == word)
            .ok_or_else(|| format!("no shell work is called {word:?}"))
    }
}

/// A part of the project that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Cynic,
    Rush,
    Iris,
    Pithos,
}

impl Part {
    pub(crate) const ALL: [Part; 4] = [Part::Cynic, Part::Rush, Part::Iris, Part::Pithos];

    /// The part's own name, which is also its log's.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Cynic => "cynic",
            Part::Rush => "rush",
            Part::Iris => "iris",
            Part::Pithos => "pithos",
        }
    }

    fn parse(word: &str) -> Result<Part, String> {
        match word {
            "cynic" | "js" => Ok(Part::Cynic),
            "rush" | "shell" => Ok(Part::Rush),
            "iris" | "actors" => Ok(Part::Iris),
            "pithos" | "agents" => Ok(Part::Pithos),
            _ => Err(format!(
                "no part is called {word:?}: cynic (js), rush (shell), iris (actors) or pithos (agents)"
            )),
        }
    }
}

/// The options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) filter: Option<String>,
    pub(crate) peers: Option<Vec<String>>,
    pub(crate) runs: usize,
    pub(crate) clock: Clock,
    pub(crate) timeout: Duration,
    pub(crate) cpu: Option<usize>,
    pub(crate) json: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
    pub(crate) root: Option<PathBuf>,
    pub(crate) colour: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            filter: None,
            peers: None,
            runs: RUNS_DEFAULT,
            clock: Clock::Wall,
            timeout: PROCESS_TIMEOUT,
            cpu: None,
            json: None,
            html: None,
            root: None,
            colour: true,
        }
    }
}

/// Parses the arguments after the program's name. An error is a message for the user.
pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<(Command, Options), String> {
    use lexopt::prelude::*;
    let mut parser = lexopt::Parser::from_args(arguments);
    let mut options = Options::default();
    let mut words: Vec<String> = Vec::new();
    let text = |error: lexopt::Error| error.to_string();
    while let Some(argument) = parser.next().map_err(text)? {
        match argument {
            Short('h') | Long("help") => return Ok((Command::Help, options)),
            Short('V') | Long("version") => return Ok((Command::Version, options)),
            Long("no-colour" | "no-color") => options.colour = false,
            Long(name) => {
                let name = name.to_owned();
                let value = parser.value().map_err(text)?.string().map_err(text)?;
                set(&mut options, &name, value)?;
            }
            Value(word) => words.push(word.string().map_err(text)?),
            Short(_) => return Err(argument.unexpected().to_string()),
        }
    }
    Ok((command(&words)?, options))
}

fn set(options: &mut Options, name: &str, value: String) -> Result<(), String> {
    match name {
        "filter" => options.filter = Some(value),
        "peers" => options.peers = Some(value.split(',').map(str::to_owned).collect()),
        "runs" => options.runs = number(name, &value, 1, RUNS_MAX)?,
        "timeout" => options.timeout = Duration::from_secs(number(name, &value, 1, 86_400)? as u64),
        "cpu" => options.cpu = Some(number(name, &value, 0, 4096)?),
        "json" => options.json = Some(value.into()),
        "html" => options.html = Some(value.into()),
        "root" => options.root = Some(value.into()),
        "clock" => {
            options.clock = match value.as_str() {
                "wall" => Clock::Wall,
                "cpu" => Clock::Cpu,
                _ => return Err(format!("--clock is wall or cpu, not {value:?}")),
            }
        }
        _ => return Err(format!("there is no option --{name} (see --help)")),
    }
    Ok(())
}

fn number(name: &str, value: &str, min: usize, max: usize) -> Result<usize, String> {
    let parsed = value.parse::<usize>().ok().filter(|n| (min..=max).contains(n));
    parsed.ok_or_else(|| format!("--{name} takes a number from {min} to {max}, not {value:?}"))
}

fn command(words: &[String]) -> Result<Command, String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let parts =
        |rest: &[&str]| rest.iter().map(|word| Part::parse(word)).collect::<Result<Vec<Part>, String>>();
    match words.as_slice() {
        [] | ["help"] => Ok(Command::Help),
        ["all"] => Ok(Command::Suites(Part::ALL.to_vec())),
        ["list"] => Ok(Command::List),
        ["growth"] => Ok(Command::Growth(Part::ALL.to_vec())),
        ["growth", rest @ ..] => Ok(Command::Growth(parts(rest)?)),
        ["record"] => Err("record what? cynic, rush or iris".to_owned()),
        ["record", rest @ ..] => Ok(Command::Record(parts(rest)?)),
        ["show", file] => Ok(Command::Show(file.into())),
        ["compare", old, new] => Ok(Command::Compare(old.into(), new.into())),
        ["__shell", work, scratch] => Ok(Command::ShellWorker(ShellWork::parse(work)?, scratch.into())),
        ["__spawn", count] => Ok(Command::Spawn(count.parse().map_err(|_| "not a count".to_owned())?)),
        rest if rest.iter().all(|word| Part::parse(word).is_ok()) => Ok(Command::Suites(parts(rest)?)),
        [word, ..] => Err(format!("there is no command {word:?} (see --help)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<(Command, Options), String> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn commands() {
        assert_eq!(parsed("js shell").unwrap().0, Command::Suites(vec![Part::Cynic, Part::Rush]));
        assert_eq!(parsed("record rush").unwrap().0, Command::Record(vec![Part::Rush]));
        assert_eq!(parsed("growth actors").unwrap().0, Command::Growth(vec![Part::Iris]));
        assert_eq!(parsed("").unwrap().0, Command::Help);
        assert_eq!(parsed("js --help").unwrap().0, Command::Help);
    }

    #[test]
    fn options() {
        let (_, options) = parsed("js --runs 3 --clock=cpu --filter arith --peers bash,dash").unwrap();
        assert_eq!((options.runs, options.clock), (3, Clock::Cpu));
        assert_eq!(options.peers.unwrap(), ["bash", "dash"]);
    }

    #[test]
    fn mistakes_say_what_is_possible() {
        assert!(parsed("dance").unwrap_err().contains("dance"));
        assert!(parsed("js --runs 0").unwrap_err().contains("from 1 to 1000"));
        assert!(parsed("js --clock sun").unwrap_err().contains("wall or cpu"));
        assert!(parsed("record").unwrap_err().contains("cynic, rush or iris"));
        assert!(parsed("js --nonsense 1").unwrap_err().contains("--nonsense"));
    }

    #[test]
    fn every_option_is_in_the_help() {
        for name in
            ["filter", "peers", "runs", "clock", "timeout", "cpu", "json", "html", "root", "no-colour"]
        {
            assert!(HELP.contains(&format!("--{name}")), "{name}");
        }
    }
}
