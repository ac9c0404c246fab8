//! The spans and events of the feature `tracing`: `cargo test -p pithos-iris --features tracing --test tracing`.
#![cfg(feature = "tracing")]

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use iris_runtime::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Writes everything of the target `iris` down.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<String>>);

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {field}={value:?}");
    }
}

impl Subscriber for Book {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "iris"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = self.0.lock().unwrap();
        text.push_str(span.metadata().name());
        span.record(&mut Line(&mut text));
        text.push('\n');
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = self.0.lock().unwrap();
        text.push_str(event.metadata().level().as_str());
        event.record(&mut Line(&mut text));
        text.push('\n');
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn an_actor_leaves_its_trace() {
    let book = Book::default();
    tracing::subscriber::set_global_default(book.clone()).unwrap();
    let runtime = Runtime::new();
    let actor = runtime.spawn_fn(|_: &mut Context<'_, u8>, _| Err::<(), _>("bad")).unwrap();
    actor.send(1).unwrap();
    assert!(runtime.join(Some(Duration::from_secs(20))));
    let text = book.0.lock().unwrap();
    for line in [
        "DEBUG message=spawned pid=<1.0> pool=\"default\"",
        "iris.turn pid=<1.0>",
        "WARN message=ended pid=<1.0> reason=error: bad",
    ] {
        assert!(text.contains(line), "{line:?} is missing in:\n{text}");
    }
}
