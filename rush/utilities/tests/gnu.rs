//! Every utility against the system's GNU program on a generated tree: standard output, standard error, status, and
//! for the ones that change files the tree afterwards. A case that a utility declines is listed as declined and is
//! not compared. Cases are skipped where the machine has no such program.

mod machine;
mod tree;

use std::fs;
use std::os::unix::ffi::OsStringExt;

use tree::{build_tree, is_gnu, ours, scratch, theirs};

/// Runs `cases` (words separated by blanks; `\_` is a blank inside a word) against the program.
fn compare(name: &str, input: &str, changes: bool, cases: &[&str]) {
    let program = cases.first().and_then(|c| c.split(' ').next()).unwrap_or_default();
    if !is_gnu(program) {
        pithos_skipped::test(&format!("{program} is not GNU's here"));
        return;
    }
    let mut declined = Vec::new();
    let mut failures = Vec::new();
    let shared = scratch(name);
    build_tree(&shared);
    for (index, case) in cases.iter().enumerate() {
        let words: Vec<String> = case.split(' ').map(|w| w.replace("\\_", " ").replace("\\e", "")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (mut left, mut right) = (shared.clone(), shared.clone());
        if changes {
            left = scratch(&format!("{name}-{index}-l"));
            right = scratch(&format!("{name}-{index}-r"));
            build_tree(&left);
            build_tree(&right);
        }
        let got = ours(&left, &words, input.as_bytes(), changes);
        let expect = theirs(&right, &words, input.as_bytes(), changes).unwrap();
        match got {
            None => declined.push(*case),
            Some(got) if got != expect => failures.push(format!("{case}\ngot {got:?}\nexpected {expect:?}")),
            Some(_) => {}
        }
        if changes {
            let _ = fs::remove_dir_all(&left);
            let _ = fs::remove_dir_all(&right);
        }
    }
    let _ = fs::remove_dir_all(&shared);
    assert!(
        failures.is_empty(),
        "{} of {} differ:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n=====\n")
    );
    assert!(declined.is_empty(), "declined: {declined:?}");
}

const TEXT: &str = "alpha\nbeta\n  gamma\nalpha\n\nlast line";

#[test]
fn small_ones() {
    compare(
        "basename",
        "",
        false,
        &[
            "basename /usr/lib/x.so .so",
            "basename -a a/b c/d/",
            "basename /",
            "basename -s .c a.c b/x.c",
            "basename -z a/b",
        ],
    );
    compare(
        "dirname",
        "",
        false,
        &["dirname /usr/lib/x", "dirname a", "dirname /", "dirname a/b/ //x a//b", "dirname -z a/b"],
    );
    compare(
        "seq",
        "",
        false,
        &[
            "seq 5",
            "seq 2 4",
            "seq 10 -3 1",
            "seq -2 2",
            "seq -w 8 11",
            "seq -s , 3",
            "seq 3 1",
            "seq -w -5 5",
        ],
    );
    compare(
        "env",
        "",
        false,
        &[
            "env -i",
            "env -i A=1 B=2",
            "env -i -u A A=1",
            "env -i X=1 /usr/bin/printenv X",
            "env -i /bin/sh -c exit\\_3",
            "env nosuchprogram",
        ],
    );
    compare(
        "realpath",
        "",
        false,
        &[
            "realpath a.txt",
            "realpath link dirlink/x.rs",
            "realpath missing",
            "realpath missing/x",
            "realpath -m missing/x/../y",
            "realpath -e missing",
            "realpath -s link",
            "realpath d/../a.txt a.txt/",
            "realpath -q -e missing",
        ],
    );
}

