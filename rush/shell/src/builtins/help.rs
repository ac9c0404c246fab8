//! `help`: what the builtins, the language's commands and the in-process utilities are, in one sentence each.

use super::options::OptionReader;
use crate::pattern::{Options, Pattern};
use crate::{Bytes, Outcome, Session};

/// Topics that are syntax rather than builtins: name, synopsis, summary.
const SYNTAX: &[(&str, &str, &str)] = &[
    (
        "case",
        "case WORD in [PATTERN [| PATTERN]...) COMMANDS ;;]... esac",
        "Run commands by matching a word.",
    ),
    ("coproc", "coproc [NAME] command [redirections]", "Run a command with pipes to and from it."),
    ("for", "for NAME [in WORDS ... ] ; do COMMANDS; done", "Run commands for each word of a list."),
    ("for ((", "for (( exp1; exp2; exp3 )); do COMMANDS; done", "Run commands while arithmetic says so."),
    ("function", "function name { COMMANDS ; } or name () { COMMANDS ; }", "Define a function."),
    (
        "if",
        "if COMMANDS; then COMMANDS; [ elif COMMANDS; then COMMANDS; ]... [ else COMMANDS; ] fi",
        "Run commands depending on a status.",
    ),
    ("select", "select NAME [in WORDS ... ;] do COMMANDS; done", "Let the user choose words from a menu."),
    ("time", "time [-p] pipeline", "Report the time that a pipeline took."),
    ("until", "until COMMANDS; do COMMANDS-2; done", "Run commands until a test succeeds."),
    ("while", "while COMMANDS; do COMMANDS-2; done", "Run commands while a test succeeds."),
    ("{ ... }", "{ COMMANDS ; }", "Group commands."),
    ("(( ... ))", "(( expression ))", "Evaluate arithmetic."),
    ("[[ ... ]]", "[[ expression ]]", "Test a condition."),
];

/// One sentence for each builtin, sorted by name.
const SUMMARIES: &[(&str, &str)] = &[
    (".", "Run commands from a file in this shell."),
    (":", "Do nothing, successfully."),
    ("[", "Test a condition."),
    ("alias", "Define or show aliases."),
    ("bg", "Let stopped jobs run in the background."),
    ("bind", "Set or show key bindings."),
    ("break", "Leave loops."),
    ("builtin", "Run a builtin even if a function has its name."),
    ("caller", "Show where the running function was called."),
    ("cd", "Change the shell working directory."),
    ("command", "Run a command past functions, or say what a name would run."),
    ("compgen", "Show possible completions."),
    ("complete", "Say how arguments are completed."),
    ("compopt", "Change options of a completion."),
    ("continue", "Go on with the next round of loops."),
    ("declare", "Set attributes and values of variables."),
    ("dirs", "Show the directory stack."),
    ("disown", "Forget jobs without ending them."),
    ("echo", "Write the arguments."),
    ("enable", "Turn builtins on and off."),
    ("eval", "Run the arguments as a command."),
    ("exec", "Replace the shell by a command, or redirect for good."),
    ("exit", "End the shell."),
    ("export", "Pass variables on to commands."),
    ("false", "Do nothing, unsuccessfully."),
    ("fc", "Show or edit and run commands of the history."),
    ("fg", "Bring a job to the foreground."),
    ("getopts", "Parse option arguments."),
    ("hash", "Remember or show where commands are."),
    ("help", "Show what builtins are."),
    ("history", "Show or change the history list."),
    ("jobs", "Show jobs."),
    ("kill", "Send a signal to jobs or processes."),
    ("let", "Evaluate arithmetic."),
    ("local", "Define variables of a function."),
    ("logout", "End a login shell."),
    ("mapfile", "Read lines into an indexed array."),
    ("popd", "Remove directories from the directory stack."),
    ("printf", "Write formatted arguments."),
    ("pushd", "Add directories to the directory stack."),
    ("pwd", "Show the working directory."),
    ("read", "Read a line and split it into variables."),
    ("readarray", "Read lines into an indexed array."),
    ("readonly", "Make variables constant."),
    ("return", "Return from a function."),
    ("set", "Set options and positional parameters, or show variables."),
    ("shift", "Drop positional parameters."),
    ("shopt", "Set or show shell options."),
    ("source", "Run commands from a file in this shell."),
    ("suspend", "Stop the shell until it is continued."),
    ("test", "Test a condition."),
    ("times", "Show processor times."),
    ("trap", "Run commands on signals and other events."),
    ("true", "Do nothing, successfully."),
    ("type", "Say what a name would run."),
    ("typeset", "Set attributes and values of variables."),
    ("ulimit", "Set or show resource limits."),
    ("umask", "Set or show the file mode mask."),
    ("unalias", "Remove aliases."),
    ("unset", "Remove variables and functions."),
    ("wait", "Wait for jobs to end."),
];

