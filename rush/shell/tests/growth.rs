//! How the cost of operations grows: each is run with n, 4n and 16n things, and instructions are counted by valgrind, so that a
//! loaded machine changes nothing. What is linear costs four times as much a step, what is quadratic sixteen times.
//!
//! The test starts itself again under `valgrind --tool=callgrind`, which writes a count for every call of `measured`.
//! Where valgrind is not installed the test says that it was skipped.

use rush::Session;
use std::path::Path;
use std::process::Command;

/// A name, what is prepared, and what is counted. `N` is the number of things.
type Operation = (&'static str, &'static str, &'static str);

macro_rules! each {
    ($body:expr) => {
        concat!("for ((i=0;i<N;i++)); do ", $body, "; done")
    };
}

const FILL: &str = each!("a[i]=x");
const FILL_MAP: &str = concat!("declare -A m; ", each!("m[k$i]=v"));
const WORDS: &str = each!("s+='word '");
const VARIABLES: &str = each!("printf -v v$i 1");
const FUNCTIONS: &str = each!("eval \"f$i() { :; }\"");

const OPERATIONS: &[Operation] = &[
    ("append to an array", "", each!("a+=(x)")),
    ("append at the count", "", each!("a[${#a[@]}]=x")),
    ("append at an index", "", each!("a[i]=x")),
    ("append to a sparse array", "a[5]=1", each!("a+=(x)")),
    ("append after the last", "a[5]=1", each!("x=${a[-1]}; a[i*3]=x")),
    ("append in a function", "f() { a+=(x); }", each!("f")),
    ("append through a nameref", "f() { local -n r=$1; r+=(x); }", each!("f a")),
    ("fill from the end", "", each!("a[N-i]=x")),
    ("unset from the front", FILL, each!("unset \"a[i]\"")),
    ("unset from the back", FILL, each!("unset 'a[-1]'")),
    ("read elements", FILL, each!("x=${a[i]}")),
    ("count elements", FILL, each!("x=${#a[@]}")),
    ("slice of one element", FILL, each!("x=${a[@]:i:1}")),
    ("test elements", FILL, each!("[[ -v a[i] ]]")),
    ("arithmetic on elements", FILL, each!("((a[i]+=i))")),
    ("default of elements", FILL, each!("x=${a[i]:-y}")),
    ("go over an array", FILL, "for x in \"${a[@]}\"; do :; done; for x in \"${!a[@]}\"; do :; done"),
    (
        "copy and change an array",
        FILL,
        "b=(\"${a[@]}\"); b=(\"${a[@]/x/y}\"); x=\"${a[*]}\"; x=\"${a[@]@Q}\"",
    ),
    ("append to a map", "declare -A m", each!("m+=([k$i]=v)")),
    ("set in a map", "declare -A m", each!("m[k$i]=v")),
    ("set at a map's count", "declare -A m", each!("m[k${#m[@]}]=v")),
    ("read from a map", FILL_MAP, each!("x=${m[k$i]}; x=${m[k$i]:-y}; [[ -v m[k$i] ]]")),
    ("unset in a map", FILL_MAP, each!("unset \"m[k$i]\"")),
    ("go over a map", FILL_MAP, "for x in \"${!m[@]}\" \"${m[@]}\"; do :; done"),
    ("append to a string", "", each!("s+=x")),
    ("append to a string in a function", "f() { s+=x; }", each!("f")),
    ("add to an integer", "declare -i n=0", each!("n+=1")),
    ("replace in a string", WORDS, "x=${s// /ab}; x=${s//w?r/ab}; x=${s^^}; x=${s@Q}"),
    ("trim a string", WORDS, "x=${s#w}; x=${s%%d*}; x=${s##* }"),
    (
        "match an expression with a repeated group",
        WORDS,
        "[[ $s =~ ^([a-z]+ )*$ ]]; [[ $s =~ (w|o|r|d| )*$ ]]",
    ),
    ("match an expression with a group of groups", WORDS, "[[ ${s}x =~ ((wo|r)+(d)( ))*x$ ]]"),
    (
        "match what is not",
        WORDS,
        "shopt -s extglob; [[ $s == *!(b) ]]; [[ $s == !(w)* ]]; x=${s/!(c)/}; x=${s##*!(w)}",
    ),
    ("match a string", WORDS, "[[ $s == *q* ]]; case $s in *q) ;; esac"),
    (
        "a pattern of wide characters",
        concat!("LC_ALL=C.UTF-8; ", each!("s+=ä")),
        "case $s in \"$s\"*) ;; esac; x=${s%%$s}; x=${s//$s/b}; shopt -s nocasematch; [[ $s == $s ]]",
    ),
    ("a pattern of escapes", each!("s+='\\x'"), "[[ x == $s ]]"),
    ("brackets that do not end", each!("s+='['"), "[[ x == $s ]]; x=${s#$s}"),
    ("names in brackets that do not end", each!("s+='[:a[.a'"), "[[ x == $s ]]; [[ x == [$s] ]]"),
    ("split a string", WORDS, "b=($s); set -- $s; read -ra c <<< \"$s\""),
    ("shift", WORDS, "set -- $s; while (($#)); do x=$1; shift; done"),
    ("shift in a function", WORDS, "f() { while (($#)); do x=$1; shift; done; }; f $s"),
    ("go over parameters", WORDS, "set -- $s; for x; do :; done; for ((i=1;i<=$#;i++)); do x=${!i}; done"),
    ("slice of one parameter", WORDS, "set -- $s; for ((i=1;i<=$#;i++)); do x=${@:i:1}; done"),
    ("getopts over words", each!("s+=' -a'"), "set -- $s; while getopts a o; do :; done"),
    ("getopts in a word", concat!("s=-; ", each!("s+=a")), "set -- $s; while getopts a o; do :; done"),
    ("pass arguments on", WORDS, "f() { g \"$@\"; }; g() { :; }; f $s"),
    ("define functions", "", FUNCTIONS),
    ("call many functions", FUNCTIONS, each!("f$i")),
    ("unset functions", FUNCTIONS, each!("unset -f f$i")),
    ("define variables", "", each!("printf -v v$i x; declare w$i=1; export x$i=1")),
    ("unset variables", VARIABLES, each!("unset v$i")),
    ("indirect variables", VARIABLES, each!("n=v$i; x=${!n}")),
    ("locals", "", concat!("f() { ", each!("local v$i=1"), "; }; f")),
    ("list variables", VARIABLES, "x=$(set; declare -p; compgen -v); x=(${!v*})"),
    ("subshells among variables", VARIABLES, each!("(x=1)")),
    ("substitutions among variables", VARIABLES, each!("x=$(echo $i)")),
    ("assignments before commands", VARIABLES, each!("x=1 :")),
    (
        "aliases",
        "shopt -s expand_aliases",
        each!("alias a$i=:; eval a$i; x=${BASH_ALIASES[a$i]}; unalias a$i"),
    ),
    ("an alias among many", each!("alias a$i=:"), each!("x=${BASH_ALIASES[a1]}")),
    ("remembered commands", "", each!("hash -p /bin/true p$i; x=${BASH_CMDS[p$i]}")),
    ("subshells among tables", each!("hash -p /bin/true p$i; alias a$i=x; complete -W x c$i"), each!("(:)")),
    ("completions", "", each!("complete -W x c$i")),
    ("directory stack", "", each!("pushd -n /usr >/dev/null; popd -n >/dev/null")),
    ("history", "set -o history; HISTSIZE=100000", each!("history -s \"echo $i\"")),
    ("history that is full", "set -o history; HISTSIZE=100", each!("history -s \"echo $i\"")),
    ("a here-document", WORDS, "eval \"read -r x <<E\n$s\nE\""),
    (
        "lines of a here-string",
        each!("s+=$'a b\\n'"),
        "while read -r x; do :; done <<< \"$s\"; mapfile -t b <<< \"$s\"",
    ),
    ("many here-documents", each!("s+=$': <<E\\nx\\nE\\n'"), "eval \"$s\""),
    ("a brace range", "", "eval \"for x in {1..$N}; do :; done\""),
    ("a brace list", each!("s+=a,"), "eval \"set -- {$s}\""),
    ("parse a list", concat!("y() { :; }; z() { :; }; ", each!("s+='x=1; y && z $x || :; '")), "eval \"$s\""),
    (
        "parse a function and print it",
        concat!("s='f() { :; '; ", each!("s+='x=1; '"), "; s+='}'"),
        "eval \"$s\"; x=$(declare -f f)",
    ),
    ("parse a case", concat!("s='case x in '; ", each!("s+=\"k$i) ;; \""), "; s+=esac"), "eval \"$s\""),
    ("parse continued lines", concat!("s=x=; ", each!("s+=$'a\\\\\\n'")), "eval \"$s\""),
    ("traps and options", "", each!("trap : USR1; shopt -s nullglob; set +f; trap - USR1")),
];

const SIZES: [u32; 3] = [200, 800, 3200];

/// The most that 16n things may cost, in costs of 4n things: 4 when linear, 16 when quadratic. (The first size is there to
/// be seen; what is made once weighs too much in it.)
const SLOPE_MAX: f64 = 6.0;

#[inline(never)]
fn measured(session: &mut Session, text: &[u8]) -> bool {
    std::hint::black_box(session.run_text(std::hint::black_box(text), 1)).is_ok()
}

/// Not a test of its own: runs every operation, in the order in which the counts are read.
#[test]
fn operations_under_valgrind() {
    if std::env::var_os("RUSH_GROWTH_CHILD").is_none() {
        return;
    }
    for (name, setup, body) in OPERATIONS {
        for n in SIZES {
            let mut session = Session::new(b"growth".to_vec());
            session.import_environment(std::iter::empty());
            assert!(session.run_text(format!("N={n}\n{setup}").as_bytes(), 1).is_ok(), "{name}: preparation");
            assert!(measured(&mut session, body.as_bytes()), "{name}");
        }
    }
}

/// The instruction counts of the dumps in `folder`, in their order.
fn counts(folder: &Path) -> Vec<f64> {
    let mut dumps: Vec<(u32, f64)> = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let text = String::from_utf8_lossy(&std::fs::read(entry.path()).expect("a dump")).into_owned();
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
        let triggered = field("desc: Trigger:").is_some_and(|cause| cause.contains("measured"));
        if let (true, Some(part), Some(total)) =
            (triggered, field("part:"), field("summary:").or(field("totals:")))
        {
            dumps.push((part.parse().expect("a part"), total.parse().expect("a count")));
        }
    }
    dumps.sort_by_key(|dump| dump.0);
    dumps.into_iter().map(|dump| dump.1).collect()
}

#[test]
fn no_operation_grows_faster_than_what_it_works_on() {
    if std::env::var_os("RUSH_GROWTH_CHILD").is_some() {
        return;
    }
    if !pithos_skipped::unless_installed("valgrind") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("rush-growth-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--dump-after=growth::measured*", "--zero-before=growth::measured*"])
        .arg(format!("--callgrind-out-file={}/dump", folder.display()))
        .arg(std::env::current_exe().expect("this program"))
        .args(["--exact", "operations_under_valgrind", "--test-threads=1"])
        .env("RUSH_GROWTH_CHILD", "1")
        .output()
        .expect("valgrind runs");
    let counts = counts(&folder);
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(counts.len(), OPERATIONS.len() * SIZES.len(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut steep = Vec::new();
    for ((name, ..), count) in OPERATIONS.iter().zip(counts.chunks(SIZES.len())) {
        let slope = count[2] / count[1].max(1.0);
        println!("{name:32} {:12.0} {:12.0} {:12.0}  {slope:5.2}", count[0], count[1], count[2]);
        if slope > SLOPE_MAX {
            steep.push(format!("{name}: {count:?}, slope {slope:.2}"));
        }
    }
    assert!(steep.is_empty(), "{}", steep.join("\n"));
}