#[test]
fn readers() {
    compare(
        "cat",
        TEXT,
        false,
        &[
            "cat a.txt",
            "cat -n a.txt no-newline b.txt",
            "cat -b a.txt",
            "cat -A binary words",
            "cat -s words",
            "cat -e utf8",
            "cat missing a.txt",
            "cat d",
            "cat",
            "cat - a.txt",
            "cat -vT words",
            "cat -nE no-newline",
            "cat -bsn words",
        ],
    );
    compare(
        "head",
        TEXT,
        false,
        &[
            "head a.txt",
            "head -n 2 a.txt",
            "head -3 a.txt",
            "head -c 5 a.txt",
            "head a.txt b.txt",
            "head -q -n1 a.txt b.txt",
            "head -v -n1 a.txt",
            "head -n 0 a.txt",
            "head missing a.txt",
            "head -n 2",
            "head -n 1K big",
            "head nothing",
            "head -n1 - a.txt",
            "head d",
        ],
    );
    compare(
        "tail",
        TEXT,
        false,
        &[
            "tail a.txt",
            "tail -n 2 a.txt",
            "tail -3 a.txt",
            "tail -c 5 a.txt",
            "tail -n +3 a.txt",
            "tail -c +3 a.txt",
            "tail a.txt b.txt",
            "tail -q -n1 a.txt b.txt",
            "tail -n 0 a.txt",
            "tail missing a.txt",
            "tail -n 2",
            "tail -n 20000 big",
            "tail -c 1K big",
            "tail -n1 no-newline",
            "tail -n +1 a.txt",
            "tail nothing",
            "tail -n +0 a.txt",
            "tail -c 3",
        ],
    );
    compare(
        "wc",
        TEXT,
        false,
        &[
            "wc a.txt",
            "wc -l a.txt b.txt",
            "wc",
            "wc -c a.txt",
            "wc -m utf8",
            "wc -w words utf8",
            "wc -lw",
            "wc nothing",
            "wc missing a.txt",
            "wc -l big",
            "wc d",
            "wc binary",
            "wc -lwmc utf8 big",
            "wc - a.txt",
            "wc -l nothing nothing",
        ],
    );
}

#[test]
fn filters() {
    compare(
        "uniq",
        "a\na\nb\nB\nb\nc\nc\n",
        false,
        &[
            "uniq",
            "uniq -c",
            "uniq -d",
            "uniq -u",
            "uniq -i dup",
            "uniq -ci dup",
            "uniq -f 1 words",
            "uniq -s 1 dup",
            "uniq -w 1 a.txt",
            "uniq missing",
            "uniq no-newline",
            "uniq -dc",
        ],
    );
    compare(
        "cut",
        "a:b:c\nno delimiter\n:x:\n",
        false,
        &[
            "cut -d : -f 1",
            "cut -d: -f2-",
            "cut -d: -f1,3 -s",
            "cut -d: -f-2 --output-delimiter=|",
            "cut -c 1-3",
            "cut -b 2,4-",
            "cut -c 1-3 a.txt utf8",
            "cut -f 1 words",
            "cut -d: --complement -f 2",
            "cut -c2-3,5 --output-delimiter=- a.txt",
            "cut -d: -f 5",
            "cut -f1 missing",
        ],
    );
    compare(
        "tr",
        "Hello  World\naabbcc\t123\n",
        false,
        &[
            "tr a-z A-Z",
            "tr -d aeiou",
            "tr -s \\_",
            "tr -cd [:alpha:]",
            "tr [:lower:] [:upper:]",
            "tr -s a-z",
            "tr -c a-z\\n -",
            "tr abc x",
            "tr -t abc x",
            "tr \\\\n ,",
            "tr [:space:] _",
            "tr -ds 0-9 a-z",
            "tr a-c [x*]",
            "tr \\\\141 Z",
            "tr -d [=a=]",
        ],
    );
    compare(
        "sort",
        TEXT,
        false,
        &[
            "sort",
            "sort -r a.txt",
            "sort -n numbers",
            "sort -u dup",
            "sort -f dup",
            "sort -t: -k2,2n b.txt",
            "sort -t: -k1,1 -k2,2nr b.txt",
            "sort -k2 words",
            "sort -b words",
            "sort -h numbers",
            "sort -nr numbers",
            "sort -c dup",
            "sort -C dup",
            "sort -c b.txt",
            "sort a.txt b.txt no-newline",
            "sort -s -k1,1 words",
            "sort -uf dup",
            "sort -d words",
            "sort missing",
            "sort -t: -k2.2 b.txt",
            "sort -k1.2,1.3 a.txt",
            "sort utf8 binary",
            "sort -z a.txt",
            "sort -nu numbers",
            "sort -k 2b,2 words",
            "sort d",
        ],
    );
    compare("tee", TEXT, true, &["tee", "tee new", "tee -a a.txt new2", "tee d/no/where", "tee d"]);
}

