//! The registry: names, hierarchical paths and groups. Owns the three maps; the pid's own list of names (in `relations`) says
//! what to take out when it ends. Invariant: a name resolves to at most one pid, and to none once that pid has ended.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use parking_lot::RwLock;

use crate::pid::Pid;
use crate::relations::Name;

#[derive(Default)]
pub(crate) struct Registry {
    names: RwLock<HashMap<Arc<str>, Pid>>,
    paths: RwLock<BTreeMap<Arc<str>, Pid>>,
    groups: RwLock<BTreeMap<Arc<str>, BTreeSet<Pid>>>,
}

/// Brings a path into its one form: a leading slash, no trailing one, no empty parts.
pub(crate) fn normalise(path: &str) -> String {
    let mut out = String::with_capacity(path.len() + 1);
    for part in path.split('/').filter(|part| !part.is_empty()) {
        out.push('/');
        out.push_str(part);
    }
    if out.is_empty() {
        out.push('/');
    }
    out
}

impl Registry {
    /// Adds a name; returns the pid that it belonged to before.
    pub(crate) fn add(&self, name: &Name, pid: Pid) -> Option<Pid> {
        match name {
            Name::Plain(name) => self.names.write().insert(name.clone(), pid),
            Name::Path(path) => self.paths.write().insert(path.clone(), pid),
            Name::Group(group) => {
                self.groups.write().entry(group.clone()).or_default().insert(pid);
                None
            }
        }
    }

    /// Takes a name out, if it still belongs to the pid.
    pub(crate) fn remove(&self, name: &Name, pid: Pid) {
        match name {
            Name::Plain(name) => {
                let mut names = self.names.write();
                if names.get(name) == Some(&pid) {
                    names.remove(name);
                }
            }
            Name::Path(path) => {
                let mut paths = self.paths.write();
                if paths.get(path) == Some(&pid) {
                    paths.remove(path);
                }
            }
            Name::Group(group) => {
                let mut groups = self.groups.write();
                if let Some(members) = groups.get_mut(group) {
                    members.remove(&pid);
                    if members.is_empty() {
                        groups.remove(group);
                    }
                }
            }
        }
    }

    /// Whether the name belongs to the pid, or the pid to the group.
    pub(crate) fn has(&self, name: &Name, pid: Pid) -> bool {
        match name {
            Name::Plain(name) => self.names.read().get(name) == Some(&pid),
            Name::Path(path) => self.paths.read().get(path) == Some(&pid),
            Name::Group(group) => self.groups.read().get(group).is_some_and(|members| members.contains(&pid)),
        }
    }

    pub(crate) fn name(&self, name: &str) -> Option<Pid> {
        self.names.read().get(name).copied()
    }

    pub(crate) fn path(&self, path: &str) -> Option<Pid> {
        self.paths.read().get(path).copied()
    }

    pub(crate) fn group(&self, group: &str) -> Vec<Pid> {
        self.groups.read().get(group).map(|members| members.iter().copied().collect()).unwrap_or_default()
    }

    pub(crate) fn names(&self) -> Vec<(String, Pid)> {
        let mut names: Vec<_> =
            self.names.read().iter().map(|(name, pid)| (name.to_string(), *pid)).collect();
        names.sort();
        names
    }

    /// The paths below `prefix`: all of them, or only those one level down.
    pub(crate) fn below(&self, prefix: &str, direct_only: bool) -> Vec<(String, Pid)> {
        let prefix = normalise(prefix);
        let start = if prefix == "/" { prefix } else { format!("{prefix}/") };
        let paths = self.paths.read();
        paths
            .range::<str, _>((Bound::Excluded(start.as_str()), Bound::Unbounded))
            .take_while(|(path, _)| path.starts_with(&start))
            .filter(|(path, _)| !direct_only || !path[start.len()..].contains('/'))
            .map(|(path, pid)| (path.to_string(), *pid))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_listing_stops_at_part_boundaries() {
        let registry = Registry::default();
        let pid = Pid::new(1, 1);
        for path in ["/svc", "/svc/pay", "/svc/pay/one", "/svc2/x", "/svc-a"] {
            registry.add(&Name::Path(Arc::from(path)), pid);
        }
        let all: Vec<_> = registry.below("svc/", false).into_iter().map(|(path, _)| path).collect();
        assert_eq!(all, ["/svc/pay", "/svc/pay/one"]);
        let direct: Vec<_> = registry.below("/svc", true).into_iter().map(|(path, _)| path).collect();
        assert_eq!(direct, ["/svc/pay"]);
        assert_eq!(registry.below("/", true).len(), 2);
    }
}
