//! The commit of layers to the trees below them. In this order: judge everything, and stop when one path is in conflict; write the journal; put
//! everything new beside its place; look again whether anything below was changed meanwhile; put all into place by renames; remove what was replaced.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::changes::{ChangeKind, same_content};
use crate::error::Error;
use crate::journal::{Journal, Part, Phase, Unit};
use crate::layer::Layer;
use crate::limits::DEPTH_MAX;
use crate::name::Name;
use crate::root::{Kind, Node, Root, Time, copy_content};

/// What a layer was laid over, as moments: a file below that was changed later than its moment was changed by somebody else.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Base {
    /// The layer was begun, or emptied last.
    pub begun: Time,
    /// For what came into the layer later, when the run began that changed it.
    pub since: BTreeMap<Name, Time>,
    /// What was there below when it was first seen in the layer.
    pub had: BTreeSet<Name>,
}

impl Base {
    /// The moment of an entry: its own or the latest of a folder that it is in.
    fn moment(&self, name: &Name) -> Time {
        let mut latest = self.begun;
        let mut at = Some(name.clone());
        while let Some(name) = at {
            if let Some(time) = self.since.get(&name) {
                latest = latest.max(*time);
            }
            at = name.parent();
        }
        latest
    }
}

/// Why a path cannot be committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Which.
    pub path: Name,
    /// Why.
    pub why: String,
}

/// What was done below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Done {
    /// Where.
    pub path: Name,
    /// What.
    pub change: ChangeKind,
}

/// How a commit went, layer by layer. With a conflict nothing was written.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was put into place.
    pub done: Vec<Vec<Done>>,
    /// What is in the way.
    pub conflicts: Vec<Vec<Conflict>>,
}

/// A point of a commit at which it may be interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The journal is written.
    Planned,
    /// A new thing is beside its place.
    Staged,
    /// All are, and the journal says so.
    AllStaged,
    /// What is to be replaced as a whole is out of the way.
    PutAside,
    /// A thing is in place.
    Placed,
    /// All are, and the journal says so.
    AllPlaced,
    /// Something that was replaced is gone.
    Removed,
    /// The layer no longer holds what is below now.
    LayerEmptied,
}

/// Who is told of each stage.
pub(crate) struct Hook<'a>(Option<&'a mut dyn FnMut(Stage) -> ControlFlow<()>>);

impl Hook<'_> {
    pub(crate) fn none() -> Hook<'static> {
        Hook(None)
    }

    pub(crate) fn at(&mut self, stage: Stage) -> Result<(), Error> {
        match self.0.as_mut().map(|hook| hook(stage)) {
            Some(ControlFlow::Break(())) => Err(Error::Stopped),
            _ => Ok(()),
        }
    }
}

