//! The command line: sub-commands, flags, usage errors (status 2).

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use lexopt::Arg::{Long, Short, Value};
use pithos_sandbox::{Machine, Policy, Preset};
use pithos_sessions::{Budget, CellRequest, Config, Confinement, Manager, Outcome, Request};

use crate::audit::Audit;
use crate::{demo, http, inspect, install, result, serve, state};

const USAGE: &str = "\
pithos: the place where agents run things

usage: pithos serve [--http ADDRESS:PORT [--token-file FILE]] [--cwd DIR]
                    [--sandbox POLICY] [--audit FILE]
       pithos run [--timeout SECONDS] [--cwd DIR] [--sandbox POLICY] [--json] COMMAND
       pithos js [--timeout SECONDS] [--cwd DIR] [--sandbox POLICY] [--json] CODE
       pithos sessions [--json]
       pithos log [--server PID] [--lines N | --grep PATTERN] JOB
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
  run     one command as the server would run it; exits with its status
  js      one JavaScript cell as the server would evaluate it
  sessions, log   what the servers on this machine hold, and the log of a job of theirs
  install the configuration that makes an MCP client start pithos; --write puts it into the client's file

  POLICY is read-only, workspace (the default: writes only below the working directory and a private temporary folder, no
  network), trusted, or a file in TOML
";

/// Usage errors end with this status.
const EXIT_USAGE: u8 = 2;

/// Runs the command line of this process.
pub(crate) fn main() -> ExitCode {
    match parse_and_run() {
        Ok(code) => code,
        Err(Failure::Usage(message)) => {
            eprintln!("pithos: {message}\ntry 'pithos --help'");
            ExitCode::from(EXIT_USAGE)
        }
        Err(Failure::Run(message)) => {
            eprintln!("pithos: {message}");
            ExitCode::FAILURE
        }
    }
}

enum Failure {
    Usage(String),
    Run(String),
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
    http: Option<SocketAddr>,
    token_file: Option<PathBuf>,
    timeout: Option<Duration>,
    sandbox: Option<String>,
    json: bool,
    install: install::Request,
    log: inspect::LogRequest,
    words: Vec<String>,
}

fn parse_and_run() -> Result<ExitCode, Failure> {
    let mut parser = lexopt::Parser::from_env();
    let mut command = None;
    let mut options = Options::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => {
                print!("{USAGE}");
                return Ok(ExitCode::SUCCESS);
            }
            Long("version") | Short('V') => {
                println!("pithos {}", env!("CARGO_PKG_VERSION"));
                return Ok(ExitCode::SUCCESS);
            }
            Long("cwd") => options.cwd = Some(parser.value()?.into()),
            Long("audit") => options.audit = Some(parser.value()?.into()),
            Long("http") => options.http = Some(address(&parser.value()?.to_string_lossy())?),
            Long("token-file") => options.token_file = Some(parser.value()?.into()),
            Long("timeout") => options.timeout = Some(seconds(&parser.value()?.to_string_lossy())?),
            Long("sandbox") => options.sandbox = Some(parser.value()?.to_string_lossy().into_owned()),
            Long("json") => options.json = true,
            Long("write") => options.install.write = true,
            Long("yes") => options.install.yes = true,
            Long("server") => {
                options.log.server = Some(number("--server", &parser.value()?.to_string_lossy())?)
            }
            Long("lines") => options.log.lines = Some(number("--lines", &parser.value()?.to_string_lossy())?),
            Long("grep") => options.log.grep = Some(parser.value()?.to_string_lossy().into_owned()),
            Value(word) if command.is_none() => command = Some(word.to_string_lossy().into_owned()),
            Value(word) => options.words.push(word.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().into()),
        }
    }
    match command.as_deref() {
        Some("doctor") if options.words.is_empty() => doctor(&options),
        Some("figures") if options.words.is_empty() => demo::figures::run(options.json).map_err(Failure::Run),
        Some("demo") if options.words.is_empty() => demo::run().map_err(Failure::Run),
        Some("serve") if options.words.is_empty() => start(serve(config(&options)?, options)),
        Some("run") if options.words.len() == 1 => start(run(config(&options)?, options)),
        Some("js") if options.words.len() == 1 => start(js(config(&options)?, options)),
        Some("run" | "js") => Err(Failure::Usage("run and js take one argument: quote it".to_string())),
        Some("sessions") if options.words.is_empty() => inspect::sessions(options.json).map_err(Failure::Run),
        Some("log") => match options.words.as_slice() {
            [job] => inspect::show_log(job, &options.log).map_err(Failure::Run),
            _ => Err(Failure::Usage("log takes one job, like j3".to_string())),
        },
        Some("install") if options.words.len() <= 1 => {
            options.install.client = options.words.pop();
            options.install.sandbox = options.sandbox;
            install::run(&options.install).map_err(Failure::Run)
        }
        Some(other) => Err(Failure::Usage(format!("unknown command '{other}'"))),
        None => Err(Failure::Usage("no command was given".to_string())),
    }
}

