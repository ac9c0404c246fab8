//! Which system calls are asked about, what their arguments mean, and the filter that asks. Data only: what is denied is judged in `judge`.

use super::Watching;
use crate::error::Error;
use crate::filter::{self, SYS_FCHMODAT2};
use crate::policy::Policy;
use seccompiler::{BpfProgram, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};
use std::collections::BTreeMap;

/// Where the flags of an open are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Flags {
    Argument(usize),
    Fixed(i32),
}

/// A path among the arguments: the folder that it starts from, when the call says one, and the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Named(pub(super) Option<usize>, pub(super) usize);

/// What a call does with what its arguments name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Open(Named, Flags),
    Make(Named),
    Remove(Named),
    Rename(Named, Named),
    Link(Named, Named),
    /// Mode, owner, times, extended attributes.
    Attributes(Named, Links),
    Execute(Named),
    /// A socket's own address, or the one it wants to reach: where the address is, and its length.
    Bind(usize, usize),
    Reach(usize, usize),
    Signal,
}

/// Whether a call means a link or what it leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Links {
    Followed,
    Kept,
    /// As the flags in this argument say (`AT_SYMLINK_NOFOLLOW`).
    Argument(usize),
}

impl Links {
    pub(super) fn followed(self, arguments: &[u64; 6]) -> bool {
        match self {
            Links::Followed => true,
            Links::Kept => false,
            Links::Argument(at) => arguments[at] as i32 & libc::AT_SYMLINK_NOFOLLOW == 0,
        }
    }
}

pub(super) struct Call {
    pub(super) number: i64,
    pub(super) name: &'static str,
    pub(super) what: What,
}

const fn call(number: i64, name: &'static str, what: What) -> Call {
    Call { number, name, what }
}

const CREATE: i32 = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
impl Call {
    /// The mode that the call gives a file; none when it gives none.
    pub(super) fn mode(&self, arguments: &[u64; 6]) -> Option<u32> {
        let at = match (self.name, self.what) {
            ("chmod" | "mknod" | "creat", _) => 1,
            ("fchmodat" | "fchmodat2" | "mknodat", _) => 2,
            (_, Open(_, Flags::Argument(flags))) => {
                let given = arguments[flags] as i32;
                filter::MAKING_FLAGS.iter().any(|flag| given & flag != 0).then_some(flags + 1)?
            }
            _ => return None,
        };
        Some(arguments[at] as u32)
    }
}

use What::{Attributes, Bind, Execute, Link, Make, Open, Reach, Remove, Rename, Signal};

const CALLS: [Call; 20] = [
    call(libc::SYS_openat, "openat", Open(Named(Some(0), 1), Flags::Argument(2))),
    call(libc::SYS_truncate, "truncate", Open(Named(None, 0), Flags::Fixed(libc::O_WRONLY))),
    call(libc::SYS_mkdirat, "mkdirat", Make(Named(Some(0), 1))),
    call(libc::SYS_mknodat, "mknodat", Make(Named(Some(0), 1))),
    call(libc::SYS_symlinkat, "symlinkat", Make(Named(Some(1), 2))),
    call(libc::SYS_unlinkat, "unlinkat", Remove(Named(Some(0), 1))),
    call(libc::SYS_renameat2, "renameat2", Rename(Named(Some(0), 1), Named(Some(2), 3))),
    call(libc::SYS_linkat, "linkat", Link(Named(Some(0), 1), Named(Some(2), 3))),
    call(libc::SYS_fchmodat, "fchmodat", Attributes(Named(Some(0), 1), Links::Followed)),
    call(SYS_FCHMODAT2, "fchmodat2", Attributes(Named(Some(0), 1), Links::Argument(3))),
    call(libc::SYS_fchownat, "fchownat", Attributes(Named(Some(0), 1), Links::Argument(4))),
    call(libc::SYS_utimensat, "utimensat", Attributes(Named(Some(0), 1), Links::Argument(3))),
    call(libc::SYS_setxattr, "setxattr", Attributes(Named(None, 0), Links::Followed)),
    call(libc::SYS_removexattr, "removexattr", Attributes(Named(None, 0), Links::Followed)),
    call(libc::SYS_execve, "execve", Execute(Named(None, 0))),
    call(libc::SYS_execveat, "execveat", Execute(Named(Some(0), 1))),
    call(libc::SYS_connect, "connect", Reach(1, 2)),
    call(libc::SYS_sendto, "sendto", Reach(4, 5)),
    call(libc::SYS_bind, "bind", Bind(1, 2)),
    call(libc::SYS_kill, "kill", Signal),
];

