//! What an earlier run, another checkout or a killed pip may have left never stands in the wheel's place.

use std::path::{Path, PathBuf};

use super::installed::Installed;
use super::interpreter::{self, Base, checked, command, output, remove};
use super::tools::{Tools, packages, whole};

/// Writes a wheel: folder, distribution, then pairs of a module file and its text.
const WHEEL: &str = r#"
import sys, zipfile
folder, name, files = sys.argv[1], sys.argv[2], sys.argv[3:]
info = f"{name}-1.dist-info"
contents = dict(zip(files[::2], files[1::2])) | {
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
contents[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in contents) + f"{info}/RECORD,,\n"
with zipfile.ZipFile(f"{folder}/{name}-1-py3-none-any.whl", "w") as wheel:
    for file, text in contents.items():
        wheel.writestr(file, text)
"#;

struct Machine {
    base: Base,
    folder: PathBuf,
    requirements: Vec<String>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = remove(&self.folder);
    }
}

impl Machine {
    /// A folder with a wheel of a tool; none where Python cannot make environments.
    fn new(name: &str) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("xtask-python-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let made = interpreter::find().and_then(|base| {
            checked(command(&base.program).args(["-c", "import ensurepip, venv"]), "looking for venv")
                .map(|()| base)
        });
        match made {
            Ok(base) => {
                wheel(&base, &folder, "tool", &["tool/__init__.py", "WORD = 'tool'", "tool/more.py", ""]);
                let requirements =
                    vec![folder.join("tool-1-py3-none-any.whl").to_string_lossy().into_owned()];
                Some(Self { base, folder, requirements })
            }
            Err(reason) => {
                let _ = remove(&folder);
                pithos_skipped::test(reason.lines().next().unwrap_or("no Python"));
                None
            }
        }
    }

    fn tools(&self) -> Tools {
        Tools::ensure(&self.base, &self.folder.join("cache"), &self.requirements, &["--no-index"])
            .expect("tools")
    }

    /// The environment of a checkout whose wheel says `word`.
    fn installed(&self, checkout: &str, word: &str) -> Installed {
        let checkout = self.folder.join(checkout);
        std::fs::create_dir_all(&checkout).expect("a checkout");
        let build = |folder: &Path| {
            std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
            let text = format!("from . import _iris\nWORD = '{word}'");
            wheel(
                &self.base,
                folder,
                "ours",
                &["iris/__init__.py", &text, "iris/_iris.py", "", "pithos.py", ""],
            );
            Ok(())
        };
        Installed::make(&self.base, &self.folder.join("target"), &checkout, "test", &self.tools(), build)
            .expect("an environment")
    }
}

fn wheel(base: &Base, folder: &Path, name: &str, files: &[&str]) {
    let mut python = command(&base.program);
    checked(python.args(["-c", WHEEL]).arg(folder).arg(name).args(files), "a wheel").expect("a wheel");
}

fn says(installed: &Installed) -> String {
    let mut python = installed.command();
    let script = "import iris, tool; print(iris.WORD, tool.WORD)";
    output(python.current_dir(&installed.folder).args(["-c", script]), "the import").expect("the import")
}

#[test]
fn tools_that_are_not_whole_are_made_anew() {
    let Some(machine) = Machine::new("tools") else { return };
    let site = machine.tools().packages().expect("site-packages");
    let folder = site.ancestors().find(|folder| folder.join("finished").exists()).expect("the environment");
    let away = machine.folder.join("away");
    let moved = [
        ("a file is gone", "tool/more.py", None),
        ("a package is gone", "tool", None),
        ("a list of files is gone", "tool-1.dist-info/RECORD", None),
        ("a distribution is gone", "tool-1.dist-info", None),
        ("pip was ended when it removed", "tool/more.py", Some("~ore.py")),
        ("one of our packages is there", "tool/more.py", Some("iris.py")),
    ];
    for (what, file, stays_as) in moved {
        assert_eq!(whole(folder), Ok(()));
        let to = stays_as.map_or(away.clone(), |name| site.join(name));
        std::fs::rename(site.join(file), &to).expect(what);
        assert!(whole(folder).is_err(), "{what}");
        std::fs::rename(&to, site.join(file)).expect(what);
    }
    let inode =
        |path: &Path| std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).expect("metadata"));
    let before = inode(&site);
    drop(machine.tools());
    assert_eq!(inode(&site), before, "an environment that is whole stays");

    // Ended before it was finished, and half of a package has gone.
    std::fs::remove_file(folder.join("finished")).expect("it was there");
    std::fs::rename(site.join("tool"), site.join("~ool")).expect("it was there");
    let tools = machine.tools();
    checked(tools.command("python").args(["-c", "import tool.more"]), "the import").expect("the import");
    assert!(!site.join("~ool").exists());
}

#[test]
fn the_wheel_is_what_is_imported() {
    let Some(machine) = Machine::new("wheel") else { return };
    machine.tools();
    // Two clones that share a build folder, at the same time.
    let run = |checkout| {
        let machine = &machine;
        move || {
            let installed = machine.installed(checkout, checkout);
            (says(&installed), installed.folder.clone())
        }
    };
    let (one, two) = std::thread::scope(|scope| {
        let two = scope.spawn(run("two"));
        (run("one")(), two.join().expect("the other run"))
    });
    assert_eq!((one.0.as_str(), two.0.as_str()), ("one tool\n", "two tool\n"));

    // What an editable install leaves leads to a clone without the compiled module, and pip was ended half-way.
    let clone = machine.folder.join("other-clone");
    std::fs::create_dir_all(clone.join("iris")).expect("a folder");
    std::fs::write(clone.join("iris/__init__.py"), "WORD = 'the other clone'\n").expect("a file");
    let stale = format!("{}\n", clone.display());
    let own = packages(&one.1).expect("site-packages");
    std::fs::write(own.join("iris.pth"), &stale).expect("a file");
    std::fs::write(own.join("a.pth"), format!("import sys; sys.path.insert(0, {clone:?})\n"))
        .expect("a file");
    std::fs::rename(own.join("iris"), own.join("~ris")).expect("it was there");
    std::fs::write(machine.tools().packages().expect("site-packages").join("iris.pth"), &stale)
        .expect("a file");
    remove(&machine.folder.join("two")).expect("it was there");

    let again = machine.installed("one", "again");
    assert_eq!(says(&again), "again tool\n");
    assert_eq!(again.folder, one.1);
    assert!(!two.1.exists(), "what has no checkout any more is removed");
    let misled = again.command().get_envs().any(|(name, value)| name == "PYTHONPATH" && value.is_some());
    assert!(!misled, "what the caller has set is not passed on");
}
