//! The embedding API: conversions both ways, errors by their kind, realms, handles, the sealing of the global object.

use std::collections::BTreeMap;

use cynic::{
    Engine, Error, FromJs, Handle, HostError, IntoJs, Isolate, Limits, PromiseState, Realm, Rest, Serde, Zeal,
};
use serde::{Deserialize, Serialize};

fn isolate() -> Isolate {
    Engine::new().isolate(Limits::default())
}

fn evaluate(realm: &mut Realm<'_>, text: &str) -> Handle {
    realm.evaluate("test.js", text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn through<T: IntoJs + FromJs>(realm: &mut Realm<'_>, value: T) -> T {
    let value = realm.value(value).expect("into");
    value.to(realm).expect("from")
}

#[test]
fn plain_values_go_both_ways() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    assert_eq!(through(&mut realm, -0.5), -0.5);
    assert!(through(&mut realm, true));
    assert_eq!(through(&mut realm, i64::MIN), i64::MIN);
    assert_eq!(through(&mut realm, u64::MAX), u64::MAX);
    assert_eq!(through(&mut realm, "é☃😀".to_owned()), "é☃😀");
    assert_eq!(through(&mut realm, vec![Some(1u8), None]), [Some(1), None]);
    through(&mut realm, ());
}

#[test]
fn nothing_is_coerced() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    for (text, wanted) in [
        ("'1'", "expected a number"),
        ("1.5", "expected an integer (u8)"),
        ("256", "expected an integer (u8)"),
    ] {
        let value = evaluate(&mut realm, text);
        let error = match wanted.contains("u8") {
            true => value.to::<u8>(&mut realm).map(drop),
            false => value.to::<f64>(&mut realm).map(drop),
        };
        let Err(Error::Host(HostError::Conversion(message))) = error else { panic!("{text}: {error:?}") };
        assert!(message.starts_with(wanted), "{message}");
    }
    assert!(evaluate(&mut realm, "({})").to::<Vec<u8>>(&mut realm).is_err());
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Empty,
    Circle(f64),
    Line(i32, i32),
    Box { width: u8, label: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    shapes: Vec<Shape>,
    names: BTreeMap<String, Option<bool>>,
    by_number: BTreeMap<i32, char>,
    pair: (i64, f32),
    unit: (),
}

fn everything() -> Everything {
    let label = "b".to_owned();
    Everything {
        shapes: vec![Shape::Empty, Shape::Circle(1.5), Shape::Line(-1, 2), Shape::Box { width: 3, label }],
        names: BTreeMap::from([("x".into(), Some(true)), ("y".into(), None)]),
        by_number: BTreeMap::from([(1, 'a'), (2, 'ß')]),
        pair: (i64::MAX, 0.5),
        unit: (),
    }
}

#[test]
fn serde_goes_both_ways() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    realm.define_global("it", Serde(everything())).expect("defined");
    let seen: String = evaluate(
        &mut realm,
        "JSON.stringify([it.shapes, it.names, it.by_number instanceof Map, it.by_number.get(2), typeof it.pair[0]])",
    )
    .to(&mut realm)
    .expect("text");
    let expected = r#"[["Empty",{"Circle":1.5},{"Line":[-1,2]},{"Box":{"width":3,"label":"b"}}],{"x":true},true,"ß","bigint"]"#;
    assert_eq!(seen, expected);
    let back = evaluate(&mut realm, "it");
    assert_eq!(realm.from_js::<Everything>(&back).expect("read"), everything());
}

#[test]
fn reading_says_what_is_wrong() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    for text in
        ["() => 1", "Symbol()", "({ shapes: 1 })", "({ get shapes() { throw new RangeError('no') } })"]
    {
        let value = evaluate(&mut realm, text);
        assert!(realm.from_js::<Everything>(&value).is_err(), "{text}");
    }
    // A graph that refers to itself ends at the stack guard, not in a crash.
    let cycle = evaluate(&mut realm, "const a = []; a.push(a); a");
    assert!(realm.from_js::<serde_json::Value>(&cycle).is_err());
}

