//! Promises that the host settles: an asynchronous host function, and the loop that drives the jobs.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use cynic::{Engine, Error, Limits, PromiseState, Realm, Resolver};

/// What the guest asked for and has not got.
type Requests = Rc<RefCell<VecDeque<(String, Resolver)>>>;

fn main() -> Result<(), Error> {
    let requests = Requests::default();
    let mut isolate = Engine::new().isolate(Limits::default());
    let asked = Rc::clone(&requests);
    isolate.realm().define("fetchText", move |realm: &mut Realm<'_>, address: String| {
        let (promise, resolver) = realm.promise();
        asked.borrow_mut().push_back((address, resolver));
        promise
    })?;

    let program = isolate.realm().evaluate(
        "guest.js",
        r#"(async () => {
        const texts = await Promise.all(["a", "b"].map(fetchText));
        const failed = await fetchText("nowhere").catch((error) => error);
        Promise.reject(new Error("nobody listens"));
        return [...texts, failed].join();
    })()"#,
    )?;

    // The host's event loop: run the jobs, then do what was asked for.
    loop {
        isolate.run_jobs()?;
        let Some((address, resolver)) = requests.borrow_mut().pop_front() else { break };
        let mut realm = isolate.realm();
        match address.as_str() {
            "nowhere" => resolver.reject(&mut realm, "no such address")?,
            _ => resolver.resolve(&mut realm, format!("<{address}>"))?,
        }
    }

    let unhandled = isolate.take_unhandled_rejections();
    assert_eq!(unhandled.len(), 1);
    let mut realm = isolate.realm();
    let PromiseState::Fulfilled(value) = realm.promise_state(&program)? else {
        return Err("the program should have ended".into());
    };
    let text: String = value.to(&mut realm)?;
    assert_eq!(text, "<a>,<b>,no such address");
    println!("{text}");
    Ok(())
}

#[test]
fn runs() {
    main().expect("the example runs");
}
