//! cynic's rows: start-up, the eleven fixtures, six macro programs, twenty classic ones; and the workloads of its growth run.

use super::{Suite, invocation, scaled_source, wanted};
use crate::contest::{Case, Contestant, Expected, Figure};
use crate::locate::{Places, version};
use crate::model::{ContestantInfo, Unit};
use std::fs;
use std::io;
use std::path::Path;

/// The fixtures and what each prints.
const FIXTURES: [(&str, &str); 11] = [
    ("arith_loop", "1642668640"),
    ("prop_access", "3000000"),
    ("prop_write", "2000002"),
    ("array_iter", "704532704"),
    ("string_concat", "771080"),
    ("promise_chain", "10000"),
    ("object_alloc", "799999"),
    ("method_call", "500000"),
    ("class_instantiate", "799999"),
    ("json_stringify", "3083335"),
    ("tail_recursion", "1000000"),
];

/// The macro programs and their checksums.
const MACRO: [(&str, &str); 6] = [
    ("oo_simulation", "251733445"),
    ("constraint_solver", "694436696"),
    ("bignum_crypto", "8:92159068"),
    ("stencil", "658684856:265273099"),
    ("ray_tracer", "701905206"),
    ("tree_alloc", "226540000:15"),
];

/// Classic programs and what each prints, which is what node prints, too.
const CLASSIC: [(&str, &str); 20] = [
    ("bigint_rsa", "990808513"),
    ("binary_trees", "271710"),
    ("deltablue", "190 1170 5 820755"),
    ("fannkuch", "1616 22"),
    ("json_trips", "60526 927136.857143"),
    ("levenshtein", "12872"),
    ("life", "373 -1404789909"),
    ("mandelbrot", "10100 -1107075501"),
    ("matrix", "-6339.1866 -6339.1866"),
    ("md5", "90015098 bb33951b55294d28c709a11ff594cf59"),
    ("navier_stokes", "77.725867"),
    ("nbody", "-0.169076208 -0.169090328"),
    ("queens", "2680 352"),
    ("regexp_log", "24 295926000 2154"),
    ("richards", "4576 1829"),
    ("sha256", "ba7816bf ab217593a44b61e23c1088deb5f819fc0f210ab4f4346ec5fe28b6e152c238a1"),
    ("spectral_norm", "1.274218510"),
    ("splay", "1500 47311"),
    ("string_words", "2085 mi:205 sto:198 vey:198 0 -404014315"),
    ("sudoku", "2051731449 8054"),
];

/// What is run at three sizes: the headline fixtures, and workloads that a careless engine makes quadratic.
pub(crate) const GROWTH: [&str; 14] = [
    "fixtures/arith_loop",
    "fixtures/array_iter",
    "fixtures/string_concat",
    "fixtures/promise_chain",
    "fixtures/object_alloc",
    "fixtures/json_stringify",
    "fixtures/tail_recursion",
    "macro/tree_alloc",
    "growth/queue",
    "growth/map_insert",
    "growth/property_insert",
    "growth/sort",
    "growth/string_scan",
    "growth/live_heap",
];

struct Engine {
    name: &'static str,
    executable: &'static str,
    prefix: &'static [&'static str],
    version: &'static [&'static str],
    package: &'static str,
}

const ENGINES: [Engine; 7] = [
    Engine { name: "quickjs-ng", executable: "qjs", prefix: &[], version: &["--help"], package: "" },
    Engine {
        name: "jsc-nojit",
        executable: "jsc",
        prefix: &["--useJIT=false"],
        version: &[],
        package: JSC_PACKAGE,
    },
    Engine {
        name: "node-jitless",
        executable: "node",
        prefix: &["--jitless"],
        version: NODE_VERSION,
        package: "",
    },
    // Its baseline compiler, from the beginning, and nothing above it.
    Engine {
        name: "node-sparkplug",
        executable: "node",
        prefix: &["--sparkplug", "--always-sparkplug", "--no-opt"],
        version: NODE_VERSION,
        package: "",
    },
    Engine { name: "hermes", executable: "hermes", prefix: &["-w"], version: &["--version"], package: "" },
    Engine { name: "jsc", executable: "jsc", prefix: &[], version: &[], package: JSC_PACKAGE },
    Engine { name: "node", executable: "node", prefix: &[], version: NODE_VERSION, package: "" },
];

