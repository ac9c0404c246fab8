//! The three policies that most people need, so that a policy file is for the rest.

use crate::limits::{FILE_SIZE_MB_DEFAULT, MEMORY_MB_DEFAULT, OPEN_FILES_DEFAULT, PROCESSES_DEFAULT};
use crate::policy::{Namespaces, Network, Policy, ResourceLimits, UnixSockets};
use crate::probe::Machine;
use std::path::PathBuf;
use std::str::FromStr;

/// A policy by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Look, but change nothing but the private temporary folder; no network.
    ReadOnly,
    /// Work inside the workspace and the private temporary folder; no network. The default of the server.
    Workspace,
    /// No confinement.
    Trusted,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 3] = [Preset::ReadOnly, Preset::Workspace, Preset::Trusted];

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::ReadOnly => "read-only",
            Preset::Workspace => "workspace",
            Preset::Trusted => "trusted",
        }
    }
}

impl FromStr for Preset {
    type Err = String;
    fn from_str(name: &str) -> Result<Preset, String> {
        let known = Preset::ALL.into_iter().find(|preset| preset.name() == name);
        known.ok_or_else(|| format!("no preset is called {name:?}: read-only, workspace or trusted"))
    }
}

/// Where a system keeps its programs and what they need. The rest of the machine, other people's homes and ours but for
/// the tools below, is not read.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/etc",
    "/nix/store",
    "/var/lib/dpkg",
    "/var/cache",
    "/proc",
    "/sys",
];

/// Files of a project that other programs run or obey later, outside the sandbox, and that a session therefore may not change where
/// namespaces can stop it; what git obeys is beside them. What a project is built with (`package.json`, `Makefile`) is not among them: writing that is the work.
const PROTECTED: [&str; 32] = [
    "$workspace/.vscode",
    "$workspace/.idea",
    "$workspace/.envrc",
    "$workspace/.mcp.json",
    "$workspace/.claude",
    "$workspace/.codex",
    "$workspace/.cursor",
    "$workspace/.gemini",
    "$workspace/.windsurf",
    "$workspace/.opencode",
    "$workspace/opencode.json",
    "$workspace/opencode.jsonc",
    "$workspace/.kiro",
    "$workspace/.amazonq",
    "$workspace/.continue",
    "$workspace/.roo",
    "$workspace/.cline",
    "$workspace/.zed",
    "$workspace/.fleet",
    "$workspace/.aider.conf.yml",
    "$workspace/mise.toml",
    "$workspace/.mise.toml",
    "$workspace/.exrc",
    "$workspace/.nvim.lua",
    "$workspace/.dir-locals.el",
    "$workspace/.husky",
    "$workspace/.devcontainer",
    "$workspace/.bashrc",
    "$workspace/.profile",
    "$workspace/.bash_profile",
    "$workspace/.zshrc",
    "$workspace/.zshenv",
];

/// Those of them, and repositories, that are obeyed in whatever folder somebody opens or enters.
const PROTECTED_NAMES: [&str; 24] = [
    ".git",
    ".vscode",
    ".idea",
    ".envrc",
    ".mcp.json",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".windsurf",
    ".opencode",
    ".kiro",
    ".amazonq",
    ".continue",
    ".roo",
    ".cline",
    ".zed",
    ".fleet",
    ".husky",
    ".devcontainer",
    ".exrc",
    ".nvim.lua",
    ".dir-locals.el",
    ".mise.toml",
];

/// Secrets inside folders that are read for their tools.
const HIDDEN: [&str; 11] = [
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "~/.cargo/credentials",
    "~/.cargo/credentials.toml",
    "$CARGO_HOME/credentials",
    "$CARGO_HOME/credentials.toml",
    "~/.local/share/uv/credentials",
];

