//! The system calls that a confined program does not have: those that reach into other processes, the kernel's own
//! settings, mounts and namespaces, and those that go round Landlock. A list of what is denied, not of what is allowed:
//! real programs use most of the rest.

use crate::error::Error;
use crate::policy::{Network, Policy, UnixSockets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};
use std::collections::BTreeMap;

/// A call by number, name and the reason why it is denied.
type Row = (i64, &'static str, &'static str);

macro_rules! rows {
    ($($call:ident: $reason:literal,)*) => { [$((libc::$call, stringify!($call), $reason)),*] };
}

/// Denied with "operation not permitted", each with its reason.
const DENIED: [Row; 46] = rows![
    SYS_ptrace: "reads and steers other processes",
    SYS_process_vm_readv: "reads other processes",
    SYS_process_vm_writev: "writes other processes",
    SYS_kcmp: "looks into other processes",
    SYS_pidfd_getfd: "takes descriptors of other processes",
    SYS_mount: "changes the view of files",
    SYS_umount2: "changes the view of files",
    SYS_pivot_root: "changes the view of files",
    SYS_chroot: "changes the view of files",
    SYS_open_tree: "changes the view of files",
    SYS_move_mount: "changes the view of files",
    SYS_fsopen: "changes the view of files",
    SYS_fsconfig: "changes the view of files",
    SYS_fsmount: "changes the view of files",
    SYS_fspick: "changes the view of files",
    SYS_mount_setattr: "changes the view of files",
    SYS_unshare: "makes namespaces, and with them new privileges",
    SYS_setns: "enters namespaces",
    SYS_open_by_handle_at: "opens files without a path",
    SYS_bpf: "loads programs into the kernel",
    SYS_perf_event_open: "observes the whole machine",
    SYS_userfaultfd: "is a tool of kernel exploits",
    SYS_fanotify_init: "observes and blocks other people's files",
    SYS_keyctl: "reads the session's keys",
    SYS_add_key: "writes the session's keys",
    SYS_request_key: "asks for the session's keys",
    SYS_kexec_load: "replaces the kernel",
    SYS_kexec_file_load: "replaces the kernel",
    SYS_init_module: "loads kernel modules",
    SYS_finit_module: "loads kernel modules",
    SYS_delete_module: "unloads kernel modules",
    SYS_reboot: "stops the machine",
    SYS_swapon: "changes the machine",
    SYS_swapoff: "changes the machine",
    SYS_acct: "changes the machine",
    SYS_quotactl: "changes the machine",
    SYS_settimeofday: "sets the clock",
    SYS_clock_settime: "sets the clock",
    SYS_clock_adjtime: "sets the clock",
    SYS_adjtimex: "sets the clock",
    SYS_sethostname: "renames the machine",
    SYS_setdomainname: "renames the machine",
    SYS_syslog: "reads the kernel's messages",
    SYS_vhangup: "takes the terminal away",
    SYS_move_pages: "moves other processes' memory",
    SYS_migrate_pages: "moves other processes' memory",
];

/// Denied as if the kernel did not have them: programs then fall back to calls that are judged.
const ABSENT: [Row; 5] = rows![
    SYS_openat2: "its flags and mode are in memory, where they cannot be judged; openat's can",
    SYS_io_uring_setup: "opens files and sockets out of the filter's sight",
    SYS_io_uring_enter: "opens files and sockets out of the filter's sight",
    SYS_io_uring_register: "opens files and sockets out of the filter's sight",
    SYS_clone3: "its flags cannot be judged; clone's can",
];

/// `clone` with any of these makes a namespace.
const CLONE_NAMESPACES: u64 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP) as u64;

/// Why a system call is denied.
pub(crate) fn reason(number: i64) -> Option<&'static str> {
    row(number).map(|(_, _, reason)| *reason)
}

/// The name of a system call that is denied by its number.
pub(crate) fn name(number: i64) -> Option<&'static str> {
    row(number).map(|(_, name, _)| name.trim_start_matches("SYS_"))
}

