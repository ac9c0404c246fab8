//! A policy: what a sandboxed program may read, write and execute, reach, see of the environment, and use. It is data,
//! read from TOML; `resolve` gives its paths their meaning on one machine, for one workspace. Enforces nothing itself.

use crate::error::Error;
use crate::hosts::Hosts;
use crate::limits::{PATHS_MAX, POLICY_BYTES_MAX};
use crate::nested::{self, Nested};
use crate::protect::Protected;
use crate::repository;
use crate::watch::Watching;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// What is allowed. Whatever no list names is forbidden.
///
/// A path allows itself and everything below it. `$workspace`, `$tmp` and `~` at its beginning stand for the working
/// directory of the session, its private temporary folder and the home directory, any other `$NAME` for the folder that this variable
/// names (nothing when it is unset or relative); other relative paths are below the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// A name for messages.
    pub name: String,
    /// False turns everything off but the environment list and the resource limits: for people who want no sandbox.
    pub confine: bool,
    /// May be read.
    pub read: Vec<PathBuf>,
    /// May be read, created, changed and removed.
    pub write: Vec<PathBuf>,
    /// May be read and executed.
    pub exec: Vec<PathBuf>,
    /// May not be written although a folder above may: what others run later, outside. Needs a mount namespace.
    pub protect: Vec<PathBuf>,
    /// Names that are protected in every folder below the workspace: what is there stays as it is, and what is made is told.
    pub protect_names: Vec<String>,
    /// Work trees of git. What git obeys of them is protected: configuration and hooks, those of submodules, and the files that lead there.
    pub repositories: Vec<PathBuf>,
    /// Files and folders that may not be read although a folder above may: secrets.
    pub hide: Vec<PathBuf>,
    /// Git configurations that are read without what is secret in them.
    pub redact: Vec<PathBuf>,
    /// What can be reached.
    pub network: Network,
    /// With `network = "loopback"`: only these TCP ports; an empty list allows all of the private loopback.
    pub loopback_ports: Vec<u16>,
    /// With `network = "loopback"`: hosts that are reached through the server's proxy, by name and port; see [`crate::Hosts`].
    pub hosts: Vec<String>,
    /// With `hosts`: headers that the proxy sets, so that no program holds what is in them.
    pub headers: Vec<HeaderRule>,
    /// Unix-domain sockets: many services of a machine listen on them, so that they lead out of the sandbox.
    pub unix_sockets: UnixSockets,
    /// Names of variables that are passed on; `*` at the end stands for any ending. `LD_*` must be named in full.
    pub environment: Vec<String>,
    /// Whether namespaces are used beside Landlock and seccomp.
    pub namespaces: Namespaces,
    /// Which calls are watched, so that denials are known whatever a program says.
    pub denials: Watching,
    /// Whether the server's own JavaScript (cells and actors) may be compiled to machine code. Otherwise its workers deny themselves executable
    /// memory. Programs of sessions are not concerned: they load their code.
    pub executable_memory: bool,
    /// Bounds on resources.
    pub limits: ResourceLimits,
}

impl Default for Policy {
    /// The policy that an empty file has: nothing is allowed.
    fn default() -> Policy {
        Policy {
            name: "custom".to_owned(),
            confine: true,
            read: Vec::new(),
            write: Vec::new(),
            exec: Vec::new(),
            protect: Vec::new(),
            protect_names: Vec::new(),
            repositories: Vec::new(),
            hide: Vec::new(),
            redact: Vec::new(),
            network: Network::Off,
            loopback_ports: Vec::new(),
            hosts: Vec::new(),
            headers: Vec::new(),
            unix_sockets: UnixSockets::Off,
            environment: Vec::new(),
            namespaces: Namespaces::Auto,
            denials: Watching::All,
            executable_memory: false,
            limits: ResourceLimits::default(),
        }
    }
}

/// A header that the proxy sets in requests to a host. Requests inside TLS are not opened, so it is for plain HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderRule {
    /// The host, one of `hosts`, with its port when it is not 80.
    pub host: String,
    /// The header's name; what the program sent under it is taken out.
    pub name: String,
    /// The variable of the server whose value it is.
    pub variable: String,
    /// In front of the value, such as `Bearer `.
    #[serde(default)]
    pub prefix: String,
}

