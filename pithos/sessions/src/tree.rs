//! The supervision tree of a server, in iris: `server` over `sessions`, `jobs`, `cells` and `actors`, and below each the units that live now.
//!
//! A unit stands for something that has a process or a part in one. It ends when that ends, with its reason; when its supervisor is asked to
//! stop, the unit ends what it stands for first. Units are temporary children: what a dead shell held in memory cannot be started again, so
//! its end is reported, and the next use opens a fresh one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iris_runtime::supervisor::{ChildSpec, StartContext, Strategy, Supervisor};
use iris_runtime::{ActorInfo, ActorRef, Behaviour, Context, ExitReason, Flow, Pid, Runtime, SpawnOptions};

use crate::limits::TREE_REAP_MS;
use crate::sync::Locked;

/// The kinds of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branch {
    Sessions,
    Jobs,
    Cells,
    Actors,
}

impl Branch {
    const ALL: [Self; 4] = [Self::Sessions, Self::Jobs, Self::Cells, Self::Actors];

    fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Jobs => "jobs",
            Self::Cells => "cells",
            Self::Actors => "actors",
        }
    }
}

const ROOT: &str = "server";

/// The tree; clones share it.
#[derive(Clone)]
pub(crate) struct Tree {
    runtime: Arc<Runtime>,
    ended: Arc<Ended>,
    leaving: Arc<AtomicBool>,
}

/// Units that have ended and not yet been told so.
type Ended = Locked<Vec<(ActorRef<ExitReason>, ExitReason)>>;

/// A node as clients see it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TreeNode {
    /// Its name: `server`, `sessions`, a handle.
    pub name: String,
    /// `idle`, `scheduled` or `running`: the actor's own state, not that of what it stands for.
    pub state: &'static str,
    /// What is below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<TreeNode>,
}

impl Tree {
    /// Starts the supervisors.
    pub(crate) fn start() -> Result<Self, ExitReason> {
        let runtime = Runtime::builder().workers(1).build();
        let mut root = Supervisor::new(Strategy::OneForOne);
        for branch in Branch::ALL {
            root = root.child(ChildSpec::new(branch.name(), move |cx: &StartContext| {
                let options = SpawnOptions { parent: Some(cx.supervisor), ..SpawnOptions::default() };
                let supervisor = Supervisor::new(Strategy::Simple).start(&cx.handle, options)?;
                cx.handle.register_path(&format!("/{ROOT}/{}", branch.name()), supervisor.pid());
                Ok(supervisor.pid())
            }));
        }
        let root = root.start(&runtime, SpawnOptions::default())?;
        runtime.register_path(&format!("/{ROOT}"), root.pid());
        // The answer comes after the children were started.
        root.which_children().wait(None).map_err(|error| ExitReason::error(error.to_string()))?;
        Ok(Self { runtime: Arc::new(runtime), ended: Arc::default(), leaving: Arc::default() })
    }

    /// A unit below a branch; `stop` ends what it stands for.
    pub(crate) fn add(&self, branch: Branch, name: &str, stop: impl FnOnce() + Send + 'static) -> Supervised {
        let parent = self.runtime.whereis_path(&format!("/{ROOT}/{}", branch.name()));
        let options = SpawnOptions { parent, trap_exit: true, ..SpawnOptions::default() };
        // Only a server that is stopping refuses; then there is nothing to supervise any more.
        let unit = self
            .runtime
            .spawn_with(options, Unit { stop: Some(Box::new(stop)), leaving: Arc::clone(&self.leaving) })
            .ok();
        if let Some(unit) = &unit {
            self.runtime.register_path(&format!("/{ROOT}/{}/{name}", branch.name()), unit.pid());
        }
        Supervised { unit: Locked::new(unit), ended: Arc::clone(&self.ended) }
    }

    /// The tree as it is now.
    pub(crate) fn nodes(&self) -> Option<TreeNode> {
        let actors = self.runtime.actors();
        let root = self.runtime.whereis_path(&format!("/{ROOT}"))?;
        let mut below: HashMap<Option<Pid>, Vec<&ActorInfo>> = HashMap::new();
        actors.iter().for_each(|actor| below.entry(actor.parent).or_default().push(actor));
        let top = actors.iter().find(|actor| actor.cell.pid == root)?;
        Some(node(top, &below))
    }