#[test]
fn listings() {
    compare(
        "ls",
        "",
        false,
        &[
            "ls",
            "ls -a",
            "ls -A",
            "ls -l",
            "ls -la d",
            "ls -lh",
            "ls -ln",
            "ls -1 d empty",
            "ls -d d a.txt",
            "ls -F",
            "ls -p",
            "ls -R",
            "ls -lR d",
            "ls -t",
            "ls -lt",
            "ls -S",
            "ls -lS",
            "ls -r",
            "ls -i a.txt",
            "ls -li d",
            "ls missing",
            "ls missing a.txt d",
            "ls -lo",
            "ls -lg",
            "ls --full-time a.txt",
            "ls -U empty",
            "ls dirlink",
            "ls -l dirlink",
            "ls -l link dangling",
            "ls dangling",
            "ls -ld dirlink/",
            "ls -rt",
            "ls -lhS",
            "ls --color=never",
            "ls -l /dev/null /dev/zero",
            "ls -aF d",
            "ls nothing empty",
        ],
    );
    compare(
        "stat",
        "",
        false,
        &[
            "stat a.txt",
            "stat d",
            "stat -c %a\\_%A\\_%n\\_%s\\_%Y a.txt d",
            "stat -L -c %N\\_%F link",
            "stat -c %N\\_%F link dangling nothing",
            "stat --printf=%n\\\\n a.txt b.txt",
            "stat missing",
            "stat -c %U:%G\\_%u:%g\\_%h\\_%i\\_%b\\_%B\\_%o\\_%f\\_%d\\_%D a.txt",
            "stat -c %x|%y|%z|%w a.txt",
            "stat -c %X\\_%Z\\_%W a.txt",
            "stat /dev/null",
            "stat -c %t:%T /dev/null",
            "stat sp\\_ace",
            "stat -c %N quo'te",
        ],
    );
    compare(
        "find",
        "",
        false,
        &[
            "find",
            "find d",
            "find . -name *.rs",
            "find . -type d",
            "find . -type f -name *.txt -o -name *.c",
            "find . -maxdepth 1 -type f",
            "find d -mindepth 2",
            "find . -size +1k",
            "find . -empty",
            "find . -path ./d -prune -o -print",
            "find d -print0",
            "find . -newer a.txt -type f",
            "find missing",
            "find d missing a.txt",
            "find . -iname A.TXT",
            "find . ! -name *.rs -type f",
            "find . ( -name *.rs -o -name *.c ) -print",
            "find d -depth",
            "find . -mtime +1000",
            "find . -perm 644 -name *.txt",
            "find . -type l",
            "find . -exec echo x {} ;",
            "find d -name *.rs -exec echo {} +",
            "find d -name x.rs -exec false ; -print",
            "find d -name x.rs -exec nosuch ;",
            "find d/ -name *.rs",
            "find . -type f,l -name *l*",
            "find . -size -2",
            "find . -size 0",
            "find d -false",
            "find . -mmin -5 -type d",
        ],
    );
}

