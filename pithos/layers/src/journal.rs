//! The journal of a commit, and what is made of it when the one who wrote it has died: before everything is staged the commit is taken back, afterwards
//! it is finished. Written beside the layers under another name and renamed, so that it is there whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::commit::{Hook, Stage};
use crate::error::Error;
use crate::layer::Layer;
use crate::limits::JOURNAL_BYTES_MAX;
use crate::name::Name;
use crate::root::Kind;

/// How far a commit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// New things are being put beside their places.
    Planned,
    /// They are all there, and are being put into place.
    Staged,
    /// They are in place; what they replaced is being removed.
    Placed,
}

/// One thing that a commit does below.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub(crate) enum Unit {
    /// Put what is at `temp` to `path`; what is there goes to `trash`, or is replaced.
    Put { path: Name, temp: Name, trash: Option<Name> },
    /// Move what is at `path` to `trash`.
    Delete { path: Name, trash: Name },
    /// Give the folder the permissions and attributes that it has in the layer.
    Mode { path: Name },
}

impl Unit {
    pub(crate) fn path(&self) -> &Name {
        match self {
            Unit::Put { path, .. } | Unit::Delete { path, .. } | Unit::Mode { path } => path,
        }
    }

    fn trash(&self) -> Option<&Name> {
        match self {
            Unit::Put { trash, .. } => trash.as_ref(),
            Unit::Delete { trash, .. } => Some(trash),
            Unit::Mode { .. } => None,
        }
    }
}

/// What a commit does with one layer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) upper: PathBuf,
    pub(crate) lower: PathBuf,
    pub(crate) units: Vec<Unit>,
    /// What the layer has no more afterwards.
    pub(crate) taken: Vec<Name>,
    /// Folders of the layer that hide nothing any more.
    pub(crate) shared: Vec<Name>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Journal {
    pub(crate) phase: Phase,
    pub(crate) parts: Vec<Part>,
}

impl Journal {
    pub(crate) fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |error: std::io::Error| Error::io(path, error);
        let text = serde_json::to_vec(self).map_err(|error| failed(error.into()))?;
        let new = path.with_extension("new");
        let mut file = fs::File::create(&new).map_err(failed)?;
        file.write_all(&text).and_then(|()| file.sync_data()).map_err(failed)?;
        fs::rename(&new, path).map_err(failed)
    }

    /// Takes back what was put beside its place.
    pub(crate) fn take_back(&self, path: &Path) -> Result<(), Error> {
        for part in &self.parts {
            let layer = Layer::open(&part.upper, &part.lower)?;
            for unit in &part.units {
                if let Unit::Put { temp, .. } = unit {
                    layer.lower.remove(temp)?;
                }
            }
        }
        fs::remove_file(path).map_err(|error| Error::io(path, error))
    }

    /// Does what is left of a commit whose new things are all staged. Can be done again from any point.
    pub(crate) fn finish(&mut self, path: &Path, hook: &mut Hook<'_>) -> Result<(), Error> {
        let layers = self
            .parts
            .iter()
            .map(|part| Layer::open(&part.upper, &part.lower))
            .collect::<Result<Vec<_>, _>>()?;
        if self.phase == Phase::Staged {
            for (part, layer) in self.parts.iter().zip(&layers) {
                for unit in &part.units {
                    place(layer, unit, hook)?;
                }
            }
            self.phase = Phase::Placed;
            self.write(path)?;
            hook.at(Stage::AllPlaced)?;
        }
        for (part, layer) in self.parts.iter().zip(&layers) {
            for trash in part.units.iter().filter_map(Unit::trash) {
                layer.lower.remove(trash)?;
                hook.at(Stage::Removed)?;
            }
            for name in &part.taken {
                layer.upper.remove(name)?;
            }
            for name in &part.shared {
                if layer.upper.look(name)?.is_some_and(|node| node.kind == Kind::Folder) {
                    layer.upper.set_opaque(name, false)?;
                }
            }
            hook.at(Stage::LayerEmptied)?;
        }
        fs::remove_file(path).map_err(|error| Error::io(path, error))
    }
}

fn place(layer: &Layer, unit: &Unit, hook: &mut Hook<'_>) -> Result<(), Error> {
    let lower = &layer.lower;
    let aside = |path: &Name, trash: &Name| {
        if lower.look(trash)?.is_none() && lower.look(path)?.is_some() {
            lower.rename(path, trash, false)?;
        }
        Ok::<(), Error>(())
    };
    match unit {
        Unit::Put { path, temp, trash } => {
            if lower.look(temp)?.is_some() {
                if let Some(trash) = trash {
                    aside(path, trash)?;
                    hook.at(Stage::PutAside)?;
                }
                lower.rename(temp, path, true)?;
            }
        }
        Unit::Delete { path, trash } => aside(path, trash)?,
        Unit::Mode { path } => {
            if let Some(node) = layer.upper.look(path)? {
                lower.set_attributes(path, &layer.upper.attributes(path)?)?;
                lower.set_mode(path, node.mode)?;
            }
        }
    }
    hook.at(Stage::Placed)
}

/// What became of a commit that was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// All of it is done.
    Finished {
        /// The roots that were committed to.
        roots: Vec<PathBuf>,
    },
    /// Nothing of it is done.
    TakenBack {
        /// The roots that are as they were.
        roots: Vec<PathBuf>,
    },
}

/// Finishes or takes back the commit of this journal, if there is one. Nothing else may use its layers meanwhile.
///
/// # Errors
/// When the journal was not written by a commit, or what is left cannot be done; it can be tried again.
pub fn recover(path: &Path) -> Result<Option<Recovered>, Error> {
    let data = match fs::symlink_metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(path, error)),
    };
    let wrong = |message: String| Error::Journal { path: path.to_owned(), message };
    if !data.is_file() || data.len() > JOURNAL_BYTES_MAX {
        return Err(wrong("is no journal".to_owned()));
    }
    let text = fs::read(path).map_err(|error| Error::io(path, error))?;
    let mut journal: Journal = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let roots = journal.parts.iter().map(|part| part.lower.clone()).collect();
    if journal.phase == Phase::Planned {
        journal.take_back(path)?;
        return Ok(Some(Recovered::TakenBack { roots }));
    }
    journal.finish(path, &mut Hook::none())?;
    Ok(Some(Recovered::Finished { roots }))
}
