//! Where the daemon's socket is, and that nobody else can have put it there: a socket of mode 0600 in a folder of mode
//! 0700, both the user's own; and who is at its other end.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;

/// The variable that names another folder.
pub(crate) const FOLDER_VARIABLE: &str = "RUSH_DAEMON_DIR";
const SOCKET_NAME: &str = "rush.sock";

/// The folder: `RUSH_DAEMON_DIR`, else `rush` in `XDG_RUNTIME_DIR`, else one in the folder for temporary files.
pub(crate) fn folder(variable: impl Fn(&str) -> Option<Vec<u8>>) -> PathBuf {
    let named = |name: &str| {
        let value = variable(name).filter(|value| value.starts_with(b"/"))?;
        Some(PathBuf::from(OsStr::from_bytes(&value)))
    };
    named(FOLDER_VARIABLE)
        .or_else(|| named("XDG_RUNTIME_DIR").map(|folder| folder.join("rush")))
        .unwrap_or_else(|| PathBuf::from(format!("/tmp/rush-{}", geteuid().as_raw())))
}

/// The socket in a folder.
pub(crate) fn socket(folder: &Path) -> PathBuf {
    folder.join(SOCKET_NAME)
}

/// Makes the folder, or says why it is not safe.
pub(crate) fn prepare(folder: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    check_folder(folder)
}

/// Whether the folder is the user's own and nobody else's.
pub(crate) fn check_folder(folder: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(folder)?;
    if found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!("{}: must be a folder of yours with mode 0700", folder.display())))
}

/// Whether the socket is the user's own and nobody else's.
pub(crate) fn check_socket(socket: &Path) -> io::Result<()> {
    let found = std::fs::symlink_metadata(socket)?;
    if found.file_type().is_socket() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!("{}: must be a socket of yours with mode 0600", socket.display())))
}

/// The process at the other end, if it belongs to the same user.
pub(crate) fn check_peer(connection: impl AsFd) -> io::Result<i32> {
    let peer = socket_peercred(connection)?;
    if peer.uid == geteuid() {
        return Ok(peer.pid.as_raw_nonzero().get());
    }
    Err(io::Error::other("the other side belongs to another user"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_others_can_enter_is_refused() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("rush");
        super::prepare(&folder).expect("made");
        super::prepare(&folder).expect("there");
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("opened");
        assert!(super::prepare(&folder).is_err());
    }
}