async fn serve(config: Config, options: Options) -> Result<ExitCode, String> {
    let audit = Audit::open(options.audit)?;
    match options.http {
        Some(address) => http::serve(config, audit, address, options.token_file).await,
        None => serve::stdio(config, audit).await,
    }
}

fn number<T: std::str::FromStr>(flag: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Usage(format!("{flag}: '{text}' is no number")))
}

fn address(text: &str) -> Result<SocketAddr, Failure> {
    text.parse().map_err(|_| {
        Failure::Usage(format!("--http: '{text}' is no address with a port, like 127.0.0.1:8080"))
    })
}

fn seconds(text: &str) -> Result<Duration, Failure> {
    let value: f64 =
        text.parse().map_err(|_| Failure::Usage(format!("--timeout: '{text}' is no number of seconds")))?;
    Duration::try_from_secs_f64(value).map_err(|error| Failure::Usage(format!("--timeout: {error}")))
}

fn config(options: &Options) -> Result<Config, Failure> {
    let cwd = match &options.cwd {
        Some(folder) => folder.clone(),
        None => std::env::current_dir()
            .map_err(|error| Failure::Run(format!("the working directory: {error}")))?,
    };
    let cwd =
        cwd.canonicalize().map_err(|error| Failure::Run(format!("--cwd {}: {error}", cwd.display())))?;
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let machine = pithos_sandbox::probe();
    let policy = within_reason(
        policy(options.sandbox.as_deref().unwrap_or(Preset::Workspace.name()), &machine)?,
        &cwd,
        home.as_deref(),
        &machine,
    );
    let folders = state::make().map_err(Failure::Run)?;
    let confinement = Confinement {
        policy,
        machine,
        workspace: cwd,
        private_tmp: folders.private_tmp,
        layers: folders.layers,
        home,
        environment: std::env::vars_os().collect(),
    };
    Ok(Config { confinement, logs: folders.logs, control: folders.control, passing: folders.passing })
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
    eprintln!(
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
    if options.json {
        println!("{}", serde_json::to_string(&machine).map_err(|error| Failure::Run(error.to_string()))?);
    } else {
        print!("{machine}");
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

async fn run(config: Config, options: Options) -> Result<ExitCode, String> {
    let manager = Manager::start(config).map_err(|error| error.to_string())?;
    let script = options.words.into_iter().next().unwrap_or_default();
    let request = Request { script, timeout: options.timeout, ..Request::default() };
    let job = manager.run(request).await.map_err(|error| error.to_string())?;
    let end = job.ended().await;
    let status = end.as_ref().and_then(|end| end.done.as_ref()).map_or(1, |done| done.status.0);
    let report = result::of_job(&manager, &job, Budget::bytes(result::BUDGET_DEFAULT));
    if options.json {
        println!("{}", report.structured);
    } else {
        print!("{}", report.text);
    }
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

async fn js(config: Config, options: Options) -> Result<ExitCode, String> {
    let manager = Manager::start(config).map_err(|error| error.to_string())?;
    let code = options.words.into_iter().next().unwrap_or_default();
    let cell = manager.evaluate(CellRequest { code, timeout: options.timeout, ..CellRequest::default() });
    let end = cell.ended().await.ok_or("the cell was lost")?;
    let report = result::of_cell(&cell, &end);
    let good = matches!(end.outcome, Outcome::Value { .. });
    if options.json {
        println!("{}", report.structured);
    } else if good {
        print!("{}", report.text);
    } else {
        eprint!("{}", report.text);
    }
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