const JSC_PACKAGE: &str = "libjavascriptcoregtk-4.0-bin";
const NODE_VERSION: &[&str] = &["-p", "`${process.version}, V8 ${process.versions.v8}`"];

/// Ours and every engine that is there.
pub(crate) fn contestants(places: &Places) -> Vec<Contestant> {
    let mut all = Vec::new();
    if let Some(program) = places.ours("PITHOS_BENCH_CYNIC", "cynic") {
        let info = ContestantInfo {
            name: "cynic".into(),
            version: version(&program, &["--version"], ""),
            ours: true,
        };
        // Beside itself: what compiled code gains is a ratio like any other.
        let compiling =
            ContestantInfo { name: "cynic-template".into(), version: info.version.clone(), ours: false };
        let flags = vec!["run".into(), "--jit=template".into()];
        all.push(Contestant { info, program: program.clone(), prefix: vec!["run".into()] });
        all.push(Contestant { info: compiling, program, prefix: flags });
    }
    for engine in &ENGINES {
        let Some(program) = places.peer(engine.executable) else { continue };
        let mut prefix: Vec<String> = engine.prefix.iter().map(|&argument| argument.into()).collect();
        if engine.executable == "node" {
            prefix.push(places.bench("js/node-script.cjs").to_string_lossy().into_owned());
        }
        let version = version(&program, engine.version, engine.package);
        let info = ContestantInfo { name: engine.name.into(), version, ours: false };
        all.push(Contestant { info, program, prefix });
    }
    all
}

/// The suite, with its sources written into `scratch`.
pub(crate) fn suite(places: &Places, scratch: &Path, filter: Option<&str>) -> io::Result<Suite> {
    let contestants = contestants(places);
    let mut cases = Vec::new();
    let groups =
        [("fixtures", FIXTURES.as_slice()), ("macro", MACRO.as_slice()), ("classic", CLASSIC.as_slice())];
    for (group, programs) in groups {
        for (name, expected) in programs.iter().filter(|(name, _)| wanted(name, filter)) {
            let expected = Expected::Exactly((*expected).to_owned());
            cases.push(case(places, scratch, &contestants, &format!("{group}/{name}"), 1.0, expected)?);
        }
    }
    Ok(Suite {
        name: "cynic",
        title: "JavaScript engines",
        startup: Some(startup(scratch, &contestants)?),
        contestants,
        cases,
        reference: "quickjs-ng",
    })
}

/// The start-up row: an empty strict program.
pub(crate) fn startup(scratch: &Path, contestants: &[Contestant]) -> io::Result<Case> {
    let file = scratch.join("empty.js");
    fs::write(&file, "\"use strict\";\n")?;
    Ok(Case {
        name: "startup".to_owned(),
        group: "startup".to_owned(),
        unit: Unit::Millis,
        operations: 1,
        figure: Figure::Process,
        expected: Expected::Anything,
        less_startup: false,
        invocations: contestants
            .iter()
            .map(|c| Some(invocation(c, &[file.clone().into()], scratch)))
            .collect(),
    })
}

/// One program at one size. `path` is relative to `bench/js`, without its ending.
pub(crate) fn case(
    places: &Places,
    scratch: &Path,
    contestants: &[Contestant],
    path: &str,
    factor: f64,
    expected: Expected,
) -> io::Result<Case> {
    let source = fs::read_to_string(places.bench(&format!("js/{path}.js")))?;
    let (group, name) = path.split_once('/').unwrap_or(("", path));
    let file = scratch.join(format!("{name}-{factor}.js"));
    // At its own size a program runs as it stands, so that what is measured is what one can read.
    fs::write(&file, if factor == 1.0 { source } else { scaled_source(&source, factor) })?;
    Ok(Case {
        name: name.to_owned(),
        group: group.to_owned(),
        unit: Unit::Millis,
        operations: 1,
        figure: Figure::Process,
        expected,
        less_startup: true,
        invocations: contestants
            .iter()
            .map(|c| Some(invocation(c, &[file.clone().into()], scratch)))
            .collect(),
    })
}
