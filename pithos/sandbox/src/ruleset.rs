//! A policy's paths and ports as a Landlock ruleset, ready as a descriptor that a child only has to take on.

use crate::error::Error;
use crate::limits::LANDLOCK_ABI_MIN;
use crate::policy::{Network, ResolvedPolicy, UnixSockets};
use crate::probe::Machine;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Devices that every program may use: they hold nothing and lead nowhere. `/dev/tty` is the terminal of who opens it.
pub(crate) const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
/// Folders of an own `/dev` that are written: shared memory and terminals.
pub(crate) const DEVICE_FOLDERS: [&str; 2] = ["/dev/shm", "/dev/pts"];

/// The newest ABI whose rights are asked for; an older kernel handles what it knows.
const ABI_WANTED: ABI = ABI::V6;

/// The ruleset of a resolved policy.
///
/// Paths are looked up now, so it is built where the mounts of the sandbox are already made, if the process itself is inside: a right
/// to a folder is no right to what is mounted on it. Of the host's `/dev` the harmless devices are named one by one, and nothing else
/// there can be opened: no terminal of anybody, no disk.
pub(crate) fn build(
    resolved: &ResolvedPolicy,
    machine: &Machine,
    own_devices: bool,
) -> Result<OwnedFd, Error> {
    if machine.landlock_abi < LANDLOCK_ABI_MIN {
        return Err(Error::Unenforceable {
            what: "file access".to_owned(),
            advice: format!(
                "it needs Landlock ABI {LANDLOCK_ABI_MIN} (Linux 6.2, with landlock in the `lsm=` list), and this kernel has {}; \
                 use the preset trusted to run without a sandbox",
                if machine.landlock_abi == 0 { "none".to_owned() } else { machine.landlock_abi.to_string() }
            ),
        });
    }
    let created = create(resolved).map_err(|error| Error::Rules(error.to_string()))?;
    let created = add_paths(created, resolved)?;
    let created = add_devices(created, own_devices)?;
    let fd: Option<OwnedFd> = created.into();
    fd.ok_or_else(|| Error::Rules("the kernel gave no ruleset".to_owned()))
}

fn create(resolved: &ResolvedPolicy) -> Result<RulesetCreated, landlock::RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI_WANTED))?
        .scope(Scope::Signal)?;
    if resolved.policy.unix_sockets != UnixSockets::On {
        ruleset = ruleset.scope(Scope::AbstractUnixSocket)?;
    }
    let ports = &resolved.policy.loopback_ports;
    let nets = AccessNet::BindTcp | AccessNet::ConnectTcp;
    match resolved.policy.network {
        Network::On => return ruleset.create(),
        Network::Loopback if ports.is_empty() => return ruleset.create(),
        Network::Off | Network::Loopback => ruleset = ruleset.handle_access(nets)?,
    }
    let mut created = ruleset.create()?;
    if !resolved.policy.hosts.is_empty() {
        created = created.add_rule(NetPort::new(crate::PROXY.port(), AccessNet::ConnectTcp))?;
    }
    for port in ports {
        created = created.add_rule(NetPort::new(*port, nets))?;
    }
    Ok(created)
}

fn add_paths(mut created: RulesetCreated, resolved: &ResolvedPolicy) -> Result<RulesetCreated, Error> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    // Device nodes are never made in a sandbox, and only devices that are listed take control commands.
    let never = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    let change = (AccessFs::from_write(ABI_WANTED) & !never) | look;
    let run = look | AccessFs::Execute;
    for (paths, access) in [(&resolved.read, look), (&resolved.write, change), (&resolved.exec, run)] {
        for path in paths {
            let path = resolved.inside(path);
            created = add_path_but(created, path, access, &resolved.hide)?;
        }
    }
    Ok(created)
}

fn add_devices(mut created: RulesetCreated, own_devices: bool) -> Result<RulesetCreated, Error> {
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate;
    if own_devices {
        created = add_path(created, Path::new("/dev"), AccessFs::ReadDir.into())?;
        let all = AccessFs::from_all(ABI_WANTED) & !(AccessFs::MakeChar | AccessFs::MakeBlock);
        for folder in DEVICE_FOLDERS {
            created = add_path(created, Path::new(folder), all)?;
        }
    }
    for path in DEVICES.map(PathBuf::from).into_iter().filter(|path| path.exists()) {
        created = add_path(created, &path, device)?;
    }
    Ok(created)
}

/// A rule for `path`; where something hidden is below it, rules for everything beside that instead, since a right cannot be taken back
/// further down.
fn add_path_but(
    mut created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
    hidden: &[PathBuf],
) -> Result<RulesetCreated, Error> {
    if hidden.iter().any(|secret| secret == path) {
        return Ok(created);
    }
    // What may be written is the program's own, secrets in there included.
    if access.contains(AccessFs::WriteFile) || !hidden.iter().any(|secret| secret.starts_with(path)) {
        return add_path(created, path, access);
    }
    let failed = |source| Error::Path { path: path.to_owned(), source };
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?.path();
        // Links lead to what has rules of its own, or none.
        if !entry.is_symlink() {
            created = add_path_but(created, &entry, access, hidden)?;
        }
    }
    let list = access & AccessFs::ReadDir;
    if list.is_empty() { Ok(created) } else { add_path(created, path, list) }
}

fn add_path(
    created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, Error> {
    // A right that only folders have is an error on a file.
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI_WANTED) };
    let fd = PathFd::new(path).map_err(|error| Error::Path {
        path: path.to_owned(),
        source: std::io::Error::other(error.to_string()),
    })?;
    created
        .add_rule(PathBeneath::new(fd, access))
        .map_err(|error| Error::Rules(format!("{}: {error}", path.display())))
}
