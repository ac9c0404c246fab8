//! The table of `permissions.rs`, row by row: what a program has without asking, and what each permission adds.

use std::process::Command;

fn evaluate(flags: &[&str], code: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cynic"));
    let output = command.args(flags).args(["-e", code]).env("CYNIC_SECRET", "s3cret").output();
    let output = output.expect("the command runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The code catches what it throws.
fn outcome(flags: &[&str], code: &str) -> String {
    evaluate(flags, &format!("let r; try {{ r = String({code}) }} catch (e) {{ r = e.name }} print(r)"))
        .trim()
        .to_owned()
}

#[test]
fn what_is_not_given_is_refused_and_what_is_asked_for_is_given() {
    for (flag, code, without, with) in [
        ("--allow=eval", "(0, eval)('2')", "EvalError", "2"),
        ("--allow=eval", "Function('return 2')()", "EvalError", "2"),
        ("--allow=random", "crypto.randomUUID().length", "NotAllowedError", "36"),
        ("--allow=random", "crypto.getRandomValues(new Uint32Array(2)).length", "NotAllowedError", "2"),
        ("--seal-globals", "(globalThis.x = 1, x)", "1", "TypeError"),
        ("--seal-globals", "delete globalThis.Array", "TypeError", "TypeError"),
        ("--allow=globals", "globalThis.Array = 1", "TypeError", "TypeError"),
        ("--unhardened", "globalThis.Array = 1", "TypeError", "1"),
    ] {
        assert_eq!(outcome(&[], code), without, "{code}");
        assert_eq!(outcome(&[flag], code), with, "{flag} {code}");
    }
}

#[test]
fn no_permission_implies_another() {
    let all = ["eval", "read=.", "packages", "clock", "random", "globals"];
    for (own, code, refusal) in
        [("eval", "(0, eval)('2')", "EvalError"), ("random", "crypto.randomUUID()", "NotAllowedError")]
    {
        let others: Vec<String> =
            all.iter().filter(|name| **name != own).map(|name| format!("--allow={name}")).collect();
        let mut flags: Vec<&str> = others.iter().map(String::as_str).collect();
        flags.push("--unhardened");
        assert_eq!(outcome(&flags, code), refusal, "{own}");
    }
}

#[test]
fn time_is_coarse_unless_it_is_allowed() {
    // Every way to the time, many times each: not one is finer than a millisecond.
    let code = "const ways = [() => performance.now(), () => performance.timeOrigin, () => Temporal.Now.instant().epochNanoseconds,
            () => Temporal.Now.zonedDateTimeISO().nanosecond + Temporal.Now.zonedDateTimeISO().microsecond * 1000,
            () => Temporal.Now.plainTimeISO().nanosecond, () => Temporal.Now.plainDateTimeISO().microsecond * 1000,
            () => new Event('x').timeStamp];
        const fine = (n) => typeof n === 'bigint' ? n % 1000000n !== 0n : Math.abs(n - Math.round(n)) > 1e-6;
        let found = 0;
        for (let i = 0; i < 20000; i++) for (const way of ways.slice(0, i % 20 === 0 ? 7 : 2)) if (fine(way())) found++;
        for (let i = 0; i < 1000; i++) { const t = Temporal.Now.plainTimeISO(); if (t.nanosecond || t.microsecond) found++; }
        found";
    assert_eq!(evaluate(&[], code).trim(), "0");
    assert_ne!(evaluate(&["--allow=clock"], code).trim(), "0");
}

#[test]
fn nothing_of_the_process_is_reachable() {
    // Every string that can be reached from the global object, without asking and with everything allowed.
    let code = "const seen = new Set(); let found = 0;
        const visit = (value) => {
            if (typeof value === 'string' && value.includes('s3cret')) found++;
            if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
            seen.add(value);
            for (const key of Reflect.ownKeys(value)) {
                const p = Reflect.getOwnPropertyDescriptor(value, key);
                try { visit(p.get ? Reflect.apply(p.get, value, []) : p.value) } catch {}
            }
            visit(Reflect.getPrototypeOf(value));
        };
        visit(globalThis); `${found} ${seen.size > 500} ${['process', 'require', 'Deno', 'fetch', 'std', 'os'].filter((n) => n in globalThis)}`";
    assert_eq!(evaluate(&[], code).trim(), "'0 true '");
    let all = ["--allow=eval", "--allow=read=/", "--allow=packages", "--allow=clock", "--allow=random"];
    assert_eq!(evaluate(&all, code).trim(), "'0 true '");
}
