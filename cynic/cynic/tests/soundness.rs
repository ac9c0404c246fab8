//! What a safe host may do with the API, however it does it: keep handles longer than their isolate, keep half-read and half-written values in
//! boxes while the collector runs, call methods of classes on anything.

use std::cell::RefCell;
use std::fmt;

use cynic::{Class, Engine, Error, FromJs, Handle, Instance, Isolate, Limits, Native, Realm, Zeal};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

fn isolate() -> Isolate {
    Engine::new().isolate(Limits::default())
}

/// Collects at every allocation, and overwrites what it frees.
fn zealous() -> Isolate {
    let mut isolate = isolate();
    isolate.set_gc_zeal(Zeal::Whole);
    isolate
}

#[test]
fn sixty_four_strings_survive_three_collections() {
    let mut isolate = isolate();
    let text = |i: usize| format!("a text that is not interned, number {i}");
    let strings: Vec<Handle> = (0..64).map(|i| isolate.realm().value(text(i)).expect("a string")).collect();
    for _ in 0..3 {
        isolate.collect_garbage();
        for i in 0..1000 {
            isolate.realm().value(format!("something else that takes the place, {i}")).expect("a string");
        }
    }
    for (i, string) in strings.iter().enumerate() {
        assert_eq!(string.to::<String>(&mut isolate.realm()).expect("still a string"), text(i));
    }
}

#[test]
fn handles_outlive_their_isolate() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    let object = realm.evaluate("a.js", "({ a: [1, 2] })").expect("an object");
    let function = realm.function("f", || 1);
    let (promise, resolver) = realm.promise();
    let error = realm.evaluate("a.js", "throw new Error('x')").expect_err("a throw");
    let id = realm.new_realm();
    drop(isolate);
    for handle in [&object, &function, &promise, &object.clone()] {
        assert!(handle.is_undefined(), "{handle:?}");
        assert!(!handle.is_object() && !handle.is_function() && !handle.is_array());
    }
    assert_eq!(error.to_string().lines().next(), Some("Error: x"));
    let mut other = self::isolate();
    assert!(resolver.resolve(&mut other.realm(), 1).is_err());
    assert!(other.in_realm(&id, |_| Ok(())).is_err());
    assert!(object.to::<f64>(&mut other.realm()).is_err());
}

/// Keeps the whole of a sequence's or map's access in a box while it is read.
#[derive(Debug, PartialEq)]
enum Boxed {
    Text(String),
    List(Vec<Boxed>),
    Map(Vec<(String, Boxed)>),
}

struct BoxedVisitor;

impl<'de> Visitor<'de> for BoxedVisitor {
    type Value = Boxed;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("texts, lists and maps")
    }
    fn visit_str<E>(self, text: &str) -> Result<Boxed, E> {
        Ok(Boxed::Text(text.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Boxed, A::Error> {
        let mut access = Box::new(access);
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Boxed::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Boxed, A::Error> {
        let mut access = Box::new(access);
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Boxed::Map(entries))
    }
}

impl<'de> Deserialize<'de> for Boxed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::new(deserializer).deserialize_any(BoxedVisitor)
    }
}

impl Serialize for Boxed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Boxed::Text(text) => serializer.serialize_str(text),
            Boxed::List(items) => {
                let mut list = Box::new(serializer.serialize_seq(None)?);
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Boxed::Map(entries) => {
                let mut map = Box::new(serializer.serialize_map(None)?);
                for (key, value) in entries {
                    map.serialize_key(key)?;
                    map.serialize_value(value)?;
                }
                map.end()
            }
        }
    }
}

/// What the object graph is read from goes away while it is read: getters drop it.
const VANISHING: &str = "(() => {
    const text = (i) => 'text number ' + i;
    const list = () => [text(1), { get a() { return [text(2), { b: text(3) }]; }, get c() { return text(4); } }];
    return { get x() { return list(); }, get y() { return new Map([[text(5), list()]]); } };
})()";