fn row(number: i64) -> Option<&'static Row> {
    DENIED.iter().chain(&ABSENT).find(|(denied, ..)| *denied == number)
}

/// The programs for the kernel, to be installed in this order.
pub(crate) fn build(policy: &Policy) -> Result<Vec<BpfProgram>, Error> {
    let mut refused = denied(policy, false)?;
    refused.extend(set_id_modes()?);
    Ok(vec![compile(absent(), libc::ENOSYS)?, foreign_calls(compile(refused, libc::EPERM)?)])
}

/// The same where the filter of a watcher denies the rest, so that each denial is known.
pub(crate) fn build_watched() -> Result<Vec<BpfProgram>, Error> {
    Ok(vec![foreign_calls(compile(absent(), libc::ENOSYS)?)])
}

/// Denies new executable memory, to be installed when all libraries are loaded.
pub(crate) fn build_without_executable_memory() -> Result<BpfProgram, Error> {
    let mut denied = BTreeMap::new();
    let executable = || rules([has_bit(2, libc::PROT_EXEC.cast_unsigned())]);
    for call in [libc::SYS_mmap, libc::SYS_mprotect, libc::SYS_pkey_mprotect] {
        denied.insert(call, executable()?);
    }
    denied.insert(libc::SYS_shmat, rules([has_bit(2, libc::SHM_EXEC.cast_unsigned())])?);
    // One of its flags makes whatever can be read executable.
    denied.insert(libc::SYS_personality, Vec::new());
    Ok(foreign_calls(compile(denied, libc::EPERM)?))
}

fn absent() -> BTreeMap<i64, Vec<SeccompRule>> {
    ABSENT.iter().map(|(number, ..)| (*number, Vec::new())).collect()
}

/// What is denied by number and plain arguments. With `own_sockets` somebody judges each `connect`.
pub(crate) fn denied(policy: &Policy, own_sockets: bool) -> Result<BTreeMap<i64, Vec<SeccompRule>>, Error> {
    let mut denied: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().map(|(number, ..)| (*number, Vec::new())).collect();
    denied.insert(libc::SYS_clone, namespace_rules()?);
    // Characters pushed into a terminal would be typed by whoever reads it next, outside.
    let pushes = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| equal(1, u64::from(request as u32)));
    denied.insert(libc::SYS_ioctl, rules(pushes)?);
    denied.insert(libc::SYS_fchmod, mode_rules(1)?);
    if let Some(sockets) = socket_rules(policy, own_sockets)? {
        denied.insert(libc::SYS_socket, sockets);
    }
    if policy.unix_sockets != UnixSockets::On {
        denied.insert(libc::SYS_socketpair, pair_rules()?);
    }
    Ok(denied)
}

/// Bits of a mode by which a file gives whoever runs it rights of its owner or group. Most users of the machine are not in the sandbox.
pub(crate) const SET_ID_BITS: u32 = libc::S_ISUID | libc::S_ISGID;
/// What makes a file that has a mode among an open's flags.
pub(crate) const MAKING_FLAGS: [i32; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];
/// Not in every C library's bindings.
pub(crate) const SYS_FCHMODAT2: i64 = 452;

/// Calls that take a path and a mode. A watcher judges these by itself.
fn set_id_modes() -> Result<BTreeMap<i64, Vec<SeccompRule>>, Error> {
    let mut all: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for (number, at) in [(libc::SYS_fchmodat, 2), (SYS_FCHMODAT2, 2), (libc::SYS_mknodat, 2)] {
        all.insert(number, mode_rules(at)?);
    }
    all.insert(libc::SYS_openat, opening_rules(2, 3)?);
    #[cfg(target_arch = "x86_64")]
    {
        for (number, at) in [(libc::SYS_chmod, 1), (libc::SYS_mknod, 1), (libc::SYS_creat, 1)] {
            all.insert(number, mode_rules(at)?);
        }
        all.insert(libc::SYS_open, opening_rules(1, 2)?);
    }
    Ok(all)
}

