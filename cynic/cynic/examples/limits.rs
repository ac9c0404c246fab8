//! Limits: fuel, heap, deadline, cancellation from another thread. No guest can catch a termination.

use std::time::Duration;

use cynic::{Engine, Error, Limits, Termination};

const FOREVER: &str = "try { for (;;) { try { for (;;); } finally { for (;;); } } } catch { 'caught' }";

fn why(result: Result<cynic::Handle, Error>) -> Option<Termination> {
    match result {
        Err(Error::Terminated(why)) => Some(why),
        _ => None,
    }
}

fn main() -> Result<(), Error> {
    let engine = Engine::new();
    let forever = engine.compile("forever.js", FOREVER)?;

    let mut isolate = engine.isolate(Limits { fuel: Some(100_000), ..Limits::default() });
    assert_eq!(why(isolate.realm().run(&forever)), Some(Termination::Fuel));
    // With new fuel the same isolate goes on.
    isolate.recover();
    isolate.set_fuel(Some(100_000));
    let sum: i32 = {
        let mut realm = isolate.realm();
        realm.evaluate("sum.js", "1 + 2")?.to(&mut realm)?
    };
    assert_eq!(sum, 3);

    let mut isolate = engine.isolate(Limits { heap_bytes: 8 << 20, ..Limits::default() });
    let hoard = isolate
        .realm()
        .evaluate("hoard.js", "const all = []; for (;;) all.push('x'.repeat(1000) + all.length);");
    assert_eq!(why(hoard), Some(Termination::Heap));

    let mut isolate = engine.isolate(Limits { time: Some(Duration::from_millis(20)), ..Limits::default() });
    assert_eq!(why(isolate.realm().run(&forever)), Some(Termination::Deadline));

    let mut isolate = engine.isolate(Limits::default());
    let token = isolate.cancel_token();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        token.cancel();
    });
    assert_eq!(why(isolate.realm().run(&forever)), Some(Termination::Cancelled));
    other.join().map_err(|_| "the other thread panicked")?;
    println!("fuel, heap, deadline, cancelled");
    Ok(())
}

#[test]
fn runs() {
    main().expect("the example runs");
}
