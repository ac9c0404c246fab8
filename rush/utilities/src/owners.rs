//! Names of users and groups, from the local files. Ids without a local name are shown as numbers; where the
//! system asks other services for names, `/etc/nsswitch.conf` says so and the caller may decline.

use std::collections::HashMap;
use std::fs;

/// The names of ids.
pub(crate) struct Owners {
    users: HashMap<u32, String>,
    groups: HashMap<u32, String>,
}

impl Owners {
    pub(crate) fn load() -> Self {
        Self { users: read("/etc/passwd"), groups: read("/etc/group") }
    }

    pub(crate) fn user(&self, id: u32) -> String {
        self.users.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    pub(crate) fn group(&self, id: u32) -> String {
        self.groups.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// The name as `stat` shows it.
    pub(crate) fn user_or_unknown(&self, id: u32) -> String {
        self.users.get(&id).cloned().unwrap_or_else(|| "UNKNOWN".into())
    }

    pub(crate) fn group_or_unknown(&self, id: u32) -> String {
        self.groups.get(&id).cloned().unwrap_or_else(|| "UNKNOWN".into())
    }
}

fn read(path: &str) -> HashMap<u32, String> {
    let mut names = HashMap::new();
    for line in fs::read_to_string(path).unwrap_or_default().lines() {
        let mut fields = line.split(':');
        if let (Some(name), Some(Ok(id))) = (fields.next(), fields.nth(1).map(str::parse)) {
            names.entry(id).or_insert_with(|| name.to_owned());
        }
    }
    names
}