/// Commits what is `selected` of each layer (paths with everything below them; none is all) to the tree below it. `journal` is beside the layers.
/// `hook` hears of each stage, and may stop there, as a crash would.
///
/// # Errors
/// When a layer cannot be read, a path cannot be taken by itself, or something below cannot be written: then it is taken back as far as nothing
/// was put into place, and [`crate::recover`] does the rest otherwise.
pub fn commit(
    layers: &[(&Layer, &Base, Vec<Name>)],
    journal: &Path,
    hook: Option<&mut dyn FnMut(Stage) -> ControlFlow<()>>,
) -> Result<Report, Error> {
    let mut hook = Hook(hook);
    let mut report = Report::default();
    let mut plans = Vec::new();
    for (number, (layer, base, selected)) in layers.iter().enumerate() {
        for name in selected {
            layer.must_be_apart(name)?;
        }
        let mut planner = Planner { layer, base, selected, number, plan: Plan::default() };
        planner.root()?;
        report.done.push(planner.plan.done.clone());
        report.conflicts.push(planner.plan.conflicts.clone());
        plans.push(planner.plan);
    }
    if report.conflicts.iter().any(|conflicts| !conflicts.is_empty()) {
        report.done.iter_mut().for_each(Vec::clear);
        return Ok(report);
    }
    if plans.iter().all(|plan| plan.units.is_empty() && plan.taken.is_empty()) {
        return Ok(report);
    }
    let parts = plans.iter().zip(layers).map(|(plan, (layer, ..))| Part {
        upper: layer.upper.path().to_owned(),
        lower: layer.lower.path().to_owned(),
        units: plan.units.clone(),
        taken: plan.taken.clone(),
        shared: plan.shared.clone(),
    });
    let mut written = Journal { phase: Phase::Planned, parts: parts.collect() };
    written.write(journal)?;
    let staged = hook.at(Stage::Planned).and_then(|()| stage_all(layers, &plans, &mut hook));
    let changed = match staged {
        Ok(()) => changed_meanwhile(layers, &plans),
        Err(error) => Err(error),
    };
    match changed {
        Err(Error::Stopped) => return Err(Error::Stopped),
        Err(error) => {
            written.take_back(journal)?;
            return Err(error);
        }
        Ok(changed) if changed.iter().any(|conflicts| !conflicts.is_empty()) => {
            written.take_back(journal)?;
            report.done.iter_mut().for_each(Vec::clear);
            report.conflicts = changed;
            return Ok(report);
        }
        Ok(_) => {}
    }
    written.phase = Phase::Staged;
    written.write(journal)?;
    hook.at(Stage::AllStaged)?;
    written.finish(journal, &mut hook)?;
    Ok(report)
}

#[derive(Default)]
struct Plan {
    units: Vec<Unit>,
    /// What was below at each unit's path.
    seen: Vec<Option<Node>>,
    taken: Vec<Name>,
    shared: Vec<Name>,
    done: Vec<Done>,
    conflicts: Vec<Conflict>,
}

struct Planner<'a> {
    layer: &'a Layer,
    base: &'a Base,
    selected: &'a [Name],
    number: usize,
    plan: Plan,
}

/// Whether a path is committed with everything below it.
fn whole(selected: &[Name], name: &Name) -> bool {
    selected.is_empty() || selected.iter().any(|chosen| name.is_in(chosen))
}

/// Whether a path, or something below it, is committed.
fn related(selected: &[Name], name: &Name) -> bool {
    whole(selected, name) || selected.iter().any(|chosen| chosen.is_in(name))
}

