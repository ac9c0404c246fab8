//! Isolates on threads of their own that pass values to one another by structured clone.

use std::sync::mpsc;

use cynic::{Cloned, Engine, Error, Limits};

/// An isolate that answers each message with what its guest function returns.
fn serve(messages: &mpsc::Receiver<Cloned>, answers: &mpsc::Sender<Cloned>) -> Result<(), Error> {
    let mut isolate = Engine::new().isolate(Limits::default());
    let mut realm = isolate.realm();
    let handler = realm.evaluate(
        "worker.js",
        "({ graph, when, scores }) => ({
        same: graph.self === graph,
        year: when.getUTCFullYear(),
        best: Math.max(...scores.values()),
        bytes: new Uint8Array([1, 2, 3]),
    })",
    )?;
    while let Ok(message) = messages.recv() {
        let message = realm.clone_in(&message)?;
        let answer = realm.call(&handler, &[message])?;
        let answer = realm.clone_out(&answer)?;
        answers.send(answer).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let (to_worker, messages) = mpsc::channel();
    let (answer, answers) = mpsc::channel();
    let worker = std::thread::spawn(move || serve(&messages, &answer).map_err(|error| error.to_string()));

    let mut isolate = Engine::new().isolate(Limits::default());
    let mut realm = isolate.realm();
    let message = realm.evaluate(
        "main.js",
        "
        const graph = {}; graph.self = graph;
        ({ graph, when: new Date(0), scores: new Map([['a', 3], ['b', 9]]) })",
    )?;
    let message = realm.clone_out(&message)?;
    to_worker.send(message).map_err(|error| error.to_string())?;
    drop(to_worker);

    let reply = answers.recv().map_err(|error| error.to_string())?;
    let reply = realm.clone_in(&reply)?;
    let show =
        realm.evaluate("show.js", "(reply) => JSON.stringify({ ...reply, bytes: reply.bytes.length })")?;
    let text: String = realm.call(&show, &[reply])?.to(&mut realm)?;
    assert_eq!(text, r#"{"same":true,"year":1970,"best":9,"bytes":3}"#);
    // Functions do not cross.
    let function = realm.evaluate("function.js", "() => 1")?;
    assert!(matches!(realm.clone_out(&function), Err(Error::Thrown(_))));
    worker.join().map_err(|_| "the worker panicked")??;
    println!("{text}");
    Ok(())
}

#[test]
fn runs() {
    main().expect("the example runs");
}