/// What a sandboxed program can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing: no internet sockets at all.
    Off,
    /// A loopback interface of its own, on which its programs find each other and nobody else. Needs a network namespace.
    Loopback,
    /// Everything.
    On,
}

/// Which Unix-domain sockets a program has: `false`, `"own"` or `true` in a policy's text. Pairs of connected sockets everybody has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnixSockets {
    /// None.
    #[default]
    Off,
    /// Those on which a program of the sandbox listens. Needs watched calls, and processes and a network of its own; without them it is `Off`.
    Own,
    /// All, the machine's services among them.
    On,
}

impl Serialize for UnixSockets {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            UnixSockets::Off => serializer.serialize_bool(false),
            UnixSockets::Own => serializer.serialize_str("own"),
            UnixSockets::On => serializer.serialize_bool(true),
        }
    }
}

impl<'de> Deserialize<'de> for UnixSockets {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<UnixSockets, D::Error> {
        struct Values;
        impl serde::de::Visitor<'_> for Values {
            type Value = UnixSockets;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("false, \"own\" or true")
            }
            fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<UnixSockets, E> {
                Ok(if value { UnixSockets::On } else { UnixSockets::Off })
            }
            fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<UnixSockets, E> {
                if value == "own" {
                    return Ok(UnixSockets::Own);
                }
                Err(E::invalid_value(serde::de::Unexpected::Str(value), &self))
            }
        }
        deserializer.deserialize_any(Values)
    }
}

/// The use of namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Namespaces {
    /// Where the machine allows them.
    Auto,
    /// Never; Landlock and seccomp alone.
    Off,
    /// An error where the machine does not allow them.
    Require,
}

/// Bounds on resources; none means the machine's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResourceLimits {
    /// Processor seconds of each process.
    pub cpu_seconds: Option<u64>,
    /// Writable private memory of each process, in MB.
    pub memory_mb: Option<u64>,
    /// Processes and threads of the user. Root outside a user namespace is not bound by it.
    pub processes: Option<u64>,
    /// Open descriptors of each process.
    pub open_files: Option<u64>,
    /// Size of a file that is written, in MB.
    pub file_size_mb: Option<u64>,
    /// Seconds until the whole group is ended, by whoever waits for it.
    pub wall_seconds: Option<u64>,
}

/// A way to use a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Reading it or listing it.
    Read,
    /// Creating, changing or removing it.
    Write,
    /// Executing it.
    Exec,
}

/// What the names in a policy mean here and now. The library reads nothing of this from its own process.
#[derive(Clone, Debug)]
pub struct Context {
    /// The session's working directory.
    pub workspace: PathBuf,
    /// The home directory, when there is one.
    pub home: Option<PathBuf>,
    /// A folder that exists and belongs to the session alone.
    pub private_tmp: PathBuf,
    /// The environment from which the policy picks.
    pub environment: Vec<(OsString, OsString)>,
}

/// How far programs get; see [`Policy::reach`].
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// They write here, and everywhere below.
    pub write: Vec<PathBuf>,
    /// They read, write or execute here, and everywhere below.
    pub all: Vec<PathBuf>,
}

impl Policy {
    /// Reads a policy from TOML. A `preset = "..."` line would be ambiguous and is no key: start from `Policy::preset` in code.
    pub fn from_toml(text: &str) -> Result<Policy, Error> {
        if text.len() > POLICY_BYTES_MAX {
            return Err(Error::Policy(format!("larger than {POLICY_BYTES_MAX} bytes")));
        }
        let policy: Policy = toml::from_str(text).map_err(|error| Error::Policy(error.to_string()))?;
        policy.validate()?;
        Ok(policy)
    }

    /// The policy as TOML.
    pub fn to_toml(&self) -> Result<String, Error> {
        toml::to_string_pretty(self).map_err(|error| Error::Policy(error.to_string()))
    }

