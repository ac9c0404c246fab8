//! The path of an entry below its root, as bytes: names need not be text. In JSON it is text, with `%XX` for what text cannot say.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A relative path of ordinary components; empty for the root itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(PathBuf);

impl Name {
    /// The name of `path`, unless it leads anywhere but down.
    #[must_use]
    pub fn new(path: &Path) -> Option<Name> {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::Normal(part) => plain.push(part),
                Component::CurDir => {}
                _ => return None,
            }
        }
        Some(Name(plain))
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// An entry of this folder.
    #[must_use]
    pub fn child(&self, entry: &OsStr) -> Name {
        Name(self.0.join(entry))
    }

    /// The folder it is in; none for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Name> {
        self.0.parent().map(|path| Name(path.to_owned()))
    }

    /// Whether it is `other` or below it.
    #[must_use]
    pub fn is_in(&self, other: &Name) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Text that names it without doubt.
    #[must_use]
    pub fn shown(&self) -> String {
        let bytes = self.0.as_os_str().as_bytes();
        let plain = |text: &str| !text.contains(|c: char| c == '%' || c.is_control());
        match std::str::from_utf8(bytes) {
            Ok(text) if plain(text) => text.to_owned(),
            _ => {
                let mut shown = String::new();
                for chunk in bytes.utf8_chunks() {
                    for c in chunk.valid().chars() {
                        if c == '%' || (c.is_control() && c.is_ascii()) {
                            shown.push_str(&format!("%{:02X}", c as u32));
                        } else {
                            shown.push(c);
                        }
                    }
                    chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("%{byte:02X}")));
                }
                shown
            }
        }
    }

    fn read(text: &str) -> Option<Name> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            if *first == b'%' {
                let digits = std::str::from_utf8(after.get(..2)?).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &after[2..];
            } else {
                bytes.push(*first);
                rest = after;
            }
        }
        Name::new(Path::new(OsStr::from_bytes(&bytes)))
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.shown())
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        Name::read(&text).ok_or_else(|| serde::de::Error::custom(format!("'{text}' is no path below a root")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_from_json() {
        for bytes in [
            &b"a/b"[..],
            b"caf\xc3\xa9",
            b"\xff\xfe/%41",
            b"new\nline",
            b"100%",
            b"%",
            "x".repeat(255).as_bytes(),
        ] {
            let name = Name::new(Path::new(OsStr::from_bytes(bytes))).unwrap();
            let json = serde_json::to_string(&name).unwrap();
            assert_eq!(serde_json::from_str::<Name>(&json).unwrap(), name, "{json}");
        }
        for wrong in ["\"../x\"", "\"/etc\"", "\"a/../../b\"", "\"%2\"", "\"%2E%2E/x\""] {
            assert!(serde_json::from_str::<Name>(wrong).is_err(), "{wrong}");
        }
    }
}