#[test]
fn exceptions_cross_in_both_directions() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    realm.define("fails", |_: i32| -> Result<(), String> { Err("on purpose".into()) }).expect("defined");
    realm.define("passes", |realm: &mut Realm<'_>, f: Handle| realm.call(&f, &[])).expect("defined");
    let seen = evaluate(
        &mut realm,
        "const seen = [];
         for (const f of [() => fails(1), () => fails('x'), () => passes(() => { throw seen; })])
             try { f(); } catch (e) { seen.push(e === seen ? 'same' : `${e.name}: ${e.message}`); }
         seen",
    );
    let seen: Vec<String> = seen.to(&mut realm).expect("texts");
    assert_eq!(seen, ["Error: on purpose", "TypeError: expected an integer (i32), found \"x\"", "same"]);
    let Err(Error::Thrown(exception)) = realm.evaluate("t.js", "null.x") else { panic!("it throws") };
    assert!(exception.message.starts_with("TypeError: "), "{}", exception.message);
    assert!(exception.stack.is_some_and(|stack| stack.contains("t.js:1")));
    let Err(Error::Thrown(exception)) = realm.evaluate("t.js", "throw 'text'") else { panic!("it throws") };
    assert_eq!(exception.message, "text");
    let error = Engine::new().compile("bad.js", "let = ;").err().expect("a syntax error");
    assert!(matches!(error, HostError::Syntax(_)));
}

#[test]
fn host_functions_have_names_and_lengths() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    realm.define("five", |a: i32, b: i32, c: i32, d: i32, e: i32| a + b + c + d + e).expect("defined");
    realm.define("count", |_: &mut Realm<'_>, Rest(all): Rest<Handle>| all.len()).expect("defined");
    let seen: Vec<Handle> =
        evaluate(&mut realm, "[five.name, five.length, five(1, 2, 3, 4, 5), count(1, 2, 3)]")
            .to(&mut realm)
            .expect("an array");
    assert_eq!(seen[0].to::<String>(&mut realm).expect("text"), "five");
    let numbers: Vec<u32> = seen[1..].iter().map(|n| n.to(&mut realm).expect("number")).collect();
    assert_eq!(numbers, [5, 15, 3]);
}

#[test]
fn the_global_object_is_sealed_by_the_first_evaluation() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    realm.define_global("early", 1).expect("defined");
    evaluate(&mut realm, "early");
    assert!(matches!(realm.define_global("late", 1), Err(Error::Host(HostError::GlobalSealed))));
    assert!(realm.evaluate("t.js", "globalThis.x = 1").is_err());

    let mut open = Engine::new().open_global().isolate(Limits::default());
    let mut realm = open.realm();
    evaluate(&mut realm, "globalThis.x = 1; if (x !== 1) throw x");
    assert!(realm.evaluate("t.js", "globalThis.Array = 1").is_err());
    assert!(realm.evaluate("t.js", "Array.prototype.x = 1").is_err());

    let mut soft = Engine::new().unhardened().isolate(Limits::default());
    let mut realm = soft.realm();
    evaluate(&mut realm, "Array.prototype.x = 1");
    realm.define_global("late", 1).expect("defined");
}

#[test]
fn handles_know_their_isolate() {
    let (mut one, mut two) = (isolate(), isolate());
    let value = evaluate(&mut one.realm(), "({})");
    let mut realm = two.realm();
    assert!(matches!(realm.get(&value, "x"), Err(Error::Host(HostError::ForeignHandle))));
    let call = evaluate(&mut realm, "(x) => x");
    assert!(realm.call(&call, &[value]).is_err());
}

#[test]
fn handles_keep_values_alive() {
    let mut isolate = isolate();
    let kept: Vec<Handle> =
        (0..100).map(|i| evaluate(&mut isolate.realm(), &format!("({{ i: {i} }})"))).collect();
    isolate.collect_garbage();
    let mut realm = isolate.realm();
    for (i, handle) in kept.iter().enumerate() {
        let read: usize = realm.get(handle, "i").and_then(|v| v.to(&mut realm)).expect("a number");
        assert_eq!(read, i);
    }
}