impl Planner<'_> {
    fn root(&mut self) -> Result<(), Error> {
        let root = Name::default();
        if self.selected.is_empty()
            && let (Some(node), Some(was)) = (self.layer.upper.look(&root)?, self.layer.lower.look(&root)?)
        {
            self.mode(&root, node, was)?;
        }
        self.folder(&root, 0)
    }

    fn folder(&mut self, folder: &Name, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(Error::TooMuch { what: "folders in folders".to_owned(), limit: DEPTH_MAX as u64 });
        }
        for entry in self.layer.upper.entries(folder)? {
            let name = folder.child(&entry);
            if related(self.selected, &name) {
                self.entry(&name, depth)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, name: &Name, depth: usize) -> Result<(), Error> {
        let Some(node) = self.layer.upper.look(name)? else { return Ok(()) };
        let was = self.layer.lower.look(name)?;
        let taken = whole(self.selected, name);
        match (node.kind, was) {
            (Kind::Device, _) => self.conflict(name, "is a device, and none is ever committed"),
            (Kind::Whiteout, None) => self.plan.taken.push(name.clone()),
            (Kind::Whiteout, Some(was)) => {
                if self.is_as_it_was(name, was)? {
                    let trash = self.aside(name, "old");
                    self.add(Unit::Delete { path: name.clone(), trash }, ChangeKind::Deleted, Some(was));
                }
            }
            (Kind::Folder, Some(was)) if was.kind == Kind::Folder && !self.layer.upper.is_opaque(name)? => {
                if taken {
                    self.mode(name, node, was)?;
                }
                self.folder(name, depth + 1)?;
            }
            (Kind::Folder, None) if !taken && !self.base.had.contains(name) => {
                self.put(name, ChangeKind::Added, None, false);
                self.plan.taken.pop();
                self.plan.taken.extend(self.selected.iter().filter(|chosen| chosen.is_in(name)).cloned());
                let inner = self.selected.iter().filter(|chosen| chosen.is_in(name));
                let mut shared: Vec<Name> = inner.flat_map(|chosen| between(name, chosen)).collect();
                self.plan.shared.append(&mut shared);
            }
            (_, None) if self.base.had.contains(name) => {
                self.conflict(name, "was changed here, and deleted below meanwhile");
            }
            (_, None) => self.put(name, ChangeKind::Added, None, false),
            (kind, Some(was)) if kind == Kind::Folder || was.kind == Kind::Folder || kind != was.kind => {
                if self.is_as_it_was(name, was)? {
                    let change = if kind == was.kind { ChangeKind::Modified } else { ChangeKind::Type };
                    self.put(name, change, Some(was), kind == Kind::Folder || was.kind == Kind::Folder);
                }
            }
            (_, Some(was)) => self.file(name, node, was)?,
        }
        Ok(())
    }

    /// A file, link or the like over one of its kind.
    fn file(&mut self, name: &Name, node: Node, was: Node) -> Result<(), Error> {
        let (upper, lower) = (&self.layer.upper, &self.layer.lower);
        let same = same_content(upper, lower, name, node, was)?;
        let mode = node.mode == was.mode || node.kind == Kind::Link;
        if same && mode && upper.attributes(name)? == lower.attributes(name)? && node.mtime == was.mtime {
            self.plan.taken.push(name.clone());
        } else if self.is_as_it_was(name, was)? {
            let change = if same { ChangeKind::Mode } else { ChangeKind::Modified };
            self.put(name, change, Some(was), false);
        }
        Ok(())
    }

    fn mode(&mut self, name: &Name, node: Node, was: Node) -> Result<(), Error> {
        if node.mode != was.mode || self.layer.upper.attributes(name)? != self.layer.lower.attributes(name)? {
            self.add(Unit::Mode { path: name.clone() }, ChangeKind::Mode, None);
            // The folder itself stays in the layer: others may be in it.
            self.plan.taken.pop();
        }
        Ok(())
    }

    fn put(&mut self, name: &Name, change: ChangeKind, was: Option<Node>, aside: bool) {
        let temp = self.aside(name, "new");
        let trash = aside.then(|| self.aside(name, "old"));
        self.add(Unit::Put { path: name.clone(), temp, trash }, change, was);
    }

    fn add(&mut self, unit: Unit, change: ChangeKind, was: Option<Node>) {
        let path = unit.path().clone();
        self.plan.taken.push(path.clone());
        self.plan.done.push(Done { path, change });
        self.plan.seen.push(was);
        self.plan.units.push(unit);
    }

    /// A name beside `name` that nothing has.
    fn aside(&self, name: &Name, what: &str) -> Name {
        let parent = name.parent().unwrap_or_default();
        let unit = self.plan.units.len();
        let own = format!(".pithos-{}-{}-{unit}.{what}", std::process::id(), self.number);
        parent.child(own.as_ref())
    }

    /// Whether nobody has changed what is below since it was laid over; a conflict is noted.
    fn is_as_it_was(&mut self, name: &Name, was: Node) -> Result<bool, Error> {
        let later = later_than(&self.layer.lower, name, was, self.base.moment(name), 0)?;
        if let Some(changed) = &later {
            let why = if changed == name {
                "was changed here and below".to_owned()
            } else {
                format!("was replaced or deleted here, and {} changed below", changed.shown())
            };
            self.conflict(name, &why);
        }
        Ok(later.is_none())
    }

    fn conflict(&mut self, name: &Name, why: &str) {
        self.plan.conflicts.push(Conflict { path: name.clone(), why: why.to_owned() });
    }
}

/// The folders from `from` down to where `to` is, both included but for `to`.
fn between(from: &Name, to: &Name) -> Vec<Name> {
    let mut found = Vec::new();
    let mut at = to.parent();
    while let Some(folder) = at.filter(|folder| folder.is_in(from)) {
        at = folder.parent();
        found.push(folder);
    }
    found
}

