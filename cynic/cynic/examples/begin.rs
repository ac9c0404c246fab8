//! The beginning of every program that embeds the engine: limits, a host function, a script, its value. `cargo run -p pithos-cynic --example begin`

use cynic::{Engine, Error, Limits};

fn main() -> Result<(), Error> {
    let mut isolate = Engine::new().isolate(Limits { fuel: Some(1_000_000), ..Limits::default() });
    let mut realm = isolate.realm();
    realm.define("add", |a: f64, b: f64| a + b)?;
    let sum: f64 = realm.evaluate("sum.js", "add(40, 2)")?.to(&mut realm)?;
    assert_eq!(sum, 42.0);
    Ok(())
}