#[test]
fn realms_have_their_own_intrinsics() {
    let mut isolate = isolate();
    let id = isolate.new_realm();
    let ours = evaluate(&mut isolate.realm(), "Array");
    let theirs = isolate.in_realm(&id, |realm| realm.evaluate("t.js", "Array")).expect("evaluated");
    let mut realm = isolate.realm();
    let same = evaluate(&mut realm, "(a, b) => a === b");
    assert!(!realm.call(&same, &[ours, theirs]).and_then(|v| v.to::<bool>(&mut realm)).expect("a boolean"));
}

#[test]
fn promises_settle_by_jobs_and_by_the_host() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    let promise = evaluate(&mut realm, "(async () => 1 + (await 2))()");
    let three: i32 = realm.settle(&promise).and_then(|v| v.to(&mut realm)).expect("settled");
    assert_eq!(three, 3);
    let (promise, resolver) = realm.promise();
    assert!(matches!(realm.settle(&promise), Err(Error::Host(HostError::NeverSettles))));
    resolver.resolve(&mut realm, 4).expect("resolved");
    resolver.reject(&mut realm, "too late").expect("ignored");
    assert!(matches!(realm.promise_state(&promise), Ok(PromiseState::Fulfilled(_))));
    let (promise, resolver) = realm.promise();
    let (inner, _) = realm.promise();
    resolver.resolve(&mut realm, inner).expect("resolved with a pending promise");
    resolver.resolve(&mut realm, 5).expect("ignored");
    assert!(matches!(realm.settle(&promise), Err(Error::Host(HostError::NeverSettles))));
    let text = realm.parse_json("{\"a\": [1, null]}").and_then(|value| realm.to_json(&value)).expect("JSON");
    assert_eq!(text.as_deref(), Some("{\"a\":[1,null]}"));
    let rejected = evaluate(&mut realm, "Promise.reject(5)");
    assert!(matches!(realm.settle(&rejected), Err(Error::Thrown(_))));
    assert!(isolate.take_unhandled_rejections().is_empty(), "the host has seen it");
}

#[test]
fn reactions_survive_collections_while_they_become_jobs() {
    let mut isolate = Engine::new().isolate(Limits::default());
    isolate.set_gc_zeal(Zeal::Whole);
    let mut realm = isolate.realm();
    let program = "let settle; const promise = new Promise((resolve) => { settle = resolve; });
        let sum = 0;
        for (let i = 0; i < 40; i++) promise.then((value) => { sum += value + i; });
        settle(1);
        () => sum";
    let sum = realm.evaluate("reactions.js", program).expect("it runs");
    isolate.run_jobs().expect("the jobs run");
    let mut realm = isolate.realm();
    let sum = realm.call(&sum, &[]).and_then(|sum| sum.to::<f64>(&mut realm)).expect("a number");
    assert_eq!(sum, 820.0);
}

#[test]
fn the_tables_of_large_dictionaries_count_for_the_heap() {
    const KEYS: usize = 100_000;
    /// What an entry takes at least: key, slot and attributes, and a place in the index.
    const ENTRY_BYTES: usize = 20;
    let mut isolate = isolate();
    let program = format!(
        "const keys = Array.from({{ length: {KEYS} }}, (_, i) => 'k' + i);
        const fill = () => {{ const o = {{}}; for (const key of keys) o[key] = 1; return o; }};
        const first = fill();
        fill"
    );
    let fill = evaluate(&mut isolate.realm(), &program);
    isolate.collect_garbage();
    let before = isolate.gc_stats().used_bytes;
    let filled = isolate.realm().call(&fill, &[]).expect("it runs");
    isolate.collect_garbage();
    let more = isolate.gc_stats().used_bytes - before;
    assert!(more > KEYS * (size_of::<f64>() + ENTRY_BYTES), "{more} bytes more");
    drop(filled);
    isolate.collect_garbage();
    let left = isolate.gc_stats().used_bytes.saturating_sub(before);
    assert!(left < KEYS * size_of::<f64>(), "{left} bytes are left");
}
