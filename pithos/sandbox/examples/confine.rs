//! Runs a command in a sandbox and says what was enforced and what was denied.
//!
//! `confine [PRESET | POLICY.toml] COMMAND [ARG...]`, or `confine doctor`, or `confine time COMMAND...` for what starting costs.

#![forbid(unsafe_code)]

use pithos_sandbox::{Context, Plan, Policy, Preset, probe};
use std::error::Error;
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

fn plan_of(policy: &Policy, machine: &pithos_sandbox::Machine) -> Result<Plan, pithos_sandbox::Error> {
    let workspace = std::env::current_dir().map_err(pithos_sandbox::Error::Start)?;
    let private_tmp = std::env::temp_dir().join(format!("confine-{}", std::process::id()));
    std::fs::create_dir_all(&private_tmp).map_err(pithos_sandbox::Error::Start)?;
    let home = std::env::var_os("HOME").map(Into::into);
    Plan::prepare(
        policy,
        &Context { workspace, home, private_tmp, environment: std::env::vars_os().collect() },
        machine,
    )
}

fn command(plan: &Plan, words: &[String]) -> Result<Command, Box<dyn Error>> {
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    plan.apply(&mut command)?;
    command.args(arguments);
    Ok(command)
}
