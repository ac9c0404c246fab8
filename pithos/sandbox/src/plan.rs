//! A plan: what will be enforced of a policy on this machine, prepared so that a child only has to take it on.

use crate::child::{self, Mounts, Steps};
use crate::denial::{self, Denial};
use crate::environment;
use crate::error::Error;
use crate::filter;
use crate::gitconfig;
use crate::keeper;
use crate::limits::KEEPER_AFTER;
use crate::overlay;
use crate::policy::{
    Access, Context, Namespaces, Network, Policy, ResolvedPolicy, ResourceLimits, UnixSockets,
};
use crate::probe::Machine;
use crate::ruleset;
use crate::watch::{Notice, Watch, Watching};
use serde::Serialize;
use std::ffi::{CString, OsString};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a plan enforces, for results and for `pithos doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Enforcement {
    /// Landlock restricts files.
    pub landlock: bool,
    /// A filter restricts system calls.
    pub seccomp: bool,
    /// All but the writable folders is mounted read-only, so that metadata cannot be changed either.
    pub read_only_mounts: bool,
    /// `/tmp` is the private temporary folder.
    pub private_tmp: bool,
    /// The network is the sandbox's own.
    pub private_network: bool,
    /// `/dev` is the sandbox's own: no terminal and no device of the machine's is in it.
    pub own_devices: bool,
    /// Processes of others are not seen, and with the first process all others end.
    pub own_processes: bool,
    /// Programs have Unix sockets on which programs of the sandbox listen, and no others.
    pub own_sockets: bool,
    /// The paths that the policy protects stay as they are.
    pub protected_paths: bool,
    /// What the policy asks for and is not enforced in full, one sentence each.
    pub gaps: Vec<String>,
}

/// A policy, ready to be applied to commands. Cheap to apply, so keep it for a session.
#[derive(Debug)]
pub struct Plan {
    resolved: ResolvedPolicy,
    environment: Vec<(OsString, OsString)>,
    enforcement: Enforcement,
    pub(crate) steps: Arc<Steps>,
    /// What overlays are made with, where [`Plan::contain`] found that they can be.
    pub(crate) overlays: Option<overlay::Ground>,
    report_in: Arc<PipeWriter>,
    report_out: Mutex<PipeReader>,
    pub(crate) watch: Option<Watch>,
}

impl Plan {
    /// Prepares `policy` for this machine. It is an error when the machine cannot enforce what the policy forbids.
    pub fn prepare(policy: &Policy, context: &Context, machine: &Machine) -> Result<Plan, Error> {
        Plan::prepare_keeping(policy, context, machine, &[])
    }

    /// The same, with descriptors that the program inherits beside the standard ones.
    pub fn prepare_keeping(
        policy: &Policy,
        context: &Context,
        machine: &Machine,
        kept: &[RawFd],
    ) -> Result<Plan, Error> {
        let (resolved, mut steps, enforcement) = prepared(policy, context, machine, kept)?;
        if policy.confine {
            steps.ruleset = Some(ruleset::build(&resolved, machine, false)?);
        }
        Plan::finish(resolved, steps, enforcement, context, machine)
    }

    /// What commands will be confined by that [`Plan::contain`] starts elsewhere: to judge and explain with, not to apply.
    pub fn prepare_shared(policy: &Policy, context: &Context, machine: &Machine) -> Result<Plan, Error> {
        let (resolved, mut steps, mut enforcement) = prepared(policy, context, machine, &[])?;
        enforcement.own_processes = furnish_together(policy, machine, &mut steps, &mut enforcement);
        enforcement.own_devices = steps.mounts.is_some();
        Plan::finish(resolved, steps, enforcement, context, machine)
    }

    /// Prepares `policy` and puts this process's only child into the namespaces, once for all commands to come, which share processes,
    /// terminals, shared memory and network, and get the rest of the policy one by one. This process must have one thread. It is outside
    /// afterwards: it must wait for the child, which dies with it, and do nothing else.
    ///
    /// `store` is the folder for [`Plan::overlaid`]; nothing inside sees it.
    pub fn contain(
        policy: &Policy,
        context: &Context,
        machine: &Machine,
        store: Option<&Path>,
    ) -> Result<Contained, Error> {
        let (mut resolved, mut steps, mut enforcement) = prepared(policy, context, machine, &[])?;
        let together = furnish_together(policy, machine, &mut steps, &mut enforcement);
        enforcement.own_devices = steps.mounts.is_some();
        let store = store.map(c_path).transpose()?;
        let contained = child::contain(&steps, store.as_deref());
        let store = match contained.map_err(|(step, source)| Error::Child { step, source })? {
            child::Side::Outside(child) => return Ok(Contained::Outside { child }),
            child::Side::Inside(store) => store,
        };
        enforcement.own_processes = together;
        resolved.own_devices = enforcement.own_devices;
        resolved.stands_in = enforcement.private_tmp;
        if policy.confine {
            steps.ruleset = Some(ruleset::build(&resolved, machine, enforcement.own_devices)?);
        }
        steps.namespaces = 0;
        let mounts = steps.mounts.take();
        steps.loopback = false;
        let mut plan = Plan::finish(resolved, steps, enforcement, context, machine)?;
        if mounts.is_some() {
            let watched = machine.watching && policy.denials == Watching::All;
            let after = if watched { KEEPER_AFTER } else { Duration::ZERO };
            let nested = plan.resolved.nested.iter().map(std::path::PathBuf::as_path);
            keeper::begin(plan.resolved.protected_below().chain(nested), after)?;
        }
        plan.overlays = store.zip(mounts).map(|(store, mounts)| overlay::Ground::new(store, mounts, machine));
        Ok(Contained::Inside(Box::new(plan)))
    }

    /// The same plan, with other steps and another watch.
    pub(crate) fn with_steps(&self, steps: Steps, watch: Option<Watch>) -> Result<Plan, Error> {
        let (reader, writer) = io::pipe().map_err(Error::Start)?;
        Ok(Plan {
            environment: self.environment.clone(),
            resolved: self.resolved.clone(),
            enforcement: self.enforcement.clone(),
            steps: Arc::new(steps),
            overlays: None,
            report_in: Arc::new(writer),
            report_out: Mutex::new(reader),
            watch,
        })
    }

    fn finish(
        mut resolved: ResolvedPolicy,
        steps: Steps,
        mut enforcement: Enforcement,
        context: &Context,
        machine: &Machine,
    ) -> Result<Plan, Error> {
        let policy = resolved.policy.clone();
        if policy.confine {
            gaps(&resolved, machine, &mut enforcement);
        }
        resolved.stands_in = enforcement.private_tmp;
        resolved.own_devices = enforcement.own_devices;
        let tmp = if enforcement.private_tmp { Path::new("/tmp") } else { resolved.private_tmp.as_path() };
        let (reader, writer) = io::pipe().map_err(Error::Start)?;
        let mut environment = environment::select(&policy, context, tmp);
        if let Some((_, name)) = resolved.copies.first() {
            environment.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
            environment.push(("GIT_CONFIG_GLOBAL".into(), tmp.join(name).into()));
        }
        Ok(Plan {
            environment,
            resolved,
            enforcement,
            steps: Arc::new(steps),
            overlays: None,
            report_in: Arc::new(writer),
            report_out: Mutex::new(reader),
            watch: None,
        })
    }

    /// Gives `command` the plan's environment and confinement. Set its program, arguments, directory and streams as usual,
    /// additional variables after this call. Apply once to each command.
    pub fn apply(&self, command: &mut Command) -> Result<(), Error> {
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        child::install(command, Arc::clone(&self.steps), Arc::clone(&self.report_in), false);
        Ok(())
    }

    /// Watches all commands that are applied and spawned from now on; `report` is called by other threads, for each call that is denied or makes something of a protected name, before the
    /// call goes on. Commands must see the files that this process sees: those of [`Plan::contain`] do, and those without namespaces.
    /// An error when this machine cannot watch; nothing has changed then, and denials are known from what programs say.
    pub fn watch(&mut self, report: impl Fn(Notice) + Send + Sync + 'static) -> Result<(), Error> {
        if !self.resolved.policy.confine || self.resolved.policy.denials == Watching::Off {
            return Ok(());
        }
        self.resolved.own_sockets = self.enforcement.own_sockets;
        let filters = filter::build_watched()?;
        let late = || Error::Rules("commands were prepared before they were to be watched".to_owned());
        let steps = Arc::get_mut(&mut self.steps).ok_or_else(late)?;
        if steps.namespaces != 0 {
            return Err(Error::Rules("commands with namespaces of their own are not watched".to_owned()));
        }
        let (mounts, processes) = (self.enforcement.read_only_mounts, self.enforcement.own_processes);
        match Watch::start(&self.resolved, mounts, processes, Arc::new(report), None) {
            Ok(watch) => self.watch = Some(watch),
            Err(error) => {
                self.resolved.own_sockets = false;
                self.enforcement.own_sockets = false;
                return Err(error);
            }
        }
        steps.filters = filters;
        steps.watched = true;
        Ok(())
    }

    /// Starts a command that `apply` was called on, with an error that says which step failed.
    pub fn spawn(&self, command: &mut Command) -> Result<Child, Error> {
        let started = match &self.watch {
            Some(watch) => watch.spawn(command),
            None => command.spawn(),
        };
        started.map_err(|error| self.explain_failure(error))
    }

    /// What a failed start of a command with this plan was about, for callers that start it themselves.
    pub fn explain_failure(&self, error: io::Error) -> Error {
        let mut report = self.report_out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match child::reported(&mut report) {
            Some(step) => Error::Child { step, source: error },
            None => Error::Start(error),
        }
    }

    /// What is enforced.
    pub fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// The policy with real paths.
    pub fn policy(&self) -> &ResolvedPolicy {
        &self.resolved
    }

    /// Judges a path for code that acts for the program, such as a cell's file functions.
    pub fn check_path(&self, path: &Path, access: Access) -> Result<(), Denial> {
        denial::check_path(&self.resolved, path, access)
    }

    /// The denials that a program's output and status speak of.
    pub fn explain(&self, output: &[u8]) -> Vec<Denial> {
        denial::explain(&self.resolved, output)
    }
}

/// What commands that share their namespaces have besides: devices, and where the machine allows it processes of their own, which is the answer.
fn furnish_together(
    policy: &Policy,
    machine: &Machine,
    steps: &mut Steps,
    enforcement: &mut Enforcement,
) -> bool {
    let Some(mounts) = &mut steps.mounts else { return false };
    mounts.own_devices = true;
    if machine.pid_namespace {
        mounts.own_processes = true;
        mounts.processes_max = policy.limits.processes;
        steps.namespaces |= libc::CLONE_NEWPID;
    }
    if policy.unix_sockets == UnixSockets::Own && machine.pid_namespace && machine.watching {
        // Names of sockets without a path are those of a network, so it must be the sandbox's own even when there is nothing in it.
        if policy.network == Network::Off && machine.network_namespace {
            steps.namespaces |= libc::CLONE_NEWNET;
            enforcement.private_network = true;
        }
        enforcement.own_sockets = enforcement.private_network && policy.denials != Watching::Off;
    }
    machine.pid_namespace
}

/// On which side of [`Plan::contain`] a process is.
pub enum Contained {
    /// Outside: the process that has to wait for this child.
    Outside {
        /// Its id here.
        child: u32,
    },
    /// Inside, with the plan for commands.
    Inside(Box<Plan>),
}

fn prepared(
    policy: &Policy,
    context: &Context,
    machine: &Machine,
    kept: &[RawFd],
) -> Result<(ResolvedPolicy, Steps, Enforcement), Error> {
    let mut resolved = policy.resolve(context)?;
    if policy.confine {
        redact(&mut resolved, policy.namespaces != Namespaces::Off && machine.mount_namespace)?;
    }
    let mut steps = Steps { resource_limits: resource_limits(&policy.limits), ..Steps::default() };
    let mut enforcement = Enforcement {
        landlock: false,
        seccomp: false,
        read_only_mounts: false,
        private_tmp: false,
        private_network: false,
        own_devices: false,
        own_processes: false,
        own_sockets: false,
        protected_paths: resolved.protect.is_empty(),
        gaps: Vec::new(),
    };
    if policy.confine {
        confine(&resolved, machine, &mut steps, &mut enforcement)?;
        steps.close_descriptors = true;
        steps.kept_descriptors = kept.iter().copied().filter(|fd| *fd > 2).collect();
        steps.kept_descriptors.sort_unstable();
    }
    Ok((resolved, steps, enforcement))
}

/// Puts copies without secrets into the private folder. What cannot be copied so is hidden, and where nothing can be mounted, so is what was copied: git finds
/// the copy by `GIT_CONFIG_GLOBAL`.
fn redact(resolved: &mut ResolvedPolicy, mounts: bool) -> Result<(), Error> {
    for path in resolved.redact.clone() {
        let Some(text) = gitconfig::read(&path).and_then(|bytes| String::from_utf8(bytes).ok()) else {
            resolved.hide.push(path);
            continue;
        };
        let Some(kept) = gitconfig::redacted(&text) else { continue };
        let name = format!(".gitconfig-{}", resolved.copies.len());
        let copy = resolved.private_tmp.join(&name);
        std::fs::write(&copy, kept).map_err(|source| Error::Path { path: copy, source })?;
        if !mounts {
            resolved.hide.push(path.clone());
        }
        resolved.copies.push((path, name));
    }
    Ok(())
}

fn confine(
    resolved: &ResolvedPolicy,
    machine: &Machine,
    steps: &mut Steps,
    enforcement: &mut Enforcement,
) -> Result<(), Error> {
    let policy = &resolved.policy;
    if !machine.seccomp {
        return Err(Error::Unenforceable {
            what: "system calls".to_owned(),
            advice: "its kernel or container refuses system call filters; use the preset trusted to run without a sandbox"
                .to_owned(),
        });
    }
    steps.no_new_privileges = true;
    steps.drop_capabilities = true;
    steps.filters = filter::build(policy)?;
    enforcement.landlock = true;
    enforcement.seccomp = true;
    use_namespaces(resolved, machine, steps, enforcement)
}

fn use_namespaces(
    resolved: &ResolvedPolicy,
    machine: &Machine,
    steps: &mut Steps,
    enforcement: &mut Enforcement,
) -> Result<(), Error> {
    let policy = &resolved.policy;
    let wanted = policy.namespaces != Namespaces::Off;
    if policy.namespaces == Namespaces::Require && !(machine.mount_namespace && machine.network_namespace) {
        return Err(unenforceable(
            "namespaces = \"require\"",
            "allow user namespaces, run as root, or set namespaces = \"auto\"",
        ));
    }
    if policy.network == Network::Loopback && !(wanted && machine.network_namespace) {
        return Err(unenforceable(
            "network = \"loopback\"",
            "it needs a network namespace; use \"off\", or \"on\" if reaching everything is acceptable",
        ));
    }
    let user = if machine.user_namespace { libc::CLONE_NEWUSER } else { 0 };
    if wanted && machine.mount_namespace && !resolved.write.iter().any(|path| path == Path::new("/")) {
        steps.namespaces |= user | libc::CLONE_NEWNS | libc::CLONE_NEWIPC;
        steps.mounts = Some(mounts(resolved)?);
        enforcement.read_only_mounts = true;
        enforcement.protected_paths = true;
        enforcement.private_tmp = steps.mounts.as_ref().is_some_and(|mounts| mounts.tmp.is_some());
    }
    // Without sockets a network namespace adds nothing but the time to make it.
    if policy.network == Network::Loopback {
        steps.namespaces |= user | libc::CLONE_NEWNET;
        steps.loopback = true;
        enforcement.private_network = true;
    }
    Ok(())
}

fn unenforceable(what: &str, advice: &str) -> Error {
    Error::Unenforceable { what: what.to_owned(), advice: advice.to_owned() }
}

/// A path as system calls take it.
pub(crate) fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::Policy(format!("{}: a zero byte", path.display())))
}

fn mounts(resolved: &ResolvedPolicy) -> Result<Mounts, Error> {
    // The private folder stands in for /tmp; what the policy allows in there is put back where it was.
    let tmp = Path::new("/tmp");
    let restored = resolved.in_tmp();
    let stands_in = tmp.is_dir()
        && restored.len() <= child::RESTORED_MAX
        && !restored.contains(&tmp)
        && resolved.write.contains(&resolved.private_tmp);
    if stands_in {
        for path in &restored {
            mount_point(&resolved.private_tmp, path)?;
        }
    }
    // Once /tmp is covered, a private folder that is in it has no path of its own any more.
    let covered = |path: &Path| {
        stands_in && path.starts_with(tmp) && !restored.iter().any(|kept| path.starts_with(kept))
    };
    let writable = resolved.write.iter().filter(|path| !covered(path)).map(|path| c_path(path));
    let writable = writable.collect::<Result<Vec<_>, _>>()?;
    // What is covered by the private /tmp is not there to be protected.
    let below: Vec<&Path> = resolved.protected_below().filter(|path| !covered(path)).collect();
    let protected: Vec<&Path> =
        below.iter().copied().filter(|path| path.symlink_metadata().is_ok()).collect();
    let mut pinned: Vec<&Path> = Vec::new();
    for path in &below {
        let folders = path.ancestors().skip(1);
        let below =
            |folder: &&Path| resolved.write.iter().any(|root| *folder != root && folder.starts_with(root));
        pinned.extend(folders.take_while(below));
    }
    pinned.sort_unstable();
    pinned.dedup();
    // Those in folders below pin none of them: a folder that is a mount is one that nothing can be moved out of at once.
    let nested = resolved.nested.iter().map(std::path::PathBuf::as_path).filter(|path| !covered(path));
    let protected: Vec<&Path> = protected.into_iter().chain(nested).collect();
    let c_paths = |paths: &[&Path]| paths.iter().map(|path| c_path(path)).collect::<Result<Vec<_>, _>>();
    let hidden = resolved.hide.iter().map(std::path::PathBuf::as_path).filter(|path| !covered(path));
    let private_tmp = if stands_in { tmp } else { &resolved.private_tmp };
    let replaced = resolved.copies.iter().filter(|(path, _)| !covered(path));
    let replaced = replaced.map(|(path, name)| Ok((c_path(&private_tmp.join(name))?, c_path(path)?)));
    let (hidden_folders, hidden): (Vec<&Path>, Vec<&Path>) = hidden.partition(|path| path.is_dir());
    Ok(Mounts {
        writable,
        tmp: if stands_in { Some(c_path(&resolved.private_tmp)?) } else { None },
        restored: if stands_in { c_paths(&restored)? } else { Vec::new() },
        own_devices: false,
        own_processes: false,
        processes_max: None,
        pinned: c_paths(&pinned)?,
        protected: c_paths(&protected)?,
        hidden: c_paths(&hidden)?,
        hidden_folders: c_paths(&hidden_folders)?,
        replaced: replaced.collect::<Result<_, Error>>()?,
    })
}

/// Something below `private_tmp` on which `path`, which is below `/tmp`, can be mounted.
fn mount_point(private_tmp: &Path, path: &Path) -> Result<(), Error> {
    let at = private_tmp.join(path.strip_prefix("/tmp").unwrap_or(path));
    let made = if path.is_dir() {
        std::fs::create_dir_all(&at)
    } else {
        let folder = at.parent().map_or(Ok(()), std::fs::create_dir_all);
        folder.and_then(|()| std::fs::OpenOptions::new().create(true).append(true).open(&at).map(drop))
    };
    made.map_err(|source| Error::Path { path: at, source })
}

fn gaps(resolved: &ResolvedPolicy, machine: &Machine, enforcement: &mut Enforcement) {
    let (protects, own_sockets) = (enforcement.protected_paths, enforcement.own_sockets);
    let bounded = enforcement.own_processes && machine.processes_bounded;
    let mut gap = |text: &str| enforcement.gaps.push(text.to_owned());
    if !enforcement.read_only_mounts {
        gap(
            "mode, owner and times of files outside can be changed by their owner: no mount namespace is used",
        );
    }
    if !protects {
        gap("protected paths can be changed where a folder above is writable: no mount namespace is used");
    }
    if resolved.more_repositories {
        gap("what git obeys is protected in the first submodules only: there are too many");
    }
    if resolved.more_nested {
        gap("names that are protected in every folder are so in the first folders only: there are too many");
    }
    if !machine.watching && resolved.policy.denials != Watching::Off {
        gap(
            "denials are known from what programs say, and not from the kernel: calls cannot be watched here",
        );
    }
    if machine.landlock_abi < 6 {
        gap("signals reach processes of the same user outside: this kernel's Landlock is older than ABI 6");
    }
    match resolved.policy.unix_sockets {
        UnixSockets::On => gap("services that listen on Unix sockets can be reached"),
        UnixSockets::Own if !own_sockets => gap(
            "programs have no Unix sockets of their own: that needs watched calls, and processes and a network of the sandbox's own",
        ),
        UnixSockets::Own | UnixSockets::Off => {}
    }
    if resolved.policy.limits.processes.is_some() && machine.root && !bounded {
        gap(
            "the number of processes is not bounded: root is exempt from resource limits, and no pid namespace of Linux 6.14 or later is used",
        );
    }
}

fn resource_limits(limits: &ResourceLimits) -> Vec<(u32, u64)> {
    const MEGABYTE: u64 = 1 << 20;
    let megabytes = |value: Option<u64>| value.map(|mb| mb.saturating_mul(MEGABYTE));
    let wanted = [
        (libc::RLIMIT_CPU, limits.cpu_seconds),
        // Not the address space: run-times reserve far more of it than they ever use.
        (libc::RLIMIT_DATA, megabytes(limits.memory_mb)),
        (libc::RLIMIT_NPROC, limits.processes),
        (libc::RLIMIT_NOFILE, limits.open_files),
        (libc::RLIMIT_FSIZE, megabytes(limits.file_size_mb)),
        // A core file is a copy of everything the program knew.
        (libc::RLIMIT_CORE, Some(0)),
    ];
    #[allow(clippy::unnecessary_cast, reason = "the type of a resource differs between C libraries")]
    wanted.into_iter().filter_map(|(resource, limit)| Some((resource as u32, limit?))).collect()
}
