//! Runs a command in a sandbox and says what was enforced and what was denied.
//!
//! `confine [PRESET | POLICY.toml] COMMAND [ARG...]`, or `confine doctor`, or `confine time COMMAND...` for what starting costs, or
//! `confine together off|loopback SCRIPT` for a script in namespaces that commands share, or
//! `confine watched off|loopback auto|off SCRIPT` for one whose denied calls are printed.

#![forbid(unsafe_code)]

use pithos_sandbox::{
    Contained, Context, Denial, Namespaces, Network, Plan, Policy, Preset, Watching, probe,
};
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let machine = probe();
    match arguments.split_first() {
        Some((word, _)) if word == "doctor" => {
            print!("{machine}");
            Ok(ExitCode::SUCCESS)
        }
        Some((word, rest)) if word == "time" => {
            for preset in [Preset::Trusted, Preset::Workspace] {
                let plan = plan_of(&Policy::preset(preset), &machine)?;
                let start = Instant::now();
                for _ in 0..200 {
                    plan.spawn(command(&plan, rest)?.stdout(Stdio::null()))?.wait()?;
                }
                println!("{}: {} us each", preset.name(), start.elapsed().as_micros() / 200);
            }
            Ok(ExitCode::SUCCESS)
        }
        Some((word, [network, script])) if word == "together" => {
            together(&policy_with(network), script, false, &machine)
        }
        Some((word, [network, namespaces, script])) if word == "watched" => {
            let mut policy = policy_with(network);
            if namespaces == "off" {
                policy.namespaces = Namespaces::Off;
            }
            if std::env::var_os("CONFINE_CHANGES").is_some() {
                policy.denials = Watching::Changes;
            }
            policy.hide.extend(std::env::var_os("CONFINE_HIDE").map(PathBuf::from));
            together(&policy, script, true, &machine)
        }
        Some((policy, rest)) if !rest.is_empty() => {
            let policy = match policy.parse::<Preset>() {
                Ok(preset) => Policy::preset(preset),
                Err(_) => Policy::from_toml(&std::fs::read_to_string(policy)?)?,
            };
            let plan = plan_of(&policy, &machine)?;
            eprintln!("{:?}", plan.enforcement());
            let output = plan.spawn(command(&plan, rest)?.stderr(Stdio::piped()))?.wait_with_output()?;
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            for denial in plan.explain(&output.stderr) {
                eprintln!("denied: {denial:?}");
            }
            Ok(ExitCode::from(output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
        _ => {
            eprintln!(
                "usage: confine doctor | confine time COMMAND... | confine PRESET|POLICY.toml COMMAND..."
            );
            Ok(ExitCode::from(2))
        }
    }
}

fn policy_with(network: &str) -> Policy {
    let network = if network == "loopback" { Network::Loopback } else { Network::Off };
    Policy { network, ..Policy::preset(Preset::Workspace) }
}

fn together(
    policy: &Policy,
    script: &str,
    watched: bool,
    machine: &pithos_sandbox::Machine,
) -> Result<ExitCode, Box<dyn Error>> {
    match Plan::contain(policy, &context()?, machine, None)? {
        Contained::Outside { child } => {
            let status = nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(child.cast_signed()), None)?;
            Ok(match status {
                nix::sys::wait::WaitStatus::Exited(_, status) => ExitCode::from(u8::try_from(status)?),
                _ => ExitCode::FAILURE,
            })
        }
        Contained::Inside(mut plan) => {
            if watched {
                plan.watch(|notice| {
                    let pithos_sandbox::Notice::Refused(refused) = notice else { return };
                    let Denial { kind, subject, how_to_allow, call, .. } = refused.denial;
                    eprintln!("denied\t{kind:?}\t{}\t{subject}\t{how_to_allow}", call.unwrap_or_default());
                })?;
            }
            let mut command = Command::new("/bin/sh");
            plan.apply(&mut command)?;
            let status = plan.spawn(command.args(["-c", script]))?.wait()?;
            Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
        }
    }
}

fn plan_of(policy: &Policy, machine: &pithos_sandbox::Machine) -> Result<Plan, pithos_sandbox::Error> {
    Plan::prepare(policy, &context()?, machine)
}

fn context() -> Result<Context, pithos_sandbox::Error> {
    let workspace = std::env::current_dir().map_err(pithos_sandbox::Error::Start)?;
    let private_tmp = std::env::temp_dir().join(format!("confine-{}", std::process::id()));
    std::fs::create_dir_all(&private_tmp).map_err(pithos_sandbox::Error::Start)?;
    let home = std::env::var_os("HOME").map(Into::into);
    Ok(Context { workspace, home, private_tmp, environment: std::env::vars_os().collect() })
}

fn command(plan: &Plan, words: &[String]) -> Result<Command, Box<dyn Error>> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    plan.apply(&mut command)?;
    command.args(arguments);
    Ok(command)
}