fn has_bit(argument: u8, bit: u32) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bit.into()), bit.into())
}

fn mode_rules(at: u8) -> Result<Vec<SeccompRule>, Error> {
    rules([has_bit(at, libc::S_ISUID), has_bit(at, libc::S_ISGID)])
}

/// Without one of the flags nobody looks at the mode, and it may be anything.
fn opening_rules(flags: u8, mode: u8) -> Result<Vec<SeccompRule>, Error> {
    let mut all = Vec::new();
    for flag in MAKING_FLAGS {
        for bit in [libc::S_ISUID, libc::S_ISGID] {
            let conditions = [has_bit(flags, flag.cast_unsigned()), has_bit(mode, bit)];
            let conditions: Result<Vec<SeccompCondition>, _> = conditions.into_iter().collect();
            all.push(rule(conditions.map_err(|error| Error::Rules(error.to_string()))?)?);
        }
    }
    Ok(all)
}

/// A program that asks its listener about these calls.
pub(crate) fn asking(rules: BTreeMap<i64, Vec<SeccompRule>>) -> Result<BpfProgram, Error> {
    const RETURN: u16 = 0x06;
    let placeholder = SeccompAction::Trace(0);
    let traced = u32::from(placeholder.clone());
    let mut program = compile_to(rules, placeholder)?;
    // The library has no name for this action.
    for instruction in program.iter_mut().filter(|one| one.code == RETURN && one.k == traced) {
        instruction.k = libc::SECCOMP_RET_USER_NOTIF;
    }
    Ok(program)
}

/// One rule for each namespace flag: a mask is compared with one bit at a time.
fn namespace_rules() -> Result<Vec<SeccompRule>, Error> {
    let bits = (0..64).map(|bit| 1u64 << bit).filter(|bit| CLONE_NAMESPACES & bit != 0);
    let conditions =
        bits.map(|bit| SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(bit), bit));
    rules(conditions)
}

/// Which kinds of socket are denied; none when all are allowed. UDP and the like are out of Landlock's reach.
fn socket_rules(policy: &Policy, own_sockets: bool) -> Result<Option<Vec<SeccompRule>>, Error> {
    let other =
        |family: i32| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family as u64);
    let mut allowed = Vec::new();
    match policy.network {
        Network::On => allowed.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]),
        Network::Loopback => allowed.extend([libc::AF_INET, libc::AF_INET6]),
        Network::Off => {}
    }
    let own = own_sockets && policy.unix_sockets == UnixSockets::Own;
    if own || policy.unix_sockets == UnixSockets::On {
        allowed.push(libc::AF_UNIX);
    }
    if allowed.is_empty() {
        return Ok(Some(Vec::new()));
    }
    // All that is none of these: raw packets, VM sockets, kernel crypto and whatever comes next.
    let conditions: Result<Vec<SeccompCondition>, _> = allowed.into_iter().map(other).collect();
    let conditions = conditions.map_err(|error| Error::Rules(error.to_string()))?;
    let mut all = vec![rule(conditions)?];
    if own {
        for condition in not_connected_first()? {
            all.push(rule(vec![family(SeccompCmpOp::Eq)?, condition])?);
        }
    }
    Ok(Some(all))
}

/// Which pairs of sockets are denied. One of a pair of datagrams sends to whatever address its message names, connected or not.
fn pair_rules() -> Result<Vec<SeccompRule>, Error> {
    let mut all = vec![rule(vec![family(SeccompCmpOp::Ne)?])?];
    for condition in not_connected_first()? {
        all.push(rule(vec![condition])?);
    }
    Ok(all)
}

/// One condition for each bit by which a kind of socket is neither SOCK_STREAM (1) nor SOCK_SEQPACKET (5), the two that reach an address
/// by `connect` only. The kernel reads the kind in four bits.
fn not_connected_first() -> Result<[SeccompCondition; 3], Error> {
    let bit = |mask: u64, value: u64| {
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
            .map_err(|error| Error::Rules(error.to_string()))
    };
    Ok([bit(1, 0)?, bit(2, 2)?, bit(8, 8)?])
}

