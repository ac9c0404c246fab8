//! Every limit of the sandbox, with its reason.

/// A policy file larger than this is not a policy.
pub const POLICY_BYTES_MAX: usize = 1 << 20;
/// Paths in one list of a policy; each costs a descriptor while a plan is prepared.
pub const PATHS_MAX: usize = 1024;
/// Output that is searched for denials; they are at the end.
pub const EXPLAIN_BYTES_MAX: usize = 256 << 10;
/// Denials in one result; more of them say nothing new.
pub const DENIALS_MAX: usize = 16;
/// The first Landlock ABI that can stop a file from being truncated. Older ones leave a hole that matters.
pub const LANDLOCK_ABI_MIN: u32 = 3;
/// Descriptors that a child is given by default.
pub const OPEN_FILES_DEFAULT: u64 = 4096;
/// Processes and threads of one user in a sandbox by default: enough for a parallel build, too few for a fork bomb.
pub const PROCESSES_DEFAULT: u64 = 2048;
/// The largest file by default, in MB.
pub const FILE_SIZE_MB_DEFAULT: u64 = 16 << 10;
/// What a process may hold of private memory by default, in MB: far beyond what a build takes, far below what ends a machine.
pub const MEMORY_MB_DEFAULT: u64 = 8 << 10;
/// Entries of a policy's `hosts`, and of its `headers`.
pub const HOSTS_MAX: usize = 1024;
/// A git configuration that is served without its secrets; a longer one is hidden.
pub const GIT_CONFIGURATION_BYTES_MAX: u64 = 1 << 20;
/// Text of a watched call's argument; a path is no longer.
pub const WATCHED_TEXT_BYTES_MAX: usize = 4096;
/// Threads that look at calls: each call waits for one, and one does a hundred thousand in a second.
pub const WATCHERS_MAX: usize = 4;
/// Connections that programs wait for at once: to a listener that has no room. More of them get "try again".
pub const CONNECTIONS_WAITING_MAX: usize = 256;
/// Processes above one that was denied something, of which a session is one.
pub const ANCESTORS_MAX: usize = 64;
/// Files whose owner is looked at before a folder is overlaid.
pub const OVERLAY_LOOK_MAX: usize = 200_000;
/// Links on the way to a path; the kernel follows no more either.
pub const LINKS_MAX: usize = 40;
/// Repositories of a work tree (its submodules' among them) whose configuration and hooks are protected one by one.
pub const REPOSITORIES_MAX: usize = 256;
/// Folders of the workspace that are looked into for protected names: some microseconds each, at every start.
pub const NESTED_FOLDERS_MAX: usize = 512;
/// Protected names in folders below that are protected one by one: a mount each.
pub const NESTED_MAX: usize = 64;
/// Folders of one that is renamed that are looked into for such names.
pub const NESTED_MOVED_FOLDERS_MAX: usize = 64;
/// Files of git's configuration that include one another in a chain, and folders in folders of submodules; git has the same bound for the first.
pub const INCLUDES_MAX: usize = 10;
/// While calls are watched, protected paths that change are closed again only after this: most commands have ended by then.
pub const KEEPER_AFTER: std::time::Duration = std::time::Duration::from_millis(50);
/// The longest path that a call can name, and how many names that can be.
pub const PATH_STEPS_MAX: usize = 4096;