#[test]
fn searches() {
    compare(
        "grep",
        TEXT,
        false,
        &[
            "grep alpha",
            "grep alpha a.txt",
            "grep -n alpha a.txt b.txt",
            "grep -i ALPHA a.txt",
            "grep -v alpha a.txt",
            "grep -c alpha a.txt b.txt",
            "grep -l alpha a.txt b.txt",
            "grep -L alpha a.txt b.txt",
            "grep -q alpha a.txt",
            "grep -w alpha a.txt d/x.rs",
            "grep -x alpha a.txt",
            "grep -o [a-z]* a.txt",
            "grep -E a(l|m) a.txt",
            "grep -F a.t a.txt",
            "grep -e alpha -e beta a.txt",
            "grep -r alpha d",
            "grep -rn alpha d",
            "grep -r alpha --include=*.rs d",
            "grep -rl fn d",
            "grep -A1 beta a.txt",
            "grep -B1 gamma a.txt",
            "grep -C1 delta a.txt",
            "grep -n -C1 alpha a.txt",
            "grep -m1 alpha a.txt",
            "grep zzz a.txt",
            "grep x missing",
            "grep -s x missing",
            "grep alpha missing a.txt",
            "grep text binary",
            "grep -a text binary",
            "grep -c text binary",
            "grep é utf8",
            "grep -o caf. utf8",
            "grep ^$ a.txt",
            "grep ^a.*a$ a.txt",
            "grep \\\\(al\\\\)pha a.txt",
            "grep a\\\\+ a.txt",
            "grep [[:digit:]] a.txt",
            "grep -E [0-9]{2} a.txt",
            "grep -h alpha a.txt d/x.rs",
            "grep -H alpha a.txt",
            "grep -on a a.txt",
            "grep -vc a a.txt",
            "grep -e a* a.txt",
            "grep \\e a.txt",
            "grep -x \\e a.txt",
            "grep x d",
            "grep -lv alpha a.txt",
            "grep -Zl alpha a.txt",
            "grep *a a.txt",
            "grep -n \\\\<alpha\\\\> a.txt",
            "grep -A1 -m1 alpha a.txt",
            "grep line\\_29 big",
            "grep -c 9 big",
            "grep -n 2999 big",
            "grep -r alpha",
            "grep alpha - a.txt",
            "grep -rh alpha d",
            "grep -rc alpha d",
            "grep --exclude-dir=sub -r fn d",
            "grep -i É utf8",
            "grep -v x nothing",
            "grep -c x nothing",
            "grep -nv a no-newline",
            "grep -A 1 -n alpha a.txt b.txt",
            "grep -in alpha\\_BETA a.txt",
            "grep -E ^(alpha|beta)$ a.txt",
            "grep -w a b.txt",
            "grep a{2} a.txt",
            "grep -E a|b$ b.txt",
        ],
    );
    compare(
        "xargs",
        "a b\n'c d' e\\ f\n\"g\"\n",
        false,
        &[
            "xargs",
            "xargs -n 2",
            "xargs -n 1 echo x",
            "xargs -I {} echo <{}>",
            "xargs -d \\n -n1",
            "xargs false",
            "xargs nosuchprogram",
            "xargs sh -c exit\\_255",
            "xargs -n1 -r",
        ],
    );
    compare("xargs-empty", "", false, &["xargs echo x", "xargs -r echo x", "xargs -0 echo"]);
    compare("xargs-zero", "a b\0c\0", false, &["xargs -0 -n1", "xargs -0"]);
}

#[test]
fn unmatched_quotes() {
    compare("xargs-single", "'\n", false, &["xargs"]);
    compare("xargs-double", "a \"b\n", false, &["xargs echo"]);
    compare("xargs-end", "\"b", false, &["xargs echo"]);
    compare("xargs-rest", "a b c 'x", false, &["xargs echo", "xargs -n1", "xargs false"]);
}

#[test]
fn changers() {
    compare(
        "mkdir",
        "",
        true,
        &[
            "mkdir new",
            "mkdir -p x/y/z",
            "mkdir d",
            "mkdir -p d/sub",
            "mkdir x/y",
            "mkdir -v new1 new2",
            "mkdir -pv x/y",
            "mkdir -m 700 private",
            "mkdir a.txt/x",
            "mkdir -p a.txt/x",
            "mkdir -p x/y/",
            "mkdir new d new2",
        ],
    );
    compare(
        "rm",
        "",
        true,
        &[
            "rm a.txt",
            "rm a.txt b.txt missing",
            "rm -f missing",
            "rm d",
            "rm -r d",
            "rm -rf d missing",
            "rm -d empty",
            "rm -d d",
            "rm -v a.txt link",
            "rm -r dirlink",
            "rm -rf .",
            "rm link dangling",
            "rm -f",
            "rm -r d/.. a.txt",
            "rm -f d a.txt",
            "rm quo'te sp\\_ace",
            "rm missing/x",
        ],
    );
    compare(
        "cp",
        "",
        true,
        &[
            "cp a.txt new",
            "cp a.txt b.txt",
            "cp a.txt b.txt d",
            "cp d new",
            "cp -r d new",
            "cp -r d empty",
            "cp missing x",
            "cp -v a.txt new",
            "cp -n a.txt b.txt",
            "cp link new",
            "cp -r dirlink new",
            "cp a.txt a.txt",
            "cp a.txt link",
            "cp -T a.txt new",
            "cp -t d a.txt b.txt",
            "cp a.txt d/",
            "cp -f a.txt b.txt",
            "cp d a.txt empty",
        ],
    );
    compare(
        "mv",
        "",
        true,
        &[
            "mv a.txt new",
            "mv a.txt b.txt",
            "mv a.txt b.txt d",
            "mv d new",
            "mv d empty",
            "mv missing x",
            "mv -v a.txt new",
            "mv -n a.txt b.txt",
            "mv -f a.txt b.txt",
            "mv d a.txt",
            "mv a.txt b.txt empty",
            "mv link new",
            "mv -T a.txt new",
            "mv -t d a.txt b.txt",
            "mv -v d empty",
            "mv dirlink new",
        ],
    );
    compare(
        "touch",
        "",
        true,
        &[
            "touch new",
            "touch -c new",
            "touch a.txt d",
            "touch missing/x",
            "touch -d 2020-01-02 new",
            "touch -t 202001020304.05 new",
            "touch -r a.txt new",
            "touch new1 new2",
            "touch -a a.txt",
            "touch -d @1000 new",
        ],
    );
}