fn family(operation: SeccompCmpOp) -> Result<SeccompCondition, Error> {
    SeccompCondition::new(0, SeccompCmpArgLen::Dword, operation, libc::AF_UNIX as u64)
        .map_err(|error| Error::Rules(error.to_string()))
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, Error> {
    SeccompRule::new(conditions).map_err(|error| Error::Rules(error.to_string()))
}

type Condition = Result<SeccompCondition, seccompiler::BackendError>;

fn equal(argument: u8, value: u64) -> Condition {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn rules(conditions: impl IntoIterator<Item = Condition>) -> Result<Vec<SeccompRule>, Error> {
    let built: Result<Vec<SeccompRule>, _> =
        conditions.into_iter().map(|condition| SeccompRule::new(vec![condition?])).collect();
    built.map_err(|error| Error::Rules(error.to_string()))
}

fn compile(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: i32) -> Result<BpfProgram, Error> {
    compile_to(rules, SeccompAction::Errno(errno.unsigned_abs()))
}

fn compile_to(rules: BTreeMap<i64, Vec<SeccompRule>>, action: SeccompAction) -> Result<BpfProgram, Error> {
    let failed = |error: seccompiler::BackendError| Error::Rules(error.to_string());
    let architecture = std::env::consts::ARCH.try_into().map_err(failed)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, architecture).map_err(failed)?;
    filter.try_into().map_err(failed)
}

/// Puts a check in front of a program that denies the numbers of the x32 ABI, which reach the same calls by other numbers.
fn foreign_calls(program: BpfProgram) -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const RETURN_ERRNO: u32 = 0x0005_0000;
    let statement = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    let mut all = vec![
        // The number of the call is the first word of what a filter sees.
        statement(LOAD_WORD, 0),
        sock_filter { code: JUMP_IF_AT_LEAST, jt: 0, jf: 1, k: X32_BIT },
        statement(RETURN, RETURN_ERRNO | libc::ENOSYS.unsigned_abs()),
    ];
    all.extend(program);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    #[test]
    fn every_preset_compiles() {
        for preset in [Preset::ReadOnly, Preset::Workspace] {
            let programs = build(&Policy::preset(preset)).unwrap();
            assert_eq!(programs.len(), 2);
            assert!(programs.iter().all(|program| program.len() > 5 && program.len() < 4096));
        }
    }

    #[test]
    fn no_call_is_listed_twice() {
        let mut numbers: Vec<i64> = DENIED.iter().chain(&ABSENT).map(|(number, ..)| *number).collect();
        numbers.sort_unstable();
        let listed = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), listed);
        assert!(reason(libc::SYS_ptrace).is_some() && reason(libc::SYS_read).is_none());
    }

    #[test]
    fn sockets_by_network() {
        let sockets = |network, unix_sockets, own| {
            let policy = Policy { network, unix_sockets, ..Policy::default() };
            socket_rules(&policy, own).unwrap().map(|rules| rules.len())
        };
        assert_eq!(sockets(Network::Off, UnixSockets::Off, true), Some(0));
        assert_eq!(sockets(Network::Off, UnixSockets::Own, false), Some(0));
        assert_eq!(sockets(Network::Loopback, UnixSockets::Off, true), Some(1));
        assert_eq!(sockets(Network::Loopback, UnixSockets::Own, false), Some(1));
        assert_eq!(sockets(Network::Loopback, UnixSockets::Own, true), Some(4));
        assert_eq!(sockets(Network::On, UnixSockets::On, true), Some(1));
    }

    #[test]
    fn only_kinds_that_connect_pass_the_bits() {
        let passes = |kind: i32| kind & 1 == 1 && kind & 2 == 0 && kind & 8 == 0;
        let all: Vec<i32> = (0..16).filter(|kind| passes(*kind)).collect();
        assert_eq!(all, [libc::SOCK_STREAM, libc::SOCK_SEQPACKET]);
    }
}
