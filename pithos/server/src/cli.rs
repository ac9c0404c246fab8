//! The command line: sub-commands, flags, usage errors (status 2).

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use lexopt::Arg::{Long, Short, Value};
use pithos_sandbox::{Policy, Preset};
use pithos_sessions::{Config, Confinement, Manager, Request};

use crate::audit::Audit;
use crate::{demo, http, result, serve};

const USAGE: &str = "\
pithos: the place where agents run things

usage: pithos serve [--http ADDRESS:PORT [--token-file FILE]] [--cwd DIR]
                    [--sandbox POLICY] [--audit FILE]
       pithos run [--timeout SECONDS] [--cwd DIR] [--sandbox POLICY] [--json] COMMAND
       pithos doctor [--json]
       pithos demo
       pithos --version | --help

  serve   an MCP server on standard input and output; it ends with its client and leaves nothing behind;
          --http serves streamable HTTP on a loopback address instead, with a bearer token made at start
  demo    a scripted agent's day against a server of its own, each step with its time
  doctor  what this machine can enforce of a sandbox policy
  run     one command as the server would run it; exits with its status

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
            Value(word) if command.is_none() => command = Some(word.to_string_lossy().into_owned()),
            Value(word) => options.words.push(word.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().into()),
        }
    }
    match command.as_deref() {
        Some("doctor") if options.words.is_empty() => doctor(&options),
        Some("demo") if options.words.is_empty() => demo::run().map_err(Failure::Run),
        Some("serve") if options.words.is_empty() => start(serve(config(&options)?, options)),
        Some("run") if options.words.len() == 1 => start(run(config(&options)?, options)),
        Some("run") => Err(Failure::Usage("run takes one command: quote it".to_string())),
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
    let folder = std::env::temp_dir();
    let (logs, private_tmp) =
        (format!("pithos-{}", std::process::id()), format!("pithos-tmp-{}", std::process::id()));
    let confinement = Confinement {
        policy: policy(options.sandbox.as_deref().unwrap_or(Preset::Workspace.name()))?,
        workspace: cwd,
        private_tmp: folder.join(private_tmp),
        home: std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from),
        environment: std::env::vars_os().collect(),
    };
    Ok(Config { confinement, logs: folder.join(logs) })
}

/// A preset by name, or a policy file.
fn policy(name: &str) -> Result<Policy, Failure> {
    if let Ok(preset) = name.parse::<Preset>() {
        return Ok(Policy::preset(preset));
    }
    let text = std::fs::read_to_string(name).map_err(|error| {
        Failure::Usage(format!("--sandbox {name}: neither a preset (read-only, workspace, trusted) nor a file that can be read: {error}"))
    })?;
    Policy::from_toml(&text).map_err(|error| Failure::Usage(format!("--sandbox {name}: {error}")))
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
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
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
    let report = result::of_job(&manager, &job, result::BUDGET_DEFAULT);
    if options.json {
        println!("{}", report.structured);
    } else {
        print!("{}", report.text);
    }
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}