struct Topic {
    name: &'static str,
    synopsis: String,
    summary: &'static str,
}

fn topics() -> Vec<Topic> {
    let mut topics: Vec<Topic> = super::BUILTINS
        .iter()
        .map(|b| Topic {
            name: b.name,
            synopsis: format!("{} {}", b.name, b.synopsis).trim_end().to_owned(),
            summary: SUMMARIES.iter().find(|(n, _)| *n == b.name).map_or("", |(_, s)| *s),
        })
        .collect();
    topics.extend(SYNTAX.iter().map(|(name, synopsis, summary)| Topic {
        name,
        synopsis: (*synopsis).to_owned(),
        summary,
    }));
    topics.extend(rush_utilities::names().filter(|name| super::find(name.as_bytes()).is_none()).map(
        |name| {
            let (synopsis, summary) = rush_utilities::help(name);
            Topic { name, synopsis, summary }
        },
    ));
    topics.sort_by_key(|t| t.name);
    topics
}

/// `help [-dms] [pattern ...]`
pub(super) fn run(session: &mut Session, args: &[Bytes]) -> Outcome {
    let mut style = b'l';
    let mut options = OptionReader::new(args, "dms");
    loop {
        match options.next(session) {
            Ok(None) => break,
            Ok(Some(found)) => style = found.letter,
            Err(status) => return Ok(status),
        }
    }
    let topics = topics();
    if options.operands().is_empty() {
        session.write_out(b"rush, a bash-compatible shell. `help NAME' says more about NAME.\n\n");
        for topic in &topics {
            session.write_out(format!(" {}\n", topic.synopsis).as_bytes());
        }
        return Ok(0);
    }
    let mut found = false;
    for word in options.operands() {
        for topic in matching(&topics, word) {
            found = true;
            session.write_out(show(topic, style).as_bytes());
        }
    }
    if let Some(word) = options.operands().last().filter(|_| !found) {
        let tail = b"'.  Try `help help' or `man -k ".as_slice();
        let message =
            [b"no help topics match `", word.as_slice(), tail, word, b"' or `info ", word, b"'."].concat();
        session.builtin_error(b"help", message);
    }
    Ok(i32::from(!found))
}

/// The topics that a word means: by its pattern, else those that begin with it.
fn matching<'t>(topics: &'t [Topic], word: &[u8]) -> Vec<&'t Topic> {
    let pattern = Pattern::compile(word, Options::default());
    let matched: Vec<&Topic> = topics.iter().filter(|t| pattern.matches(t.name.as_bytes())).collect();
    if matched.is_empty() {
        return topics.iter().filter(|topic| topic.name.as_bytes().starts_with(word)).collect();
    }
    matched
}

/// What is said of the builtin `name`.
pub(super) fn text(name: &str) -> String {
    topics().iter().filter(|topic| topic.name == name).map(|topic| show(topic, b'l')).collect()
}

fn show(topic: &Topic, style: u8) -> String {
    let Topic { name, synopsis, summary } = topic;
    match style {
        b'd' => format!("{name} - {summary}\n"),
        b's' => format!("{name}: {synopsis}\n"),
        b'm' => format!("NAME\n    {name} - {summary}\n\nSYNOPSIS\n    {synopsis}\n\n"),
        _ => format!("{name}: {synopsis}\n    {summary}\n"),
    }
}