#[test]
fn half_read_values_may_be_kept_in_boxes() {
    let mut isolate = zealous();
    let mut realm = isolate.realm();
    let object = realm.evaluate("a.js", VANISHING).expect("an object");
    let text = |i: u8| Boxed::Text(format!("text number {i}"));
    let inner = || Boxed::List(vec![text(2), Boxed::Map(vec![("b".into(), text(3))])]);
    let list = || Boxed::List(vec![text(1), Boxed::Map(vec![("a".into(), inner()), ("c".into(), text(4))])]);
    let map = Boxed::Map(vec![("text number 5".into(), list())]);
    let read: Boxed = realm.from_js(&object).expect("readable");
    assert_eq!(read, Boxed::Map(vec![("x".into(), list()), ("y".into(), map)]));
    let written = realm.to_js(&read).expect("writable");
    let again: Boxed = realm.from_js(&written).expect("readable");
    assert_eq!(read, again);
}

/// A map whose keys are no texts is written as a Map, half-way through.
#[test]
fn half_written_values_may_be_kept_in_boxes() {
    struct Mixed;
    impl Serialize for Mixed {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = Box::new(serializer.serialize_map(None)?);
            map.serialize_entry("a text", &["one", "two"])?;
            map.serialize_entry(&["a", "list"], &Boxed::Map(vec![("k".into(), Boxed::Text("v".into()))]))?;
            map.serialize_entry("another", &7)?;
            map.end()
        }
    }
    let mut isolate = zealous();
    let mut realm = isolate.realm();
    let map = realm.to_js(&Mixed).expect("writable");
    realm.define_global("map", map).expect("before the first evaluation");
    let text = realm.evaluate("a.js", "JSON.stringify([...map])").expect("text");
    let text: String = text.to(&mut realm).expect("text");
    assert_eq!(text, r#"[["a text",["one","two"]],[["a","list"],{"k":"v"}],["another",7]]"#);
}

/// A seed is asked for a value and takes none: what is left is not found later either.
#[test]
fn values_that_nobody_takes_are_let_go() {
    struct Nothing;
    impl<'de> DeserializeSeed<'de> for Nothing {
        type Value = ();
        fn deserialize<D: Deserializer<'de>>(self, _: D) -> Result<(), D::Error> {
            Ok(())
        }
    }
    struct Skips;
    impl<'de> Visitor<'de> for Skips {
        type Value = usize;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<usize, A::Error> {
            let mut count = 0;
            while access.next_element_seed(Nothing)?.is_some() {
                count += 1;
            }
            Ok(count)
        }
    }
    struct Count(usize);
    impl<'de> Deserialize<'de> for Count {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_seq(Skips).map(Count)
        }
    }
    let mut isolate = zealous();
    let mut realm = isolate.realm();
    let list = realm.evaluate("a.js", "[[1], {}, 'x'.repeat(100)]").expect("a list");
    assert_eq!(realm.from_js::<Count>(&list).expect("a count").0, 3);
}

struct Counter {
    total: f64,
    log: Vec<Handle>,
}

fn counter(realm: &mut Realm<'_>) -> Result<Class<Counter>, Error> {
    let class = realm.class("Counter", |start: Option<f64>| {
        Instance(Counter { total: start.unwrap_or(0.0), log: Vec::new() })
    });
    class.method(realm, "add", |this: Native<Counter>, by: f64, note: Handle| {
        let mut counter = this.borrow_mut();
        counter.total += by;
        counter.log.push(note);
        counter.total
    })?;
    class.method(realm, "notes", |this: Native<Counter>| this.borrow().log.clone())?;
    class.define(realm, "Counter")?;
    Ok(class)
}

fn run(realm: &mut Realm<'_>, text: &str) -> String {
    match realm.evaluate("a.js", text) {
        Ok(value) => realm.to_text(&value).unwrap_or_else(|error| error.to_string()),
        Err(Error::Thrown(exception)) => exception.message,
        Err(error) => error.to_string(),
    }
}