    /// The server goes, and its guardian ends all at once what the units stand for: they need not, one by one.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::SeqCst);
    }
}

fn node(actor: &ActorInfo, below: &HashMap<Option<Pid>, Vec<&ActorInfo>>) -> TreeNode {
    let path = actor.names.first().map_or("", String::as_str);
    let children = below.get(&Some(actor.cell.pid)).into_iter().flatten().map(|child| node(child, below));
    let mut children: Vec<TreeNode> = children.collect();
    children.sort_by(|left, right| {
        left.name.len().cmp(&right.name.len()).then_with(|| left.name.cmp(&right.name))
    });
    TreeNode { name: path.rsplit('/').next().unwrap_or(path).to_string(), state: actor.cell.state, children }
}

/// The actor of a unit: waits to be told that what it stands for has ended.
struct Unit {
    stop: Option<Box<dyn FnOnce() + Send>>,
    leaving: Arc<AtomicBool>,
}

impl Behaviour<ExitReason> for Unit {
    fn handle(&mut self, _cx: &mut Context<'_, ExitReason>, reason: ExitReason) -> Flow {
        Flow::Exit(reason)
    }

    fn shutdown(&mut self, _cx: &mut Context<'_, ExitReason>, reason: ExitReason) -> Flow {
        if let Some(stop) = self.stop.take().filter(|_| !self.leaving.load(Ordering::SeqCst)) {
            stop();
        }
        Flow::Exit(reason)
    }
}

/// The hold of a unit by what it stands for.
pub(crate) struct Supervised {
    unit: Locked<Option<ActorRef<ExitReason>>>,
    ended: Arc<Ended>,
}

impl Supervised {
    /// Ends the unit: normally, or with what went wrong.
    pub(crate) fn end(&self, failure: Option<&str>) {
        let Some(unit) = self.unit.with(Option::take) else { return };
        let reason = failure.map_or(ExitReason::Normal, ExitReason::error);
        let first = self.ended.with(|ended| {
            ended.push((unit, reason));
            ended.len() == 1
        });
        if !first {
            return;
        }
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(reap_later(Arc::clone(&self.ended)))),
            Err(_) => reap(&self.ended),
        }
    }
}

async fn reap_later(ended: Arc<Ended>) {
    tokio::time::sleep(Duration::from_millis(TREE_REAP_MS)).await;
    reap(&ended);
}

fn reap(ended: &Ended) {
    for (unit, reason) in ended.with(std::mem::take) {
        // One that its supervisor stopped before needs no message.
        let _ = unit.send(reason);
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.end(None);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{Branch, Tree};

    #[test]
    fn units_stand_below_their_branch_and_are_stopped_with_the_server() {
        let tree = Tree::start().expect("a tree");
        let stopped = Arc::new(AtomicUsize::new(0));
        let count = || {
            let stopped = Arc::clone(&stopped);
            move || {
                stopped.fetch_add(1, Ordering::SeqCst);
            }
        };
        let _session = tree.add(Branch::Sessions, "main", count());
        let job = tree.add(Branch::Jobs, "j1", count());
        let names = |tree: &Tree| -> Vec<(String, Vec<String>)> {
            let root = tree.nodes().expect("nodes");
            let below =
                |node: &super::TreeNode| node.children.iter().map(|child| child.name.clone()).collect();
            root.children.iter().map(|branch| (branch.name.clone(), below(branch))).collect()
        };
        let expected = |jobs: &[&str]| {
            let list = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect::<Vec<_>>();
            [("jobs", list(jobs)), ("cells", vec![]), ("actors", vec![]), ("sessions", list(&["main"]))]
                .map(|(name, units)| (name.to_string(), units))
                .to_vec()
        };
        assert_eq!(names(&tree), expected(&["j1"]));
        job.end(None);
        while names(&tree) != expected(&[]) {
            std::thread::yield_now();
        }
        tree.runtime.close();
        assert_eq!(stopped.load(Ordering::SeqCst), 1, "the session was stopped, the job had ended by itself");
    }
}
