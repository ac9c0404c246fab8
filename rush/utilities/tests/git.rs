//! The in-process git against the installed one, byte for byte, on small repositories in many states. Each state is made
//! by a script; then the same commands are asked of both, ours first (git's own reads write the index). Skipped where there
//! is no git.

mod machine;
mod repository;

use std::fs;
use std::path::Path;
use std::process::Command;

use repository::{Scratch, git_is_here};

/// How every state begins: three commits on `main` with folders, a link and an executable.
const BEGIN: &str = r#"
git init -q -b main
mkdir -p d/sub e
printf 'one\ntwo\nthree\n' >a; echo b >b; echo x >d/x; echo y >d/sub/y; echo e >e/e; ln -s a link
echo '#!/bin/sh' >run; chmod +x run
git add . && git commit -qm 'First commit'
echo four >>a; git commit -qam 'Second: more of a'
echo z >d/z; git add d/z; git commit -qm 'Third

With a body of
two lines.'
"#;

/// A state: its name, what makes it out of the beginning, and folders to ask from.
struct State {
    name: &'static str,
    script: &'static str,
    folders: &'static [&'static str],
}

const fn state(name: &'static str, script: &'static str) -> State {
    State { name, script, folders: &["", "d"] }
}

const STATES: &[State] = &[
    state("clean", ""),
    state("modified", "echo more >>a; echo n >>d/x"),
    state("same size", "printf 'x\\n' >b; touch -d @1700000000 d/x"),
    state("touched", "touch -d @1600000000 a b d/x; git update-index -q --really-refresh; touch a"),
    state("staged", "echo more >>a; echo new >new; echo n >d/new; git add .; echo again >>a"),
    state("removed", "rm a d/x; rm -r e"),
    state("removed from the index", "git rm -q --cached a; git rm -q b"),
    state("new then gone", "echo n >n; git add n; rm n"),
    state("modes", "chmod +x a; chmod -x run; git add run; echo m >>b; chmod +x b"),
    state("types", "rm a; ln -s b a; rm link; echo file >link; git add link"),
    state("a folder for a file", "rm a; mkdir a; echo in >a/in; rm -r d/sub; echo f >d/sub"),
    state("a link for a folder", "mv d elsewhere; ln -s elsewhere d"),
    state("untracked", "echo u >u; mkdir -p n/m empty d/n; echo 1 >n/1; echo 2 >n/m/2; echo 3 >d/n/3; echo 4 >d/4; mkfifo pipe"),
    state(
        "ignored",
        "printf '*.o\\nbuild/\\n!keep.o\\n/top\\n# c\\nd/**/deep\\ntrail  \\n\\\\#hash\\n[ab].x\\n' >.gitignore
         mkdir -p build d/build d/q/r; echo 1 >build/1; echo 2 >d/build/2; echo o >a.o; echo k >keep.o; echo t >top
         echo t >d/top; echo x >d/q/r/deep; echo y >d/deep; echo z >trail; echo h >'#hash'; echo s >a.x; echo s >c.x
         echo '*' >d/sub/.gitignore; echo n >d/sub/n; printf 'ex\\n' >>.git/info/exclude; echo e >ex; mkdir all; echo q >all/q.o",
    ),
    state("ignored but tracked", "echo 'e/' >.gitignore; echo d >>e/e; echo n >e/n; echo '*' >>d/.gitignore; echo 1 >d/1"),
    state(
        "odd names",
        "echo 1 >'sp ace'; echo 2 >'quo\"te'; echo 3 >'tab\ttab'; echo 4 >'caf\u{e9}'; mkdir 'o d'; echo 5 >'o d/f'
         git add 'sp ace' 'tab\ttab'; echo more >>'sp ace'; mkdir -p 'd/\u{fc} n'; echo 6 >'d/\u{fc} n/x'",
    ),
    state("plain names", "git config core.quotepath false; echo 4 >'caf\u{e9}'; git add .; echo 5 >'caf\u{e9}2'; echo 6 >\"q'\\\"\""),
    state("detached at a branch", "git checkout -q --detach main"),
    state("detached at a commit", "git checkout -q HEAD~1; echo u >u"),
    state("detached at a tag", "git tag v1 HEAD~1; git checkout -q v1"),
    state("detached from", "git checkout -q HEAD~1; echo n >n; git add n; git commit -qm 'On no branch'"),
    state("branches", "git branch side HEAD~1; git branch feature/long-name HEAD~2; git tag t; git checkout -q side"),
    state("packed", "git branch side HEAD~1; git tag -a -m tag t; git gc -q --prune=now; echo m >>a; git branch late"),
    state("packed and loose", "git gc -q; echo l >l; git add l; git commit -qm Loose; rm d/z; git branch -f other HEAD~3"),
    state("packed heads beside loose", "git branch x HEAD~1; git pack-refs --all; git branch -f x HEAD; git branch y HEAD~2"),
    state(
        "conflict",
        "git checkout -q -b side HEAD~1; echo side >>a; git rm -q b; echo s >both; echo s >d/x; git add .; git commit -qm Side
         git checkout -q main; echo main >>a; echo m >>b; echo m >both; git rm -q d/x; git add .; git commit -qm Main
         git merge -q side >/dev/null || true",
    ),
    state(
        "conflict resolved",
        "git checkout -q -b side HEAD~1; echo side >>a; git commit -qam Side
         git checkout -q main; echo main >>a; git commit -qam Main; git merge -q side >/dev/null || true; git add a",
    ),
    state(
        "both removed",
        "git checkout -q -b side; git mv a a1; git commit -qm Side; git checkout -q main; git mv a a2; git commit -qm Main
         git merge -q side >/dev/null || true",
    ),
    state("up to date", "git clone -q . ../clone; cd ../clone"),
    state("version 4", "git update-index --index-version 4; echo n >d/new; git add d; echo m >>d/x"),
    state("assumed unchanged", "git update-index --assume-unchanged a; echo m >>a; echo m >>b"),
    state("modes do not count", "git config core.filemode false; chmod +x a; echo m >>run"),
    state("attributes", "printf '* text=auto\\n*.bin binary\\n' >.gitattributes; git add .; git commit -qm x; touch a b; echo m >>b"),
    state("all files by setting", "git config status.showUntrackedFiles all; mkdir n; echo 1 >n/1"),
    state("no files by setting", "git config status.showUntrackedFiles no; mkdir n; echo 1 >n/1; git add n"),
    state("empty folders", "mkdir -p x/y/z d/w; rm d/x"),
    state("orphan", "git checkout -q --orphan new; git rm -q --cached b"),
    state("a branch and a tag of one name", "git branch t; git tag t HEAD~1; git tag main HEAD~1"),
    state("renamed", "git mv a a2; git mv d folder; git mv link l2; echo more >>folder/x"),
    state(
        "renamed and changed",
        "for f in p q r; do i=0; while [ $i -lt 40 ]; do echo \"$f line $i\"; i=$((i+1)); done >$f; done; mkdir k; cp p k/same
         git add .; git commit -qm Lines; git mv p p2; echo extra >>p2; git mv q k/q; sed -i 's/3/three/' k/q
         git mv r k/s; sed -i '1,12d' k/s; git mv k/same k/other; cp k/s k/t; git add .; chmod +x k/q; git add k",
    ),
    state("many renamed", "for i in 1 2 3 4 5 6; do printf 'x\\ny\\nz\\n%s\\n' $i >m$i; done; git add .; git commit -qm m
         for i in 1 2 3 4 5 6; do git mv m$i n$((7-i)); echo more$i >>n$((7-i)); done; git rm -q a; git add ."),
    state("renamed empty", "for i in 1 2 3; do : >z$i; done; git add .; git commit -qm z; mkdir w; git mv z1 w/y; git mv z2 w/z3; git rm -q z3"),
    state("many", "i=0; while [ $i -lt 300 ]; do echo $i >f$i; i=$((i+1)); done; git add .; git commit -qm many; echo x >>f7; rm f9; echo u >f300"),
];

/// States with a remote: a clone with `origin` beside it.
const CLONES: &[State] = &[
    state("clone", ""),
    state("ahead", "echo m >>a; git commit -qam Ours; echo m >>a; git commit -qam 'Ours too'"),
    state("ahead by one", "echo m >>a; git commit -qam Ours"),
    state("behind", "git reset -q --hard HEAD~1"),
    state("behind by two", "git reset -q --hard HEAD~2; echo u >u"),
    state("apart", "git reset -q --hard HEAD~1; echo m >>a; git commit -qam Ours"),
    state("gone", "git update-ref -d refs/remotes/origin/main; git symbolic-ref -d refs/remotes/origin/HEAD"),
    state("another name", "git checkout -q -b topic --track origin/side; git branch --no-track plain"),
    state("a local upstream", "git branch --track local main; git checkout -q local; echo m >>a; git commit -qam Ours"),
    state(
        "apart over a merge",
        "git checkout -q -b t origin/side; git merge -q --no-edit main; git checkout -q main; git merge -q --no-edit t
         git update-ref refs/remotes/origin/main HEAD~1; echo m >>a; git commit -qam Ours",
    ),
];

/// What is asked. With a mark for what may be declined in some states.
const COMMANDS: &[&str] = &[
    "status",
    "status -s",
    "status -sb",
    "status --short --branch",
    "status --porcelain",
    "status --porcelain -z",
    "status --porcelain=v1 -b",
    "status --porcelain=v2",
    "status --porcelain=v2 --branch -z",
    "status -uall",
    "status -s -uall",
    "status -uno",
    "status -s -uno",
    "status --long",
    "branch",
    "branch -a",
    "branch -r",
    "branch -v",
    "branch -av",
    "branch --list",
    "branch --show-current",
];

/// Questions about the history; words with blanks are written with underscores for them.
const LOGS: &[&str] = &[
    "log",
    "log --oneline",
    "log -1",
    "log -n 2 --oneline",
    "log --max-count=1 --format=%H%n%h%n%T%n%t%n%P%n%p",
    "log --format=%an|%ae|%ad|%aD|%at|%ai|%as|%ar|%cn|%ce|%cd|%ct|%cr",
    "log --format=%aI",
    "log --pretty=format:%h_%s%n%b-%x41",
    "log --pretty=tformat:%B",
    "log --format=%C(yellow)%h%Creset_%s_%%",
    "log --pretty=oneline",
    "log --pretty=short",
    "log --pretty=full -2",
    "log --pretty=fuller --date=iso",
    "log --date=short --reverse",
    "log --date=iso-strict",
    "log --date=relative -2",
    "log --date=raw --abbrev-commit",
    "log --no-merges --oneline",
    "log --merges",
    "log --first-parent --oneline",
    "log --skip=1 --oneline",
    "log HEAD~1 --oneline",
    "log HEAD~2..HEAD --oneline",
    "log HEAD^..",
    "log main --oneline",
    "log --oneline --no-decorate --",
];

/// Questions about differences.
const DIFFS: &[&str] = &[
    "diff",
    "diff --stat",
    "diff --name-only",
    "diff --name-status -z",
    "diff --shortstat",
    "diff --numstat",
    "diff --cached",
    "diff --staged --stat",
    "diff --cached --name-only",
    "diff --cached --name-status",
    "diff --cached --no-renames --name-status",
    "diff --cached --numstat",
    "diff --cached --name-only --diff-filter=ACMR",
    "diff --cached --name-status --diff-filter=d -z",
    "diff --no-renames HEAD",
    "diff --no-renames HEAD --stat",
    "diff HEAD~1 HEAD",
    "diff HEAD~2..",
    "diff HEAD~2 main --stat",
    "diff HEAD~1 --cached --stat",
    "diff --quiet",
    "diff --cached --quiet",
    "diff --exit-code --name-only",
    "diff -- a d",
    "diff --stat -- .",
    "diff .",
    "diff --no-renames HEAD -- a x d/x",
];

/// States with more of a history.
const HISTORIES: &[State] = &[
    state("three", ""),
    state(
        "merges",
        "git checkout -q -b side HEAD~1; echo s >s; git add s; git commit -qm Side; git checkout -q main
         git merge -q --no-edit side; git checkout -q -b octopus HEAD~1; echo o >o; git add o; git commit -qm O
         git checkout -q main; echo q >q; git add q; git commit -qm Q; git merge -q -m Octopus side octopus",
    ),
    state(
        "of one moment",
        "at() { GIT_AUTHOR_DATE=\"$1\" GIT_COMMITTER_DATE=\"$1\" command git \"$2\" -q \"$3\" \"$4\"; }
         git branch x; git branch y
         for i in 1 2 3; do for b in x y; do git checkout -q $b; echo $b$i >$b$i; git add .; at '1700000000 -0130' commit -m $b$i; done; done
         at '1700000000 +0000' merge --no-edit x",
    ),
    state(
        "odd messages",
        "git commit -q --allow-empty --allow-empty-message -m ''
         printf '\\n\\n  indented\\tsubject  \\nsecond line\\n\\n\\n\\tbody\\tof tabs \\n\\n\\nend\\n\\n' >message
         git commit -q --allow-empty --cleanup=verbatim -F message
         printf 'no end' >message; git commit -q --allow-empty --cleanup=verbatim -F message
         git -c user.name='\u{c9}mile <x' commit -q --allow-empty -m 'caf\u{e9}'",
    ),
    state(
        "packed",
        "for i in 1 2 3 4 5 6 7 8; do echo $i >>a; git commit -qam \"Commit $i\"; done; git tag -a -m t v1 HEAD~3
         git gc -q; git pack-refs --all",
    ),
    state("a file of that name", "echo x >main; git branch b"),
    state(
        "skewed",
        "at() { GIT_COMMITTER_DATE=\"$1\" command git commit -q --allow-empty -m \"$2\"; }
         at '1500000000 +0000' Old; git commit -q --allow-empty -m New; git checkout -q -b s HEAD~2
         git commit -q --allow-empty -m S; git checkout -q main; git merge -q --no-edit s",
    ),
];

/// Compares all `commands` in `folder`; what differs is added to `failures`, what was declined to `declined`.
fn compare(
    scratch: &Scratch,
    state: &str,
    folder: &Path,
    commands: &[&str],
    failures: &mut Vec<String>,
    declined: &mut Vec<String>,
) {
    for command in commands {
        let line = format!("git {command}");
        let words: Vec<String> = line.split(' ').map(|word| word.replace('_', " ")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let label = format!("{state}: {} in {}", line, folder.display());
        let ours = scratch.ours(folder, &words);
        let theirs = scratch.theirs(folder, &words);
        match ours {
            None => declined.push(label),
            Some(ours) if ours != theirs => {
                failures
                    .push(format!("{label}\n--ours {}\n{}--git {}\n{}", ours.1, ours.0, theirs.1, theirs.0));
            }
            Some(_) => {}
        }
    }
}

/// Runs all states. `may_decline` says which commands are left to git in which state.
fn run_states(name: &str, states: &[State], before: &str, commands: &[&str], may_decline: &[(&str, &str)]) {
    if !git_is_here() {
        return;
    }
    let (mut failures, mut declined) = (Vec::new(), Vec::new());
    for state in states {
        let scratch = Scratch::new(&format!("{name} {}", state.name));
        let repository = scratch.0.join("repo");
        fs::create_dir_all(&repository).unwrap();
        scratch.script(&repository, &format!("{BEGIN}{before}{}", state.script));
        let repository = if before.is_empty() { repository } else { scratch.0.join("clone") };
        for folder in state.folders {
            let folder = repository.join(folder);
            if folder.is_dir() {
                compare(&scratch, state.name, &folder, commands, &mut failures, &mut declined);
            }
        }
    }
    let unexpected = |label: &&String| {
        !may_decline.iter().any(|(state, command)| {
            label.strip_prefix(*state).is_some_and(|rest| rest.starts_with(&format!(": git {command}")))
        })
    };
    let declined: Vec<&String> = declined.iter().filter(unexpected).collect();
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n=====\n"));
    assert!(declined.is_empty(), "declined: {declined:#?}");
}

#[test]
fn repositories_in_many_states() {
    let left_to_git = [
        // Another ref of the same name makes the short name ambiguous.
        ("detached at a tag", "branch --nothing"),
    ];
    run_states("states", STATES, "", COMMANDS, &left_to_git);
}

#[test]
fn clones() {
    let before = "
git branch side HEAD~1
git clone -q . ../clone
cd ../clone
git checkout -q -B main
";
    let left_to_git = [
        // The hint is worded differently by other releases.
        ("apart", "status"),
        ("apart over a merge", "status"),
    ];
    run_states("clones", CLONES, before, COMMANDS, &left_to_git);
}

#[test]
fn histories() {
    let left_to_git = [
        // Releases of git write Greenwich differently.
        ("of one moment", "log --date=iso-strict"),
        ("of one moment", "log --format=%aI"),
        // Which is meant, the branch or the file, git asks.
        ("a file of that name", "log main"),
    ];
    run_states("histories", HISTORIES, "", LOGS, &left_to_git);
}

#[test]
fn differences() {
    let left_to_git = [
        // Renamed files without an end of their last line, or with carriage returns.
        ("both removed", "diff"),
        ("conflict", "diff"),
        // The line-ending conversions and binary files of attributes.
        ("attributes", "diff"),
        // No commit of that name.
        ("orphan", "diff"),
        ("detached at a commit", "diff HEAD~2"),
        ("detached at a tag", "diff HEAD~2"),
        ("branches", "diff HEAD~2"),
        // The width of letters outside ASCII.
        ("plain names", "diff --no-renames HEAD --stat"),
        ("plain names", "diff --staged --stat"),
        ("plain names", "diff HEAD~1 --cached --stat"),
        // A branch and a tag are called main.
        ("a branch and a tag of one name", "diff HEAD~2 main"),
    ];
    run_states("differences", STATES, "", DIFFS, &left_to_git);
}

#[test]
fn before_the_first_commit() {
    if !git_is_here() {
        return;
    }
    let (mut failures, mut declined) = (Vec::new(), Vec::new());
    for (name, script) in
        [("nothing", ""), ("a file", "echo a >a"), ("staged", "echo a >a; git add a; echo b >b; echo c >>a")]
    {
        let scratch = Scratch::new(&format!("unborn {name}"));
        let repository = scratch.0.join("repo");
        fs::create_dir_all(&repository).unwrap();
        scratch.script(&repository, &format!("git init -q -b main; {script}"));
        compare(&scratch, name, &repository, COMMANDS, &mut failures, &mut declined);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n=====\n"));
    assert!(declined.is_empty(), "{declined:#?}");
}

#[test]
fn what_is_not_understood_is_left_to_git() {
    if !git_is_here() {
        return;
    }
    for (script, command) in [
        ("git config core.autocrlf true", "status"),
        ("git config include.path ../x", "status"),
        ("git config core.repositoryformatversion 1; git config extensions.worktreeConfig true", "status"),
        ("git config status.short true", "status"),
        ("git config color.ui always", "status"),
        ("git worktree add -q ../tree -b t", "branch"),
        ("printf '*.x filter=f\\n' >.gitattributes; echo x >f.x; git add f.x; touch f.x", "status"),
        ("git init -q inner; echo x >inner/x", "status"),
        ("git update-index --split-index", "status"),
        ("git add -N b2 2>/dev/null || { echo b2 >b2; git add -N b2; }", "status"),
        ("git replace HEAD HEAD~1", "status"),
        ("echo ../elsewhere >.git/objects/info/alternates; git gc -q || true", "branch -v"),
        (
            "git checkout -q -b s HEAD~2; echo s >a; git commit -qam s; git rebase main >/dev/null 2>&1 || true",
            "status",
        ),
        ("", "status a"),
        ("", "status --column"),
        ("", "status -v"),
        ("", "branch -d x"),
        ("", "branch new"),
        ("", "branch --sort=refname"),
        ("", "log -p"),
        ("", "log --stat"),
        ("", "log --graph"),
        ("", "log -- a"),
        ("", "log a"),
        ("", "log nothing"),
        ("", "log --format=%d"),
        ("", "log HEAD...HEAD~1"),
        ("", "log HEAD@{0}"),
        ("git notes add -m note", "log"),
        ("echo 'X <author@example.org>' >.mailmap", "log"),
        ("", "diff HEAD...HEAD~1"),
        ("", "diff a b HEAD"),
        ("", "diff nothing"),
        ("", "diff main:a HEAD:a"),
        ("", "diff -R"),
        ("", "diff -w"),
        ("", "diff -U0"),
        ("", "diff --stat --name-only"),
        ("", "diff --stat=40"),
        ("", "diff --word-diff"),
        ("", "diff --no-index a b"),
        ("", "diff -- *.c"),
        ("", "diff -- :/a"),
        ("", "diff -- ../../elsewhere"),
        ("git branch a", "diff a"),
        ("git config diff.noprefix true; echo m >>a", "diff"),
        ("git config diff.default.xfuncname ^x; echo m >>a", "diff"),
        ("git config diff.algorithm histogram; echo m >>a", "diff"),
        ("git config core.bigfilethreshold 1; echo m >>a", "diff"),
        ("git config diff.external true; echo m >>a", "diff"),
        ("echo 'a -diff' >.gitattributes; echo m >>a", "diff"),
        ("echo '/a diff=rust' >.gitattributes; echo m >>a", "diff"),
        ("echo n >n; git add -N n", "diff"),
        ("git mv a a2; rm a2; echo m >>b; rm d/x; echo n >new; git add new", "diff HEAD"),
        ("seq 2000 >n; git add n; seq 2000 | sort >n", "diff"),
        ("", "commit"),
        ("", "-C . status"),
    ] {
        let scratch = Scratch::new("left");
        let repository = scratch.0.join("repo");
        fs::create_dir_all(&repository).unwrap();
        scratch.script(&repository, &format!("{BEGIN}{script}"));
        let line = format!("git {command}");
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(scratch.ours(&repository, &words), None, "{script}: {command}");
    }
}

#[test]
fn nothing_is_written() {
    if !git_is_here() {
        return;
    }
    let scratch = Scratch::new("read only");
    let repository = scratch.0.join("repo");
    fs::create_dir_all(&repository).unwrap();
    scratch.script(&repository, &format!("{BEGIN}touch a b; echo u >u"));
    let listing = || {
        let output =
            Command::new("find").args([".", "-printf", "%p %T@ %s\n"]).current_dir(&repository).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let before = listing();
    for command in COMMANDS {
        let line = format!("git {command}");
        assert!(scratch.ours(&repository, &line.split(' ').collect::<Vec<_>>()).is_some(), "{command}");
    }
    assert_eq!(before, listing());
}