/// What at `name` or below it was changed after `moment`.
fn later_than(
    lower: &Root,
    name: &Name,
    node: Node,
    moment: Time,
    depth: usize,
) -> Result<Option<Name>, Error> {
    if node.ctime > moment {
        return Ok(Some(name.clone()));
    }
    if node.kind == Kind::Folder && depth < DEPTH_MAX {
        for entry in lower.entries(name)? {
            let inner = name.child(&entry);
            if let Some(node) = lower.look(&inner)?
                && let Some(found) = later_than(lower, &inner, node, moment, depth + 1)?
            {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// The second look, when everything new is ready: what was below at each place still is.
fn changed_meanwhile(
    layers: &[(&Layer, &Base, Vec<Name>)],
    plans: &[Plan],
) -> Result<Vec<Vec<Conflict>>, Error> {
    let mut found = Vec::new();
    for ((layer, ..), plan) in layers.iter().zip(plans) {
        let mut conflicts = Vec::new();
        for (unit, seen) in plan.units.iter().zip(&plan.seen) {
            let now = layer.lower.look(unit.path())?;
            let key = |node: &Option<Node>| node.map(|node| (node.kind, node.ino, node.ctime));
            if !matches!(unit, Unit::Mode { .. }) && key(&now) != key(seen) {
                let why = "was changed below while this commit was made".to_owned();
                conflicts.push(Conflict { path: unit.path().clone(), why });
            }
        }
        found.push(conflicts);
    }
    Ok(found)
}

fn stage_all(
    layers: &[(&Layer, &Base, Vec<Name>)],
    plans: &[Plan],
    hook: &mut Hook<'_>,
) -> Result<(), Error> {
    for ((layer, _, selected), plan) in layers.iter().zip(plans) {
        let mut stage = Staging { layer, selected, links: HashMap::new() };
        for unit in &plan.units {
            if let Unit::Put { path, temp, .. } = unit {
                layer.lower.remove(temp)?;
                stage.copy(path, temp, 0)?;
                hook.at(Stage::Staged)?;
            }
        }
    }
    Ok(())
}

struct Staging<'a> {
    layer: &'a Layer,
    selected: &'a [Name],
    /// Files with several names in the layer: by number, where the first is below.
    links: HashMap<u64, Name>,
}

impl Staging<'_> {
    fn copy(&mut self, from: &Name, to: &Name, depth: usize) -> Result<(), Error> {
        let (upper, lower) = (&self.layer.upper, &self.layer.lower);
        let Some(node) = upper.look(from)? else { return Ok(()) };
        if depth > DEPTH_MAX {
            return Err(Error::TooMuch { what: "folders in folders".to_owned(), limit: DEPTH_MAX as u64 });
        }
        match node.kind {
            // Nothing is below what is new here, so there is nothing to hide.
            Kind::Whiteout => return Ok(()),
            Kind::Device => return Err(Error::Path(format!("{} is a device", from.shown()))),
            Kind::Folder => {
                lower.make_folder(to)?;
                for entry in upper.entries(from)? {
                    let inner = from.child(&entry);
                    if related(self.selected, &inner) {
                        self.copy(&inner, &to.child(&entry), depth + 1)?;
                    }
                }
                lower.set_attributes(to, &upper.attributes(from)?)?;
            }
            Kind::Link => lower.make_link(to, &upper.target(from)?)?,
            Kind::Pipe | Kind::Socket => lower.make_special(to, node.kind)?,
            Kind::File => {
                if node.links > 1 {
                    if let Some(first) = self.links.get(&node.ino) {
                        return lower.make_name(first, to);
                    }
                    self.links.insert(node.ino, to.clone());
                }
                let (source, target) = (upper.file(from)?, lower.make_file(to)?);
                let failed = |error| Error::io(lower.path().join(to.path()), error);
                copy_content(&source, &target, node.size).map_err(failed)?;
                lower.set_attributes(to, &upper.attributes(from)?)?;
            }
        }
        if node.kind != Kind::Link {
            lower.set_mode(to, node.mode)?;
        }
        lower.set_mtime(to, node.mtime)
    }
}