/// Tool chains that people keep at home, or where a variable says: without them nothing builds.
const HOME_TOOLS: [&str; 22] = [
    "$CARGO_HOME",
    "$RUSTUP_HOME",
    "$GOPATH",
    "$GOROOT",
    "$JAVA_HOME",
    "$VIRTUAL_ENV",
    "$NVM_DIR",
    "$PYENV_ROOT",
    "~/.cargo",
    "~/.rustup",
    "~/.nvm",
    "~/.pyenv",
    "~/.rbenv",
    "~/.sdkman",
    "~/.local/bin",
    "~/.local/lib",
    "~/.local/share/uv",
    "~/.npm",
    "~/.deno",
    "~/.bun",
    "~/go",
    "~/.gitconfig",
];

/// Variables that programs need to find themselves around, and nothing that is a secret.
const ENVIRONMENT: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "TZ",
    "PWD",
    "EDITOR",
    "PAGER",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_TARGET_DIR",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "VIRTUAL_ENV",
    "NVM_DIR",
    "PYENV_ROOT",
    "NODE_PATH",
];

impl Policy {
    /// The policy of a preset on a machine: with a loopback that only its own commands see, where there can be one.
    pub fn preset_on(preset: Preset, machine: &Machine) -> Policy {
        let mut policy = Policy::preset(preset);
        if policy.confine && machine.network_namespace {
            policy.network = Network::Loopback;
        }
        policy
    }

    /// The policy of a preset, as it can be had everywhere.
    pub fn preset(preset: Preset) -> Policy {
        match preset {
            Preset::ReadOnly => confined(preset, &["$tmp"]),
            Preset::Workspace => {
                Policy { unix_sockets: UnixSockets::Own, ..confined(preset, &["$workspace", "$tmp"]) }
            }
            Preset::Trusted => trusted(),
        }
    }
}

fn confined(preset: Preset, write: &[&str]) -> Policy {
    let paths =
        |lists: &[&[&str]]| -> Vec<PathBuf> { lists.concat().into_iter().map(PathBuf::from).collect() };
    Policy {
        name: preset.name().to_owned(),
        read: paths(&[&["$workspace"], &SYSTEM, &HOME_TOOLS]),
        write: paths(&[write]),
        exec: paths(&[&["$workspace", "$tmp"], &SYSTEM, &HOME_TOOLS]),
        protect: paths(&[&PROTECTED]),
        protect_names: PROTECTED_NAMES.map(str::to_owned).to_vec(),
        repositories: paths(&[&["$workspace"]]),
        hide: paths(&[&HIDDEN]),
        redact: vec![PathBuf::from("~/.gitconfig")],
        environment: ENVIRONMENT.map(str::to_owned).to_vec(),
        limits: ResourceLimits {
            memory_mb: Some(MEMORY_MB_DEFAULT),
            processes: Some(PROCESSES_DEFAULT),
            open_files: Some(OPEN_FILES_DEFAULT),
            file_size_mb: Some(FILE_SIZE_MB_DEFAULT),
            ..ResourceLimits::default()
        },
        ..Policy::default()
    }
}

fn trusted() -> Policy {
    let everything = vec![PathBuf::from("/")];
    Policy {
        name: Preset::Trusted.name().to_owned(),
        confine: false,
        read: everything.clone(),
        write: everything.clone(),
        exec: everything,
        network: Network::On,
        unix_sockets: UnixSockets::On,
        environment: vec!["*".to_owned()],
        namespaces: Namespaces::Off,
        ..Policy::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse::<Preset>(), Ok(preset));
            assert_eq!(Policy::preset(preset).name, preset.name());
        }
        assert!("lax".parse::<Preset>().unwrap_err().contains("workspace"));
    }

    #[test]
    fn only_the_workspace_preset_writes_there() {
        let workspace = PathBuf::from("$workspace");
        assert!(!Policy::preset(Preset::ReadOnly).write.contains(&workspace));
        assert!(Policy::preset(Preset::Workspace).write.contains(&workspace));
    }
}