    fn validate(&self) -> Result<(), Error> {
        for (name, list) in [
            ("read", &self.read),
            ("write", &self.write),
            ("exec", &self.exec),
            ("protect", &self.protect),
            ("repositories", &self.repositories),
            ("hide", &self.hide),
            ("redact", &self.redact),
        ] {
            if list.len() > PATHS_MAX {
                return Err(Error::Policy(format!("{name} has more than {PATHS_MAX} paths")));
            }
            if list.iter().any(|path| path.as_os_str().is_empty()) {
                return Err(Error::Policy(format!("{name} has an empty path")));
            }
        }
        let is_name =
            |name: &String| !["", ".", ".."].contains(&name.as_str()) && !name.contains(['/', '\0']);
        if self.protect_names.len() > PATHS_MAX || !self.protect_names.iter().all(is_name) {
            return Err(Error::Policy("protect_names has something that is no name of a file".to_owned()));
        }
        if !self.loopback_ports.is_empty() && self.network != Network::Loopback {
            return Err(Error::Policy("loopback_ports are for network = \"loopback\"".to_owned()));
        }
        if !self.hosts.is_empty() && self.network != Network::Loopback {
            return Err(Error::Policy("hosts are for network = \"loopback\"".to_owned()));
        }
        Hosts::parse(&self.hosts).map_err(Error::Policy)?;
        for header in &self.headers {
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            if header.name.is_empty()
                || !header.name.bytes().all(token)
                || header.prefix.contains(['\r', '\n'])
            {
                return Err(Error::Policy(format!("headers has {:?}: no name of a header", header.name)));
            }
            if self.environment.contains(&header.variable) {
                return Err(Error::Policy(format!(
                    "{:?} is to be kept from programs by headers, and environment passes it on",
                    header.variable
                )));
            }
        }
        if let Some(name) = self.environment.iter().find(|name| name.contains('=') || name.is_empty()) {
            return Err(Error::Policy(format!("environment has {name:?}: give names, not assignments")));
        }
        Ok(())
    }

    /// Real paths that programs may write, and those that they may use at all, but for the private temporary folder: what nobody else may keep
    /// anything in.
    pub fn reach(&self, context: &Context) -> Reach {
        let real = |list: &[PathBuf]| -> Vec<PathBuf> {
            let private = |path: &&PathBuf| !path.starts_with("$tmp");
            let paths = list.iter().filter(private).filter_map(|path| absolute(path, context));
            paths.filter_map(|path| path.canonicalize().ok()).collect()
        };
        let write = real(&self.write);
        let all = [write.clone(), real(&self.read), real(&self.exec)].concat();
        Reach { write, all }
    }

    /// Gives the paths their meaning. Paths that do not exist allow nothing and are listed in `missing`.
    pub fn resolve(&self, context: &Context) -> Result<ResolvedPolicy, Error> {
        self.validate()?;
        let mut missing = Vec::new();
        let mut all = |list: &[PathBuf]| -> Vec<PathBuf> {
            let mut found: Vec<PathBuf> = Vec::new();
            for path in list {
                let Some(absolute) = absolute(path, context) else { continue };
                match absolute.canonicalize() {
                    Ok(real) if !found.contains(&real) => found.push(real),
                    Ok(_) => {}
                    Err(_) => missing.push(absolute),
                }
            }
            found
        };
        let (read, write, exec) = (all(&self.read), all(&self.write), all(&self.exec));
        let hide = existing(&self.hide, context);
        let mut protected: Vec<PathBuf> =
            self.protect.iter().filter_map(|path| absolute(path, context)).collect();
        let mut more_repositories = false;
        for tree in self.repositories.iter().filter_map(|path| absolute(path, context)) {
            let obeyed = repository::obeyed(&tree, context.home.as_deref());
            more_repositories |= obeyed.more;
            protected.extend(obeyed.paths);
        }
        let Protected { there: protect, missing: protect_missing } = Protected::of(protected);
        let in_real_folder = |path: &PathBuf| path.parent().is_some_and(Path::is_dir);
        let protect_absent = protect_missing.iter().filter(|path| in_real_folder(path)).cloned().collect();
        let workspace = context
            .workspace
            .canonicalize()
            .map_err(|source| Error::Path { path: context.workspace.clone(), source })?;
        let nested_names: Vec<OsString> = self.protect_names.iter().map(OsString::from).collect();
        let writable = write.iter().any(|root| workspace.starts_with(root));
        let nested = if writable { nested::find(&workspace, &nested_names) } else { Nested::default() };
        let obeyed = nested.trees.iter().flat_map(|tree| repository::obeyed(tree, None).paths);
        let obeyed = Protected::of(obeyed).there.into_iter();
        let in_workspace = |path: &PathBuf| path.starts_with(&workspace) && !protect.contains(path);
        let (nested, more_nested) =
            (nested.paths.into_iter().chain(obeyed.filter(in_workspace)).collect(), nested.more);
        let private_tmp = context
            .private_tmp
            .canonicalize()
            .map_err(|source| Error::Path { path: context.private_tmp.clone(), source })?;
        let stands_in = false;
        Ok(ResolvedPolicy {
            policy: self.clone(),
            read,
            write,
            exec,
            protect,
            protect_absent,
            protect_missing,
            more_repositories,
            nested,
            more_nested,
            nested_names,
            hide,
            redact: existing(&self.redact, context),
            copies: Vec::new(),
            missing,
            home: context.home.clone(),
            workspace,
            private_tmp,
            stands_in,
            own_devices: false,
            own_sockets: false,
        })
    }
}

