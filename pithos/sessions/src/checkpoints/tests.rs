//! The store by itself: names, room, age, damage.

use pithos_layers::{Base, Level, Root};

use super::*;

struct Place {
    folder: tempfile::TempDir,
    blobs: Blobs,
    record: Record,
}

impl Place {
    /// Something to keep: one file of so many bytes.
    fn new(bytes: usize) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(tree.join("file"), vec![b'x'; bytes]).unwrap();
        let mut blobs = Blobs::open(&folder.path().join("blobs")).unwrap();
        let root = Root::open(&tree).unwrap();
        let level = Level::take(&root, &Level::default(), &mut blobs, u64::MAX).unwrap();
        let part = RecordedPart { root: tree, level, base: Base::default() };
        let record = Record::new(Files::Overlay, vec![part], "x=1\n".to_owned(), "/".into());
        Place { folder, blobs, record }
    }

    fn store(&self, bytes_max: u64) -> Store {
        Store::new(self.folder.path().join("kept"), Some(bytes_max))
    }

    fn put(&self, store: &Store, name: Option<&str>, ttl_s: Option<u64>) -> Result<Checkpoint, Error> {
        let wanted = Wanted { name: name.map(str::to_owned), ttl_s, session: "s".to_owned() };
        store.put(wanted, &self.record, &[&self.blobs])
    }
}

fn handles(store: &Store) -> Vec<String> {
    store.list().unwrap().into_iter().map(|one| one.handle).collect()
}

#[test]
fn what_was_put_is_found_by_another_store_of_the_folder() {
    let place = Place::new(100);
    let (one, other) = (place.store(1 << 30), place.store(1 << 30));
    assert!(handles(&one).is_empty());
    place.put(&one, None, None).unwrap();
    place.put(&other, Some("base"), None).unwrap();
    place.put(&one, None, None).unwrap();
    for store in [&one, &other] {
        assert_eq!(handles(store), ["c1", "c2", "base"]);
    }
    assert!(place.put(&other, Some("base"), None).unwrap_err().to_string().contains("already"));
    let (about, record, blobs) = other.get("c2").unwrap();
    assert!(about.bytes > 0 && about.files == place.record.files() && record.shell == "x=1\n");
    let again = place.folder.path().join("again");
    std::fs::create_dir(&again).unwrap();
    let mut level = record.parts[0].level.clone();
    level.restore(&Root::open(&again).unwrap(), &blobs[0]).unwrap();
    assert_eq!(std::fs::read(again.join("file")).unwrap(), vec![b'x'; 100]);
    one.delete("c1").unwrap();
    assert_eq!(handles(&other), ["c2", "base"]);
    assert!(other.get("c1").unwrap_err().to_string().contains("there are: base, c2"));
}

#[test]
fn those_without_a_name_make_room_and_others_do_not() {
    let place = Place::new(4000);
    let bytes = place.record.bytes();
    let store = place.store(3 * bytes);
    for name in [None, Some("a"), None, None, Some("b")] {
        place.put(&store, name, None).unwrap();
    }
    assert_eq!(handles(&store), ["a", "b", "c3"]);
    place.put(&store, Some("c"), None).unwrap();
    let full = place.put(&store, None, None).unwrap_err().to_string();
    assert!(full.contains("delete some"), "{full}");
    assert!(place.put(&place.store(bytes - 1), None, None).is_err(), "larger than all room");
}

#[test]
fn what_is_too_old_goes_and_what_is_damaged_says_so() {
    let place = Place::new(10);
    let store = place.store(1 << 30);
    place.put(&store, Some("short"), Some(0)).unwrap();
    place.put(&store, Some("long"), Some(1000)).unwrap();
    assert_eq!(handles(&store), ["long"]);
    let kept = place.folder.path().join("kept");
    std::fs::write(kept.join("long/record.json"), "{").unwrap();
    assert!(store.get("long").unwrap_err().to_string().contains("damaged"));
    place.put(&store, Some("torn"), None).unwrap();
    std::fs::write(kept.join("torn/about.json"), "").unwrap();
    let fresh = place.store(1 << 30);
    assert!(fresh.list().unwrap().iter().any(|one| one.handle == "torn" && one.damaged));
    fresh.delete("torn").unwrap();
    place.put(&store, Some("gone"), None).unwrap();
    let (_, record, _) = store.get("gone").unwrap();
    std::fs::remove_dir_all(kept.join("gone/blobs0")).unwrap();
    let (_, _, blobs) = store.get("gone").unwrap();
    let mut level = record.parts[0].level.clone();
    let mut ours = Blobs::open(&place.folder.path().join("ours")).unwrap();
    assert!(ours.adopt(&mut level, &blobs[0]).unwrap_err().to_string().contains("missing or damaged"));
}

#[test]
fn names_lead_nowhere_else_and_the_folder_is_private() {
    let place = Place::new(1);
    let store = place.store(1 << 30);
    let long = "x".repeat(65);
    for name in ["", ".", "..", ".x", "a/b", "a b", "\0", "ü", &long] {
        assert!(place.put(&store, Some(name), None).is_err(), "{name:?}");
        assert!(store.get(name).is_err() && store.delete(name).is_err(), "{name:?}");
    }
    place.put(&store, None, None).unwrap();
    let kept = place.folder.path().join("kept");
    assert_eq!(kept.metadata().unwrap().mode() & 0o777, 0o700);
    std::fs::set_permissions(&kept, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert!(store.list().is_err() && place.put(&store, None, None).is_err());
    let linked = Store::new(place.folder.path().join("link"), None);
    std::fs::set_permissions(&kept, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&kept, place.folder.path().join("link")).unwrap();
    assert!(linked.list().is_err());
}

#[test]
fn whatever_is_in_the_folder_the_next_handle_is_a_free_one() {
    let place = Place::new(1);
    let store = place.store(1 << 30);
    let first = place.put(&store, None, None).unwrap();
    let kept = place.folder.path().join("kept");
    for there in [u64::MAX - 1, u64::MAX, 0, 3, 1 << 63] {
        let name = format!("c{there}");
        assert!(
            place.put(&store, Some(&name), None).unwrap_err().to_string().contains("without a name"),
            "{name}"
        );
        // As an earlier version may have left it there.
        std::fs::rename(kept.join(&first.handle), kept.join(&name)).unwrap();
        let fresh = place.store(1 << 30);
        let mut found = Vec::new();
        for _ in 0..4 {
            found.push(place.put(&fresh, None, None).unwrap().handle);
        }
        assert_eq!(handles(&fresh).len(), 5, "{found:?} beside {name}");
        for handle in found {
            fresh.delete(&handle).unwrap();
        }
        std::fs::rename(kept.join(&name), kept.join(&first.handle)).unwrap();
    }
    for fine in ["c", "c1x", "C1", "1", "c-1"] {
        place.put(&store, Some(fine), None).unwrap();
    }
}
