//! Host functions with typed parameters, values by serde, calls of JavaScript from Rust, and a console of the host's.

use std::cell::RefCell;
use std::rc::Rc;

use cynic::host::inspect::Styles;
use cynic::host::{Sink, Stream};
use cynic::{Engine, Error, Handle, Limits, Realm, Serde};
use serde::{Deserialize, Serialize};

/// Collects what the guest prints.
#[derive(Clone, Default)]
struct Lines(Rc<RefCell<Vec<String>>>);

impl Sink for Lines {
    fn line(&mut self, _stream: Stream, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    id: u32,
    items: Vec<String>,
    note: Option<String>,
}

fn main() -> Result<(), Error> {
    let printed = Lines::default();
    let mut isolate = Engine::new().isolate(Limits::default());
    cynic::host::install(&mut isolate, Box::new(printed.clone()), Styles::Plain);

    let mut realm = isolate.realm();
    realm.define("greet", |name: String, times: Option<u32>| {
        vec![format!("hello, {name}"); times.unwrap_or(1) as usize]
    })?;
    // A failure is an exception in the guest.
    realm.define("half", |n: i64| if n % 2 == 0 { Ok(n / 2) } else { Err(format!("{n} is odd")) })?;
    // The realm as first parameter lets the host call back.
    realm.define("twice", |realm: &mut Realm<'_>, function: Handle, argument: Handle| {
        let once = realm.call(&function, &[argument])?;
        realm.call(&function, &[once])
    })?;
    let order = Order { id: 7, items: vec!["tea".into(), "bread".into()], note: None };
    realm.define_global("order", Serde(&order))?;

    realm.evaluate("guest.js", r#"
        console.log(greet("Ada", 2), twice((n) => n * n, 3));
        try { half(7); } catch (error) { console.log(error.message); }
        globalThis.describe; // the global object is frozen, so this reads undefined
        function total(order, prices) {
            return { id: order.id + 1, items: order.items.map((item) => item + " " + prices.get(item)), note: "paid" };
        }
    "#)?;

    let total = realm.evaluate("name.js", "total")?;
    let prices = realm.to_js(&std::collections::BTreeMap::from([("tea", 3), ("bread", 4)]))?;
    let prices = realm
        .evaluate("map.js", "(o) => new Map(Object.entries(o))")
        .and_then(|f| realm.call(&f, &[prices]))?;
    let argument = realm.to_js(&order)?;
    let paid = realm.call(&total, &[argument, prices])?;
    let paid: Order = realm.from_js(&paid)?;
    let expected = Order { id: 8, items: vec!["tea 3".into(), "bread 4".into()], note: Some("paid".into()) };
    assert_eq!(paid, expected);
    assert_eq!(*printed.0.borrow(), ["[ 'hello, Ada', 'hello, Ada' ] 81", "7 is odd"]);
    println!("{paid:?}");
    Ok(())
}

#[test]
fn runs() {
    main().expect("the example runs");
}
