//! An upper layer and what it lies over, both open.

use std::path::Path;

use crate::error::Error;
use crate::name::Name;
use crate::root::{Kind, Root};

/// The two folders of one overlay.
#[derive(Debug)]
pub struct Layer {
    /// What was changed.
    pub upper: Root,
    /// What it is laid over.
    pub lower: Root,
}

impl Layer {
    /// Opens both.
    ///
    /// # Errors
    /// When one is no folder, or cannot be opened.
    pub fn open(upper: &Path, lower: &Path) -> Result<Layer, Error> {
        Ok(Layer { upper: Root::open(upper)?, lower: Root::open(lower)? })
    }

    /// Makes an empty upper layer at `upper`. The root of what an overlay shows is that of its upper layer, so it is as the one below.
    ///
    /// # Errors
    /// When it exists already, or cannot be made.
    pub fn create(upper: &Path, lower: &Path) -> Result<Layer, Error> {
        std::fs::create_dir(upper).map_err(|error| Error::io(upper, error))?;
        let layer = Layer::open(upper, lower)?;
        layer.as_below()?;
        Ok(layer)
    }

    /// Makes the root of an empty layer as the one below is now.
    ///
    /// # Errors
    /// When that cannot be read, or this not be changed.
    pub fn as_below(&self) -> Result<(), Error> {
        let root = Name::default();
        if let Some(node) = self.lower.look(&root)? {
            self.upper.set_attributes(&root, &self.lower.attributes(&root)?)?;
            self.upper.set_mode(&root, node.mode)?;
            self.upper.set_mtime(&root, node.mtime)?;
        }
        Ok(())
    }

    /// Takes back what was changed at `name` and below it, so that what is below the layer shows again.
    ///
    /// # Errors
    /// When a folder above replaces the one below as a whole, or something cannot be removed.
    pub fn discard(&self, name: &Name) -> Result<(), Error> {
        self.must_be_apart(name)?;
        self.upper.remove(name)?;
        // A folder that was new and has nothing in it any more is still a change, and stays.
        Ok(())
    }

    /// An error when a folder above `name` is in place of something else below, so that `name` cannot be taken by itself.
    pub(crate) fn must_be_apart(&self, name: &Name) -> Result<(), Error> {
        let mut above = name.parent();
        while let Some(folder) = above.filter(|folder| *folder != Name::default()) {
            let upper = self.upper.look(&folder)?.map(|node| node.kind);
            let lower = self.lower.look(&folder)?.map(|node| node.kind);
            let replaced = match (upper, lower) {
                (None, _) | (Some(_), None) => false,
                (Some(Kind::Folder), Some(Kind::Folder)) => self.upper.is_opaque(&folder)?,
                _ => true,
            };
            if replaced {
                return Err(Error::Path(format!(
                    "{} cannot be taken by itself: {} was replaced as a whole; name that",
                    name.shown(),
                    folder.shown()
                )));
            }
            above = folder.parent();
        }
        Ok(())
    }
}