#[test]
fn classes_hold_native_values() {
    let mut isolate = zealous();
    let mut realm = isolate.realm();
    counter(&mut realm).expect("a class");
    assert_eq!(run(&mut realm, "const c = new Counter(40); c.add(1, { a: 'x' }); c.add(1, [])"), "42");
    assert_eq!(run(&mut realm, "JSON.stringify(c.notes())"), r#"[{"a":"x"},[]]"#);
    assert_eq!(
        run(&mut realm, "c instanceof Counter && Counter.name + Counter.prototype.add.length"),
        "Counter2"
    );
    assert_eq!(
        run(
            &mut realm,
            "class Sub extends Counter { twice(n) { this.add(n); return this.add(n); } } new Sub().twice(4)"
        ),
        "8"
    );
    assert_eq!(run(&mut realm, "new Sub() instanceof Sub"), "true");
}

#[test]
fn methods_of_classes_check_their_receiver() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    counter(&mut realm).expect("a class");
    let other: Class<RefCell<u8>> = realm.class("Other", || Instance(RefCell::new(1u8)));
    other.define(&mut realm, "Other").expect("a class");
    let foreign = [
        "{}",
        "1",
        "null",
        "undefined",
        "new Other()",
        "Counter.prototype",
        "Counter",
        "new Proxy(new Counter(), {})",
    ];
    for receiver in foreign {
        let text = run(&mut realm, &format!("Counter.prototype.add.call({receiver}, 1)"));
        assert!(text.starts_with("TypeError: expected an instance of the class"), "{receiver}: {text}");
    }
    assert!(run(&mut realm, "Counter(1)").starts_with("TypeError: a class must be called with new"));
    assert!(run(&mut realm, "new Counter('1')").starts_with("TypeError: expected a number"));
    assert!(run(&mut realm, "Counter.prototype.add = 1").starts_with("TypeError"));
}

#[test]
fn native_values_outlive_their_isolate() {
    let mut isolate = isolate();
    let mut realm = isolate.realm();
    counter(&mut realm).expect("a class");
    let made = realm.evaluate("a.js", "const c = new Counter(7); c.add(1, 'note'); c").expect("an instance");
    let native = Native::<Counter>::from_js(&made, &mut realm).expect("an instance");
    let borrowed = native.borrow();
    drop(isolate);
    assert_eq!(borrowed.total, 8.0);
    assert!(borrowed.log[0].is_undefined());
    assert!(native.handle().is_undefined());
}

/// A frame that is suspended keeps what earlier frames left in its registers. Marking meets such words between two instructions, while runs of
/// cells are open in which they may point.
#[test]
fn what_coroutines_keep_survives_a_marking_in_steps() {
    const PROGRAM: &str = r#"
        function fill(n) {
            const a = {n}, b = {n, m: 1}, c = [a, b], d = { a, b, c }, e = { x: 1, y: 2, z: 3 };
            if (n) fill(n - 1);
            return [a, b, c, d, e].length + c.length;
        }
        function* delegating(n) { if (n) yield* delegating(n - 1); else for (let i = 0; i < 200; i++) yield i; }
        function* looping(n) { for (const x of n ? looping(n - 1) : [1, 2, 3, 4]) yield x; }
        let sum = 0;
        for (let round = 0; round < 8; round++) {
            fill(300);
            const generators = [];
            for (let i = 0; i < 20; i++) generators.push(delegating(60), looping(60));
            for (let k = 0; k < 4; k++) for (const generator of generators) {
                const step = generator.next();
                sum += step.value;
                const one = { generator, step, a: 1 }, two = { one, step, a: 1, b: 1, c: 1 };
                sum += two.one.a;
            }
            sum += [...delegating(50)].length;
        }
        sum
    "#;
    let run = |zeal| {
        let mut isolate = isolate();
        isolate.set_gc_zeal(zeal);
        let mut realm = isolate.realm();
        let value = realm.evaluate("coroutines.js", PROGRAM).expect("a value");
        value.to::<f64>(&mut realm).expect("a number")
    };
    assert_eq!(run(Zeal::Steps), run(Zeal::Off));
}