/// The same under the names that only older architectures have.
#[cfg(target_arch = "x86_64")]
const OLDER_CALLS: [Call; 16] = [
    call(libc::SYS_open, "open", Open(Named(None, 0), Flags::Argument(1))),
    call(libc::SYS_creat, "creat", Open(Named(None, 0), Flags::Fixed(CREATE))),
    call(libc::SYS_mkdir, "mkdir", Make(Named(None, 0))),
    call(libc::SYS_mknod, "mknod", Make(Named(None, 0))),
    call(libc::SYS_symlink, "symlink", Make(Named(None, 1))),
    call(libc::SYS_unlink, "unlink", Remove(Named(None, 0))),
    call(libc::SYS_rmdir, "rmdir", Remove(Named(None, 0))),
    call(libc::SYS_rename, "rename", Rename(Named(None, 0), Named(None, 1))),
    call(libc::SYS_renameat, "renameat", Rename(Named(Some(0), 1), Named(Some(2), 3))),
    call(libc::SYS_link, "link", Link(Named(None, 0), Named(None, 1))),
    call(libc::SYS_chmod, "chmod", Attributes(Named(None, 0), Links::Followed)),
    call(libc::SYS_chown, "chown", Attributes(Named(None, 0), Links::Followed)),
    call(libc::SYS_lchown, "lchown", Attributes(Named(None, 0), Links::Kept)),
    call(libc::SYS_utime, "utime", Attributes(Named(None, 0), Links::Followed)),
    call(libc::SYS_utimes, "utimes", Attributes(Named(None, 0), Links::Followed)),
    call(libc::SYS_futimesat, "futimesat", Attributes(Named(Some(0), 1), Links::Followed)),
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER_CALLS: [Call; 1] =
    [call(libc::SYS_renameat, "renameat", Rename(Named(Some(0), 1), Named(Some(2), 3)))];

/// What a call of this number does. The filter asks about no others but those that are refused by number and plain arguments.
pub(super) fn find(number: i64) -> Option<&'static Call> {
    CALLS.iter().chain(&OLDER_CALLS).find(|call| call.number == number)
}

/// The filter that asks. Without a pid namespace processes of others can be named, so signals are asked about.
pub(super) fn program(policy: &Policy, own_processes: bool, own_sockets: bool) -> Result<BpfProgram, Error> {
    let mut asked: BTreeMap<i64, Vec<SeccompRule>> = filter::denied(policy, own_sockets)?;
    for call in CALLS.iter().chain(&OLDER_CALLS) {
        let rules = match call.what {
            What::Signal if own_processes => continue,
            // A datagram to where the socket is connected to names no address.
            What::Reach(4, _) => vec![rule(4, SeccompCmpOp::Ne, 0)?],
            Open(_, Flags::Argument(at)) if policy.denials == Watching::Changes => changing(at as u8)?,
            _ => Vec::new(),
        };
        asked.insert(call.number, rules);
    }
    filter::asking(asked)
}

/// An open that writes, creates or cuts.
fn changing(at: u8) -> Result<Vec<SeccompRule>, Error> {
    let bits = [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC];
    bits.iter().map(|bit| rule(at, SeccompCmpOp::MaskedEq(*bit as u64), *bit as u64)).collect()
}

fn rule(argument: u8, operation: SeccompCmpOp, value: u64) -> Result<SeccompRule, Error> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operation, value);
    condition
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .map_err(|error| Error::Rules(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    #[test]
    fn no_call_is_listed_twice_or_refused_as_well() {
        let refused = filter::denied(&Policy::preset(Preset::Workspace), true).unwrap();
        let mut seen = Vec::new();
        for call in CALLS.iter().chain(&OLDER_CALLS) {
            assert!(!seen.contains(&call.number), "{}", call.name);
            assert!(!refused.contains_key(&call.number), "{}", call.name);
            seen.push(call.number);
        }
    }

    #[test]
    fn a_filter_is_made_for_each_way_of_watching() {
        for denials in [Watching::All, Watching::Changes] {
            let policy = Policy { denials, ..Policy::preset(Preset::Workspace) };
            assert!((50..4096).contains(&program(&policy, true, true).unwrap().len()));
        }
    }
}
