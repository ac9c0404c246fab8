//! Users, groups and the host. The user data base is read from the file, because looking it up through the C
//! library would load its modules.

use crate::Bytes;

/// The user id.
pub fn user_id() -> u32 {
    // SAFETY: cannot fail.
    unsafe { libc::getuid() }
}

/// The effective user id.
pub fn effective_user_id() -> u32 {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether the process acts as another user or group than who started it.
pub fn has_borrowed_privilege() -> bool {
    // SAFETY: cannot fail.
    unsafe { libc::geteuid() != libc::getuid() || libc::getegid() != libc::getgid() }
}

/// Makes the effective (and so the saved) user and group the real ones; nothing to do where they are.
pub fn drop_privilege() -> Result<(), i32> {
    if !has_borrowed_privilege() {
        return Ok(());
    }
    // SAFETY: sets the process's own ids; the group goes first, while there may be the right to.
    let done = unsafe {
        let (user, group) = (libc::getuid(), libc::getgid());
        libc::setregid(group, group) == 0 && libc::setreuid(user, user) == 0
    };
    if done && !has_borrowed_privilege() { Ok(()) } else { Err(super::errno()) }
}

/// The groups of the process, the effective one first.
pub fn groups() -> Vec<u32> {
    // SAFETY: with a size of 0 nothing is written; the second call has room for the number the first one gave.
    unsafe {
        let mut out = vec![libc::getegid()];
        let count = libc::getgroups(0, std::ptr::null_mut());
        let mut list = vec![0; count.max(0) as usize];
        let got = libc::getgroups(count, list.as_mut_ptr());
        list.truncate(got.max(0) as usize);
        out.extend(list.into_iter().filter(|g| *g != out[0]).collect::<Vec<_>>());
        out
    }
}

/// The fields of the data base line that `test` accepts.
fn find_user(test: impl Fn(&[&[u8]]) -> bool) -> Option<Vec<Bytes>> {
    let text = std::fs::read("/etc/passwd").ok()?;
    text.split(|b| *b == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|b| *b == b':').collect();
        (fields.len() >= 7 && test(&fields)).then(|| fields.iter().map(|f| f.to_vec()).collect())
    })
}

/// The home directory of `user`, or of the process's user.
pub fn home_directory(user: Option<&[u8]>) -> Option<Bytes> {
    let fields = match user {
        Some(user) => find_user(|f| f[0] == user),
        None => {
            let id = user_id().to_string().into_bytes();
            find_user(|f| f[2] == id)
        }
    };
    fields.map(|f| f[5].clone())
}

/// The login shell of the process's user.
pub fn login_shell() -> Option<Bytes> {
    let id = user_id().to_string().into_bytes();
    find_user(|f| f[2] == id).map(|f| f[6].clone())
}

/// The name of the process's user.
pub fn user_name() -> Bytes {
    let id = effective_user_id().to_string().into_bytes();
    match find_user(|f| f[2] == id) {
        Some(fields) => fields[0].clone(),
        None => b"I have no name!".to_vec(),
    }
}

/// The host's name.
pub fn host_name() -> Bytes {
    let mut buffer = vec![0u8; 256];
    // SAFETY: the pointer and length are of a live buffer.
    unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len()) };
    let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
    buffer.truncate(end);
    buffer
}