/// The real paths of those that exist.
fn existing(list: &[PathBuf], context: &Context) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        list.iter().filter_map(|path| absolute(path, context)?.canonicalize().ok()).collect();
    found.sort();
    found.dedup();
    found
}

/// The meaning of one of a policy's paths; none for `~` without a home, or for a variable that names no folder.
fn absolute(path: &Path, context: &Context) -> Option<PathBuf> {
    let mut parts = path.components();
    let first = match parts.next() {
        Some(Component::Normal(first)) => first.to_str().unwrap_or(""),
        _ => "",
    };
    match first {
        "$workspace" => Some(context.workspace.join(parts.as_path())),
        "$tmp" => Some(context.private_tmp.join(parts.as_path())),
        "~" => Some(context.home.as_ref()?.join(parts.as_path())),
        _ if first.starts_with('$') => {
            let name = OsString::from(&first[1..]);
            let (_, value) = context.environment.iter().find(|(known, _)| *known == name)?;
            // A relative one would mean another folder wherever it is looked at.
            let folder = Path::new(value);
            folder.is_absolute().then(|| folder.join(parts.as_path()))
        }
        _ => Some(context.workspace.join(path)),
    }
}

/// A policy whose paths are real.
#[derive(Clone, Debug)]
pub struct ResolvedPolicy {
    /// The policy as it was written.
    pub policy: Policy,
    /// Real paths that may be read.
    pub read: Vec<PathBuf>,
    /// Real paths that may be written.
    pub write: Vec<PathBuf>,
    /// Real paths that may be executed.
    pub exec: Vec<PathBuf>,
    /// Real paths that stay as they are, and links on the way to them.
    pub protect: Vec<PathBuf>,
    /// Protected paths that were not there. No mount can protect them.
    pub protect_missing: Vec<PathBuf>,
    /// Those of them whose folder was there: they are not made. The rest comes with its folder (`git init`), and is only noticed.
    pub protect_absent: Vec<PathBuf>,
    /// There are more submodules than are protected one by one.
    pub(crate) more_repositories: bool,
    /// What there is of `protect_names` below the workspace's folder, which stays as it is too.
    pub(crate) nested: Vec<PathBuf>,
    /// Not every folder was looked into.
    pub(crate) more_nested: bool,
    nested_names: Vec<OsString>,
    /// Real paths of what reads as empty or not at all.
    pub hide: Vec<PathBuf>,
    /// Real paths of git configurations that are read without their secrets.
    pub redact: Vec<PathBuf>,
    /// What stands in for those that have secrets: the path, and the name of its copy in the private folder. A plan makes them.
    pub(crate) copies: Vec<(PathBuf, String)>,
    /// Paths of the policy that do not exist.
    pub missing: Vec<PathBuf>,
    /// The home directory, when there is one.
    pub home: Option<PathBuf>,
    /// The real working directory.
    pub workspace: PathBuf,
    /// The real private temporary folder.
    pub private_tmp: PathBuf,
    /// Whether the program sees the private temporary folder as `/tmp`; a plan decides that.
    pub(crate) stands_in: bool,
    /// Whether `/dev` is the sandbox's own; a plan decides that.
    pub(crate) own_devices: bool,
    /// Whether Unix sockets can be had that lead nowhere but inside; a plan decides that.
    pub(crate) own_sockets: bool,
}