#[test]
fn dates() {
    compare(
        "date",
        "",
        false,
        &[
            "date -d @0",
            "date -u -d @1000000000",
            "date -d 2024-07-01",
            "date -d 2024-02-29T12:34:56 +%F\\_%T\\_%z\\_%Z",
            "date -d @1700000000 +%a\\_%A\\_%b\\_%B\\_%c",
            "date -d @1700000000 +%C\\_%d\\_%D\\_%e\\_%F\\_%g\\_%G\\_%h\\_%H\\_%I\\_%j",
            "date -d @1700000000 +%k\\_%l\\_%m\\_%M\\_%N\\_%p\\_%P\\_%r\\_%R\\_%s\\_%S",
            "date -d @1700000000 +%T\\_%u\\_%U\\_%V\\_%w\\_%W\\_%x\\_%X\\_%y\\_%Y\\_%z\\_%:z\\_%::z\\_%Z",
            "date -d @1700000000 +%-d\\_%_d\\_%05d\\_%^a\\_%#Z\\_%3N\\_%%\\_%q",
            "date -R -d @1700000000",
            "date -Iseconds -d @1700000000",
            "date -I -d @1700000000",
            "date --rfc-3339=ns -d @1700000000.5",
            "date -r a.txt",
            "date -r missing",
            "date -d 2024-10-27\\_02:30 +%s",
            "date -d 2024-01-01\\_00:00:00Z +%F\\_%T",
            "date -u -d 1999-12-31 +%G-W%V-%u",
            "date -d 2030-07-01 +%Z",
        ],
    );
}

#[test]
fn declines_before_it_does_anything() {
    let root = scratch("declines");
    build_tree(&root);
    for case in [
        "ls --nonsense",
        "cat --help",
        "rm -i a.txt",
        "cp -a d new",
        "cp -rv d new",
        "grep -P a a.txt",
        "sort -V a.txt",
        "find . -printf x",
        "tail -f a.txt",
        "sleep",
        "sleep x",
        "mkdir",
        "mv a.txt",
        "touch",
        "date -s x",
        "date -d tomorrow",
        "date -d 2024-03-31T02:30:00",
    ] {
        let words: Vec<&str> = case.split(' ').collect();
        let before = tree::tree(&root);
        assert!(ours(&root, &words, b"", false).is_none(), "{case}");
        assert_eq!(before, tree::tree(&root), "{case}");
    }
    fs::remove_dir_all(root).unwrap();
}

#[test]
fn json_results_are_well_formed() {
    let root = scratch("json");
    build_tree(&root);
    for case in [
        "ls --json",
        "ls -R --json .",
        "stat --json a.txt d",
        "wc --json a.txt",
        "grep --json alpha a.txt",
        "find d --json",
    ] {
        let words: Vec<&str> = case.split(' ').collect();
        let got = ours(&root, &words, b"", false).unwrap();
        let value: serde_json::Value =
            serde_json::from_str(&got.output).unwrap_or_else(|e| panic!("{case}: {e}\n{}", got.output));
        assert!(value.is_array() || value.is_object(), "{case}");
    }
    fs::remove_dir_all(root).unwrap();
}

/// Names that are not UTF-8 pass through unchanged.
#[test]
fn odd_names() {
    let root = scratch("odd");
    let name = std::ffi::OsString::from_vec(b"n\xffm".to_vec());
    fs::write(root.join(&name), "x\n").unwrap();
    let got = ours(&root, &["ls"], b"", false).unwrap();
    assert!(got.output.starts_with('n') && got.status == 0);
    fs::remove_dir_all(root).unwrap();
}
