//! The command line: sub-commands, flags, usage errors (status 2).

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use lexopt::Arg::{Long, Short, Value};
use pithos_sandbox::{Context, Machine, Policy, Preset, Reach};
use pithos_sessions::limits::CELL_TIMEOUT_MS_MAX;
use pithos_sessions::once::{Program, STATUS_NOT_STARTED};
use pithos_sessions::{Budget, CellRequest, Config, Confinement, Manager, Outcome, Request, Space, Warm};
use pithos_sessions::{err, errln, out, outln};

use crate::console::Rights;
use crate::journal::file::JournalFile;
use crate::journal::{Recorder, replay, show};
use crate::limits::JOURNAL_FINISH;
use crate::servers::Servers;
use crate::{demo, http, inspect, install, once, result, serve, state, tools, top};

/// What it was built of: the release builds of this project say so.
const BUILD: &str = match option_env!("PITHOS_REVISION") {
    Some(revision) => revision,
    None => "built without a revision",
};

const USAGE: &str = "\
pithos: the place where agents run things

usage: pithos serve [--http ADDRESS:PORT [--token-file FILE] [--idle SECONDS] [--console[=act]]]
                    [--cwd DIR] [--sandbox POLICY] [--hosts HOST,...] [--audit FILE [--audit-space BYTES]]
                    [--log-space BYTES] [--checkpoint-space BYTES] [--mcp-config FILE]
       pithos run [--timeout SECONDS] [--cwd DIR] [--sandbox POLICY] [--json [--hosts HOST,...]] COMMAND
       pithos run [--timeout SECONDS] [--cwd DIR] [--sandbox POLICY] -- PROGRAM [ARGUMENT...]
       pithos js [--timeout SECONDS] [--cwd DIR] [--sandbox POLICY] [--json] [--mcp-config FILE]
                 FILE | - | -e CODE
       pithos sessions [--json]
       pithos top [--once] [--json]
       pithos console
       pithos journal [--lines N] [--grep PATTERN] [--json] FILE
       pithos replay [--cwd DIR] [--sandbox POLICY] [--client N] [--cast OUT] FILE
       pithos log [--server PID] [--client N] [--lines N | --grep PATTERN] JOB
       pithos install [CLIENT [--write [--yes]]] [--sandbox POLICY]
       pithos doctor [--json]
       pithos figures [--json]
       pithos demo
       pithos --version | --help

  serve   an MCP server on standard input and output; it ends with its client and leaves nothing behind;
          --http serves streamable HTTP on a loopback address instead, with a bearer token made at start
  demo    a scripted agent's day against a server of its own, each step with its time
  figures what a call, a session and a cell cost here, beside new processes of bash and node
  doctor  what this machine can enforce of a sandbox policy
  run     one command in the sandbox, with this command's own standard streams and its signals; exits with its status,
          124 when its time was over, 125 when it could not be started; --json shows what the tool would answer
  js      one JavaScript program in the isolate of a cell; what it prints comes as it is printed, then its value
  sessions, log   what the servers on this machine hold, and the log of a job of theirs
  top     the same with rates and memory, redrawn every second; once in a pipe
  console the address of the page of each server that was started with --console; it signs in once, within a minute;
          with --console=act people may stop jobs, answer prompts and questions, undo, keep and drop changes on it
  journal what --audit wrote, with what was put aside, one line for each call
  replay  runs the calls of a journal's last server again over the tree as it is, changes nothing, and names the first call whose
          end, output or changed paths are others (status 1); --cast writes a recording for asciinema
  install the configuration that makes an MCP client start pithos; --write puts it into the client's file

  POLICY is read-only, workspace (the default: writes only below the working directory and a private temporary folder, no
  network), trusted, or a file in TOML
  --mcp-config names other MCP servers ({\"mcpServers\": {NAME: {\"command\", \"args\", \"env\"}}}), which run outside of the sandbox:
  cells call their tools as tools.NAME.TOOL(arguments), and this server's own as tools.pithos.TOOL(arguments)
  HOST may be reached through a proxy: NAME, *.NAME, each with or without :PORT, an address or a network, or npm, pypi, crates,
  github, go, debian; ask: the client's person is asked about names that are not listed
";

/// Usage errors end with this status.
const EXIT_USAGE: u8 = 2;

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    match parse_and_run() {
        Ok(code) => code,
        Err(Failure::Usage(message)) => {
            errln!("pithos: {message}\ntry 'pithos --help'");
            ExitCode::from(EXIT_USAGE)
        }
        Err(Failure::Run(message)) => {
            errln!("pithos: {message}");
            ExitCode::FAILURE
        }
        Err(Failure::NotStarted(message)) => {
            errln!("pithos: {message}");
            ExitCode::from(STATUS_NOT_STARTED)
        }
    }
}

enum Failure {
    Usage(String),
    Run(String),
    /// Of `pithos run`, whose own statuses must not look like those of the command.
    NotStarted(String),
}

impl Failure {
    /// What became of a command that was not started.
    fn of_run(self) -> Self {
        match self {
            Self::Run(message) => Self::NotStarted(message),
            other => other,
        }
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

#[derive(Default)]
struct Options {
    cwd: Option<PathBuf>,
    audit: Option<PathBuf>,
    audit_space: Option<u64>,
    mcp_config: Option<PathBuf>,
    http: Option<SocketAddr>,
    token_file: Option<PathBuf>,
    idle: Option<Duration>,
    log_space: Option<u64>,
    checkpoint_space: Option<u64>,
    cast: Option<PathBuf>,
    timeout: Option<Duration>,
    sandbox: Option<String>,
    hosts: Vec<String>,
    json: bool,
    once: bool,
    console: Option<Rights>,
    install: install::Request,
    log: inspect::LogRequest,
    words: Vec<OsString>,
    /// What stands after `--`.
    program: Option<Vec<OsString>>,
    code: Option<String>,
}

fn parse_and_run() -> Result<ExitCode, Failure> {
    let mut parser = lexopt::Parser::from_env();
    let mut command = None;
    let mut options = Options::default();
    loop {
        // What follows is the program's own.
        if command.as_deref() == Some("run")
            && let Some(mut rest) = parser.try_raw_args()
            && rest.next_if(|word| word == "--").is_some()
        {
            options.program = Some(rest.collect());
            break;
        }
        let Some(argument) = parser.next()? else { break };
        match argument {
            Long("help") | Short('h') => {
                out!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            Long("version") | Short('V') => {
                outln!("pithos {} ({BUILD})", env!("CARGO_PKG_VERSION"));
                return Ok(ExitCode::SUCCESS);
            }
            Long("cwd") => options.cwd = Some(parser.value()?.into()),
            Long("mcp-config") => options.mcp_config = Some(parser.value()?.into()),
            Long("audit") => options.audit = Some(parser.value()?.into()),
            Long("http") => options.http = Some(address(&parser.value()?.to_string_lossy())?),
            Long("token-file") => options.token_file = Some(parser.value()?.into()),
            Long("hosts") => {
                options.hosts.extend(parser.value()?.to_string_lossy().split(',').map(str::to_owned));
            }
            Long("idle") => options.idle = Some(seconds("--idle", &parser.value()?.to_string_lossy())?),
            Long("timeout") => {
                options.timeout = Some(seconds("--timeout", &parser.value()?.to_string_lossy())?)
            }
            Long("log-space") => {
                options.log_space = Some(size("--log-space", &parser.value()?.to_string_lossy())?)
            }
            Long("cast") => options.cast = Some(parser.value()?.into()),
            Long("checkpoint-space") => {
                options.checkpoint_space =
                    Some(size("--checkpoint-space", &parser.value()?.to_string_lossy())?)
            }
            Long("audit-space") => {
                options.audit_space = Some(size("--audit-space", &parser.value()?.to_string_lossy())?)
            }
            Long("client") => {
                options.log.client = Some(number("--client", &parser.value()?.to_string_lossy())?)
            }
            Long("sandbox") => options.sandbox = Some(parser.value()?.to_string_lossy().into_owned()),
            Long("json") => options.json = true,
            Long("console") => options.console = Some(rights(parser.optional_value())?),
            Long("once") => options.once = true,
            Long("write") => options.install.write = true,
            Long("yes") => options.install.yes = true,
            Long("server") => {
                options.log.server = Some(number("--server", &parser.value()?.to_string_lossy())?)
            }
            Long("lines") => options.log.lines = Some(number("--lines", &parser.value()?.to_string_lossy())?),
            Long("grep") => options.log.grep = Some(parser.value()?.to_string_lossy().into_owned()),
            Value(word) if command.is_none() => command = Some(word.to_string_lossy().into_owned()),
            Short('e') if command.as_deref() == Some("js") => {
                options.code = Some(text(parser.value()?, "the code")?);
            }
            Value(word) => options.words.push(word),
            other => return Err(other.unexpected().into()),
        }
    }
    match command.as_deref() {
        Some("doctor") if options.words.is_empty() => doctor(&options),
        Some("figures") if options.words.is_empty() => demo::figures::run(options.json).map_err(Failure::Run),
        Some("demo") if options.words.is_empty() => demo::run().map_err(Failure::Run),
        Some("serve") if options.words.is_empty() => start(serve(config(&options)?, options)),
        Some("run") if options.json => {
            let script = match once::program(std::mem::take(&mut options.words), options.program.take()) {
                Ok(Program::Script(script)) => text(script, "the command")?,
                Ok(Program::Words(_)) => {
                    return Err(Failure::Usage("run: --json takes one text for the shell".to_string()));
                }
                Err(message) => return Err(Failure::Usage(message)),
            };
            let config = config(&options).map_err(Failure::of_run)?;
            start(run_as_tool(config, options, script)).map_err(Failure::of_run)
        }
        Some("run") => {
            let program = once::program(std::mem::take(&mut options.words), options.program.take());
            let program = program.map_err(Failure::Usage)?;
            let machine = once::machine();
            let config = config_on(&options, machine, state::make_only).map_err(Failure::of_run)?;
            if !config.confinement.policy.hosts.is_empty() {
                return Err(Failure::Usage(
                    "run: hosts are reached through the proxy of a server, and this form starts none: take --json"
                        .to_string(),
                ));
            }
            Ok(once::run(&config.confinement, &program, options.timeout, &config.passing))
        }
        Some("js") => {
            let code = code_of(&mut options)?;
            start(js(config(&options)?, options, code))
        }
        Some("sessions") if options.words.is_empty() => inspect::sessions(options.json).map_err(Failure::Run),
        Some("console") if options.words.is_empty() => inspect::console().map_err(Failure::Run),
        Some("journal") => match options.words.as_slice() {
            [path] => {
                let choice = show::Choice {
                    lines: options.log.lines,
                    grep: options.log.grep.as_deref(),
                    as_json: options.json,
                };
                show::run(Path::new(path), &choice).map_err(Failure::Run)
            }
            _ => Err(Failure::Usage("journal takes the file that --audit named".to_string())),
        },
        Some("replay") => match options.words.as_slice() {
            [path] => {
                let (path, client, cast) = (PathBuf::from(path), options.log.client, options.cast.clone());
                start(replay::run(config(&options)?, path, client, cast))
            }
            _ => Err(Failure::Usage("replay takes the file that --audit named".to_string())),
        },
        Some("top") if options.words.is_empty() => top::run(options.once, options.json).map_err(Failure::Run),
        Some("log") => match options.words.as_slice() {
            [job] => inspect::show_log(&job.to_string_lossy(), &options.log).map_err(Failure::Run),
            _ => Err(Failure::Usage("log takes one job, like j3".to_string())),
        },
        Some("install") if options.words.len() <= 1 => {
            options.install.client = options.words.pop().map(|word| word.to_string_lossy().into_owned());
            options.install.sandbox = options.sandbox;
            install::run(&options.install).map_err(Failure::Run)
        }
        Some(other) => Err(Failure::Usage(format!("unknown command '{other}'"))),
        None => Err(Failure::Usage("no command was given".to_string())),
    }
}

async fn serve(config: Config, options: Options) -> Result<ExitCode, String> {
    let space = options.audit_space;
    let file = options.audit.map(|path| JournalFile::open(&path, space, &config.confinement)).transpose()?;
    let recorder = Recorder::start(file, &config.confinement.policy.name)?;
    let writer = Arc::clone(&recorder);
    let servers = servers(options.mcp_config.as_deref())?;
    let ended = match options.http {
        Some(address) => {
            let (token_file, idle, console) = (options.token_file, options.idle, options.console);
            http::serve(config, recorder, servers, http::Options { address, token_file, idle, console }).await
        }
        None if options.console.is_some() => {
            Err("--console needs --http: there is no place for a page on standard input and output"
                .to_string())
        }
        None => serve::stdio(config, recorder, servers).await,
    };
    writer.finish(JOURNAL_FINISH);
    ended
}

/// The servers whose tools cells may call.
fn servers(file: Option<&Path>) -> Result<Servers, String> {
    file.map_or_else(|| Ok(Servers::default()), Servers::read)
}

fn number<T: std::str::FromStr>(flag: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Usage(format!("{flag}: '{text}' is no number")))
}

/// A number of bytes: `4096`, `512M`, `16G`.
fn size(flag: &str, text: &str) -> Result<u64, Failure> {
    let wrong = || Failure::Usage(format!("{flag}: '{text}' is no size, like 512M or 16G"));
    let (digits, unit) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    let shift = match unit {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    text.parse().map_err(|_| {
        Failure::Usage(format!("--http: '{text}' is no address with a port, like 127.0.0.1:8080"))
    })
}

fn seconds(flag: &str, text: &str) -> Result<Duration, Failure> {
    let value: f64 =
        text.parse().map_err(|_| Failure::Usage(format!("{flag}: '{text}' is no number of seconds")))?;
    Duration::try_from_secs_f64(value)
        .map_err(|_| Failure::Usage(format!("{flag}: '{text}' is no time: give seconds from 0 on, like 2.5")))
}

fn config(options: &Options) -> Result<Config, Failure> {
    config_on(options, pithos_sandbox::probe(), state::make)
}

fn config_on(
    options: &Options,
    machine: Machine,
    folders: impl FnOnce(&Reach) -> Result<state::Folders, String>,
) -> Result<Config, Failure> {
    let cwd = match &options.cwd {
        Some(folder) => folder.clone(),
        None => std::env::current_dir()
            .map_err(|error| Failure::Run(format!("the working directory: {error}")))?,
    };
    let cwd =
        cwd.canonicalize().map_err(|error| Failure::Run(format!("--cwd {}: {error}", cwd.display())))?;
    if !cwd.is_dir() {
        return Err(Failure::Run(format!("--cwd {}: it is no folder", cwd.display())));
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let mut policy = within_reason(
        policy(options.sandbox.as_deref().unwrap_or(Preset::Workspace.name()), &machine)?,
        &cwd,
        home.as_deref(),
        &machine,
    );
    if !options.hosts.is_empty() {
        policy.hosts.extend(options.hosts.iter().cloned());
        pithos_sandbox::Hosts::parse(&policy.hosts)
            .map_err(|error| Failure::Usage(format!("--hosts: {error}")))?;
    }
    let environment: Vec<_> = std::env::vars_os().collect();
    let reach = if policy.confine {
        policy.reach(&Context {
            workspace: cwd.clone(),
            home: home.clone(),
            private_tmp: PathBuf::new(),
            environment: environment.clone(),
        })
    } else {
        Reach::default()
    };
    let folders = folders(&reach).map_err(Failure::Run)?;
    // What runs outside is not for a session to say either.
    policy.protect.extend(options.mcp_config.as_ref().and_then(|file| file.canonicalize().ok()));
    policy.hide.extend(folders.hidden.iter().cloned());
    policy.protect.extend(folders.hidden);
    let confinement = Confinement {
        policy,
        machine,
        workspace: cwd,
        private_tmp: folders.private_tmp,
        layers: folders.layers,
        home,
        environment,
    };
    let checkpoints = state::checkpoints_of(&folders.checkpoints, &confinement.workspace, "");
    Ok(Config {
        confinement,
        logs: folders.logs,
        control: folders.control,
        checkpoints,
        checkpoint_space: options.checkpoint_space,
        passing: folders.passing,
        space: options.log_space.map_or_else(Space::default, Space::new),
        warm: Warm::default(),
    })
}

/// Where a project would be everything a person has, or the machine, writing below it is not what anybody means who started a server there
/// (clients start theirs where they happen to be): it gets the read-only preset, and says so.
fn within_reason(policy: Policy, workspace: &Path, home: Option<&Path>, machine: &Machine) -> Policy {
    let home = home.and_then(|home| home.canonicalize().ok());
    let whole = workspace.parent().is_none() || home.is_some_and(|home| home.starts_with(workspace));
    // A policy file of that name is somebody's own word.
    if !whole || policy != Policy::preset_on(Preset::Workspace, machine) {
        return policy;
    }
    errln!(
        "pithos: the working directory is {}: sessions may only read there. Start it in a project, or with --cwd PROJECT; if writing \
         everywhere below is meant, give a policy file with write = [\"$workspace\", \"$tmp\"] by --sandbox",
        workspace.display()
    );
    Policy::preset_on(Preset::ReadOnly, machine)
}

/// A preset by name, or a policy file.
fn policy(name: &str, machine: &Machine) -> Result<Policy, Failure> {
    if let Ok(preset) = name.parse::<Preset>() {
        return Ok(Policy::preset_on(preset, machine));
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        Failure::Usage(format!("--sandbox {name}: neither a preset (read-only, workspace, trusted) nor a file that can be read: {error}"))
    })?;
    let mut policy =
        Policy::from_toml(&text).map_err(|error| Failure::Usage(format!("--sandbox {name}: {error}")))?;
    // What a session may do is not for a session to say.
    policy.protect.extend(Path::new(name).canonicalize().ok());
    Ok(policy)
}

/// `pithos doctor`: what this machine can enforce.
fn doctor(options: &Options) -> Result<ExitCode, Failure> {
    let machine = pithos_sandbox::probe();
    let together = pithos_sessions::memory_together();
    if options.json {
        let mut answer = serde_json::to_value(&machine).map_err(|error| Failure::Run(error.to_string()))?;
        answer["memory_together"] = match together {
            Ok(bytes) => serde_json::json!({"bytes_max": bytes}),
            Err(reason) => serde_json::json!({"missing": reason}),
        };
        outln!("{answer}");
    } else {
        out!("{machine}");
        let what = "the memory of all processes together";
        match together {
            Ok(bytes) => outln!("  yes {what:<48} control group, {} MiB", bytes >> 20),
            Err(reason) => outln!("  NO  {what:<48} {reason}"),
        }
    }
    Ok(if machine.can_confine() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn start(work: impl Future<Output = Result<ExitCode, String>>) -> Result<ExitCode, Failure> {
    // One thread: a call passes from task to task a dozen times, and each pass to another thread would cost more than all its work.
    // What blocks goes to the blocking pool.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Run(format!("the event loop: {error}")))?;
    let outcome = runtime.block_on(work).map_err(Failure::Run);
    runtime.shutdown_background();
    outcome
}

/// What the page may do: look, unless it is said.
fn rights(word: Option<OsString>) -> Result<Rights, Failure> {
    match word.as_ref().map(|word| word.to_str()) {
        None | Some(Some("view")) => Ok(Rights::View),
        Some(Some("act")) => Ok(Rights::Act),
        Some(_) => Err(Failure::Usage("--console takes view (the default) or act".to_string())),
    }
}

/// A word that has to be text.
fn text(word: OsString, what: &str) -> Result<String, Failure> {
    word.into_string().map_err(|_| Failure::Usage(format!("{what} is not UTF-8")))
}

/// The code of `pithos js`.
fn code_of(options: &mut Options) -> Result<String, Failure> {
    let usage = || Failure::Usage("js takes one FILE, '-' for standard input, or -e CODE".to_string());
    let bytes = match (std::mem::take(&mut options.words).as_slice(), options.code.take()) {
        ([], Some(code)) => return Ok(code),
        ([name], None) if name == "-" => {
            let mut bytes = Vec::new();
            let read = std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes);
            read.map(|_| bytes).map_err(|error| Failure::Run(format!("standard input: {error}")))?
        }
        ([name], None) => std::fs::read(name).map_err(|error| {
            Failure::Run(format!("{}: {error} (code itself is given with -e)", name.to_string_lossy()))
        })?,
        _ => return Err(usage()),
    };
    let code = String::from_utf8(bytes).map_err(|_| Failure::Run("the program is not UTF-8".to_string()))?;
    // For the system, where the file is a program.
    Ok(if code.starts_with("#!") { format!("//{code}") } else { code })
}

/// `pithos run --json`: what the tool would answer.
async fn run_as_tool(config: Config, options: Options, script: String) -> Result<ExitCode, String> {
    let manager = Manager::start(config).map_err(|error| error.to_string())?;
    // A result without its text says nothing: the streams are in it.
    let request = Request { script, timeout: options.timeout, apart: true, ..Request::default() };
    let job = manager.run(request).await.map_err(|error| error.to_string())?;
    let end = job.ended().await;
    let status = end.as_ref().and_then(|end| end.done.as_ref()).map_or(1, |done| done.status.0);
    let report = result::of_job(&manager, &job, Budget::bytes(result::BUDGET_DEFAULT));
    outln!("{}", report.structured);
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

async fn js(config: Config, options: Options, code: String) -> Result<ExitCode, String> {
    let manager = Manager::start(config).map_err(|error| error.to_string())?;
    let console = if options.json { None } else { Some(Arc::new(standard_streams()?)) };
    // A program is not a call: nobody waits for it but its caller.
    let timeout = options.timeout.or(Some(Duration::from_millis(CELL_TIMEOUT_MS_MAX)));
    let servers = Arc::new(servers(options.mcp_config.as_deref())?);
    // Nobody asked for a journal.
    let recorder = Recorder::start(None, "")?;
    let tools = Some(tools::for_cells(&manager, &servers, &recorder, None));
    let cell = manager.evaluate(CellRequest { code, timeout, console, tools, ..CellRequest::default() });
    let end = cell.ended().await.ok_or("the cell was lost")?;
    let report = result::of_cell(&cell, &end);
    let good = matches!(end.outcome, Outcome::Value { .. });
    if options.json {
        outln!("{}", report.structured);
    } else if !good {
        err!("{}", report.text);
    } else if !matches!(&end.outcome, Outcome::Value { text, json: None } if text == "undefined") {
        out!("{}", report.text);
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Copies of standard output and error.
fn standard_streams() -> Result<[OwnedFd; 2], String> {
    let failed = |error: std::io::Error| format!("standard output: {error}");
    let out = std::io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
    Ok([out, std::io::stderr().as_fd().try_clone_to_owned().map_err(failed)?])
}