impl ResolvedPolicy {
    /// Where a path of the program is outside: relative ones below the workspace, `/tmp` where the private folder really is.
    pub fn host_path(&self, path: &Path) -> PathBuf {
        let full = self.workspace.join(path);
        match full.strip_prefix("/tmp") {
            Ok(rest)
                if self.stands_in
                    && !full.starts_with(&self.private_tmp)
                    && !self.in_tmp().iter().any(|kept| full.starts_with(kept)) =>
            {
                self.private_tmp.join(rest)
            }
            _ => full,
        }
    }

    /// What the policy allows below `/tmp` besides the private folder: folders before what is below them, which is left out.
    pub(crate) fn in_tmp(&self) -> Vec<&Path> {
        let all = self.read.iter().chain(&self.write).chain(&self.exec).chain([&self.workspace]);
        let mut found: Vec<&Path> = all
            .map(PathBuf::as_path)
            .filter(|path| path.starts_with("/tmp") && !path.starts_with(&self.private_tmp))
            .collect();
        found.sort_unstable();
        found.dedup_by(|later, earlier| later.starts_with(*earlier));
        found
    }

    /// Whether a real path, or a folder above it, is protected, there or not, in a folder that may otherwise be written.
    pub fn protects(&self, real: &Path) -> bool {
        let above = |list: &[PathBuf]| list.iter().any(|one| real.starts_with(one));
        above(&self.protect) || above(&self.protect_missing) || above(&self.nested)
    }

    /// Whether something protected that is there, or that could be made there, would go with what is at a real path.
    pub fn holds_protected(&self, real: &Path) -> bool {
        self.protect.iter().chain(&self.protect_absent).chain(&self.nested).any(|one| one.starts_with(real))
    }

    /// What a real path is, or is below, of the names that are protected in every folder: its part up to that name.
    pub fn nested_name(&self, real: &Path) -> Option<PathBuf> {
        nested::within(&self.workspace, &self.nested_names, real)
    }

    /// Something of these names that comes to be when a folder is moved to a real path.
    pub fn nested_in_moved(&self, folder: &Path, to: &Path) -> Option<PathBuf> {
        self.nested_name(&to.join(nested::carried(folder, &self.nested_names)?))
    }

    /// Protected paths in folders that may be written: those that are there, and those that are not although their folder is.
    pub(crate) fn protected_below(&self) -> impl Iterator<Item = &Path> {
        let paths = self.protect.iter().chain(&self.protect_absent).map(PathBuf::as_path);
        paths.filter(|path| self.write.iter().any(|root| *path != root && path.starts_with(root)))
    }

    /// Where this process finds a real path of the host, when it is inside itself: what stands in for `/tmp` is there.
    pub(crate) fn inside<'a>(&self, path: &'a Path) -> &'a Path {
        let covered = self.own_devices && self.stands_in && path == self.private_tmp;
        if covered && path.starts_with("/tmp") { Path::new("/tmp") } else { path }
    }

    /// The real path outside of a path of the program.
    pub(crate) fn real_path(&self, path: &Path) -> PathBuf {
        real_path(&self.host_path(path))
    }

    /// Whether `path` may be used so. Symbolic links are followed, as the kernel does; a path that does not exist yet is
    /// judged by the nearest folder that does.
    pub fn allows(&self, path: &Path, access: Access) -> bool {
        if !self.policy.confine {
            return true;
        }
        let real = self.real_path(path);
        let below = |list: &[PathBuf]| list.iter().any(|allowed| real.starts_with(allowed));
        let device = crate::ruleset::DEVICES.iter().any(|device| Path::new(device) == real)
            || self.own_devices
                && crate::ruleset::DEVICE_FOLDERS.iter().any(|folder| real.starts_with(folder));
        match access {
            _ if below(&self.hide) => false,
            Access::Read => device || below(&self.read) || below(&self.write) || below(&self.exec),
            Access::Write => {
                let kept = [&self.protect, &self.protect_absent, &self.nested];
                device || below(&self.write) && !kept.into_iter().any(|list| below(list))
            }
            Access::Exec => below(&self.exec),
        }
    }
}

