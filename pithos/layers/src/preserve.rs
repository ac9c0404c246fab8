//! A level is what lies over a tree, and shows the rest of the tree through. When that is to be changed, the level takes what shows through there for its
//! own first, so that it goes on showing what it showed.

use crate::blobs::Blobs;
use crate::error::Error;
use crate::level::{Entry, Level, look_closely};
use crate::limits::DEPTH_MAX;
use crate::name::Name;
use crate::root::{Kind, Node, Root, Time};

/// What is being preserved, and how much more may be copied.
struct Keeper<'a> {
    lower: &'a Root,
    blobs: &'a mut Blobs,
    bytes_left: u64,
    bytes_max: u64,
}

impl Level {
    /// Keeps what shows at `name`, with everything below it if `whole`, before the tree below is changed there. At most `bytes_max` are copied.
    ///
    /// # Errors
    /// When something cannot be copied, or there is too much of it: the level then is as it was, or shows more of what it showed.
    pub fn preserve(
        &mut self,
        lower: &Root,
        name: &Name,
        whole: bool,
        blobs: &mut Blobs,
        bytes_max: u64,
    ) -> Result<(), Error> {
        let mut keeper = Keeper { lower, blobs, bytes_left: bytes_max, bytes_max };
        let mut above: Vec<Name> = std::iter::successors(name.parent(), Name::parent).collect();
        above.retain(|folder| *folder != Name::default());
        for folder in above.iter().rev() {
            match self.entries.get(folder) {
                // Nothing of what is below shows here.
                Some(entry) if entry.node.kind != Kind::Folder || entry.opaque => return Ok(()),
                Some(_) => {}
                None => match lower.look(folder)? {
                    Some(node) if node.kind == Kind::Folder => {
                        let entry = look_closely(lower, folder, node)?;
                        self.entries.insert(folder.clone(), Entry { opaque: false, ..entry });
                    }
                    _ => return keeper.one(self, folder, false, 0),
                },
            }
        }
        keeper.one(self, name, whole, 0)
    }
}

impl Keeper<'_> {
    fn one(&mut self, level: &mut Level, name: &Name, whole: bool, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(Error::TooMuch { what: "folders in folders".to_owned(), limit: DEPTH_MAX as u64 });
        }
        let below = self.lower.look(name)?;
        let is_folder = below.is_some_and(|node| node.kind == Kind::Folder);
        match level.entries.get_mut(name) {
            // A folder in the place of something else shows nothing of what comes to be in that place.
            Some(entry) if entry.node.kind == Kind::Folder && !is_folder => {
                entry.opaque |= *name != Name::default();
                return Ok(());
            }
            Some(entry) if entry.node.kind != Kind::Folder || entry.opaque => return Ok(()),
            Some(_) => {}
            None => {
                let entry = match below {
                    None => absent(),
                    Some(node) => self.copy(name, node)?,
                };
                level.entries.insert(name.clone(), entry);
            }
        }
        if is_folder && whole {
            for entry in self.lower.entries(name)? {
                self.one(level, &name.child(&entry), true, depth + 1)?;
            }
            if let Some(entry) = level.entries.get_mut(name).filter(|_| *name != Name::default()) {
                entry.opaque = true;
            }
        }
        Ok(())
    }

    fn copy(&mut self, name: &Name, node: Node) -> Result<Entry, Error> {
        // What a plain tree says of itself in this is nothing to an overlay.
        let mut entry = Entry { opaque: false, ..look_closely(self.lower, name, node)? };
        match node.kind {
            Kind::Device => {
                return Err(Error::Path(format!("{} is a device, and none can be kept", name.shown())));
            }
            Kind::File => {
                self.bytes_left =
                    self.bytes_left.checked_sub(node.stored.min(node.size)).ok_or_else(|| {
                        Error::TooMuch {
                            what: "bytes that are about to be replaced".to_owned(),
                            limit: self.bytes_max,
                        }
                    })?;
                entry.blob = Some(self.blobs.take(self.lower, name, node.size)?);
            }
            _ => {}
        }
        Ok(entry)
    }
}

/// What hides what comes to be below.
fn absent() -> Entry {
    let node = Node {
        kind: Kind::Whiteout,
        mode: 0,
        size: 0,
        stored: 0,
        mtime: Time::default(),
        ctime: Time::default(),
        ino: 0,
        links: 1,
    };
    Entry { node, opaque: false, attributes: Vec::new(), target: Vec::new(), blob: None, same_as: None }
}