/// `path` with every symbolic link followed as far as it exists, and `..` taken away from the rest.
fn real_path(path: &Path) -> PathBuf {
    let mut rest: Vec<OsString> = Vec::new();
    let mut at = path.to_owned();
    loop {
        if let Ok(real) = at.canonicalize() {
            return rest.iter().rev().fold(real, |mut real, part| {
                if part == ".." {
                    real.pop();
                } else {
                    real.push(part);
                }
                real
            });
        }
        let last = at.components().next_back().map(|part| part.as_os_str().to_owned());
        match (last, at.parent().map(Path::to_owned)) {
            (Some(last), Some(parent)) => {
                rest.push(last);
                at = parent;
            }
            _ => return path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    fn context(folder: &str) -> Context {
        let workspace =
            std::env::temp_dir().join(format!("pithos-sandbox-policy-{folder}-{}", std::process::id()));
        std::fs::create_dir_all(workspace.join("inside")).unwrap();
        Context { private_tmp: workspace.join("inside"), workspace, home: None, environment: Vec::new() }
    }

    #[test]
    fn toml_both_ways() {
        let policy = Policy::preset(Preset::Workspace);
        assert_eq!(Policy::from_toml(&policy.to_toml().unwrap()).unwrap(), policy);
        let written =
            "read = [\"/usr\"]\nnetwork = \"loopback\"\nloopback_ports = [8080]\n[limits]\nmemory_mb = 512\n";
        let policy = Policy::from_toml(written).unwrap();
        assert_eq!((policy.network, policy.limits.memory_mb), (Network::Loopback, Some(512)));
        assert!(policy.write.is_empty() && policy.confine);
        for (text, value) in
            [("false", UnixSockets::Off), ("\"own\"", UnixSockets::Own), ("true", UnixSockets::On)]
        {
            let policy = Policy::from_toml(&format!("unix_sockets = {text}")).unwrap();
            assert_eq!(policy.unix_sockets, value);
            assert_eq!(Policy::from_toml(&policy.to_toml().unwrap()).unwrap(), policy);
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Policy::from_toml(text).unwrap_err().to_string();
        assert!(error("raed = []").contains("raed"));
        assert!(error("network = \"maybe\"").contains("maybe"));
        assert!(error("loopback_ports = [1]").contains("network = \"loopback\""));
        assert!(error("environment = [\"A=b\"]").contains("not assignments"));
        assert!(error("read = [\"\"]").contains("empty path"));
        assert!(error("unix_sockets = \"all\"").contains("own"));
        assert!(error("unix_sockets = 1").contains("own"));
    }

    #[test]
    fn a_variable_stands_for_the_folder_that_it_names() {
        let mut context = context("variable");
        let folder = context.workspace.clone().into_os_string();
        context.environment = vec![("TOOLS".into(), folder), ("NEAR".into(), "inside".into())];
        let named = ["$TOOLS/inside", "$NEAR", "$UNSET", "$TOOLS/absent"];
        let policy = Policy { read: named.map(PathBuf::from).to_vec(), ..Policy::default() };
        let resolved = policy.resolve(&context).unwrap();
        let workspace = context.workspace.canonicalize().unwrap();
        assert_eq!(resolved.read, [workspace.join("inside")]);
        assert_eq!(resolved.missing, [context.workspace.join("absent")]);
        std::fs::remove_dir_all(&context.workspace).unwrap();
    }

    #[test]
    fn paths_are_real_before_they_are_judged() {
        let context = context("real");
        let link = context.workspace.join("link");
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink("/etc", &link).unwrap();
        let policy =
            Policy { write: vec!["$workspace".into()], read: vec!["/nowhere".into()], ..Policy::default() };
        let resolved = policy.resolve(&context).unwrap();
        assert_eq!(resolved.missing, [PathBuf::from("/nowhere")]);
        assert!(resolved.allows(Path::new("new/file"), Access::Write));
        assert!(!resolved.allows(Path::new("link/passwd"), Access::Write));
        assert!(!resolved.allows(Path::new("../other"), Access::Write));
        assert!(!resolved.allows(Path::new("new/../../other"), Access::Write));
        assert!(!resolved.allows(Path::new("inside"), Access::Exec));
        assert!(resolved.allows(Path::new("/dev/null"), Access::Write));
        std::fs::remove_dir_all(&context.workspace).unwrap();
    }
}
