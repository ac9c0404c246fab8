//! The least that a program does: a runtime, an actor made of a closure, a message. `cargo run -p pithos-iris --example begin`

use iris_runtime::{Context, Runtime};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::new();
    let mut total = 0;
    let counter = runtime.spawn_fn(move |_: &mut Context<'_, u64>, message: u64| {
        total += message;
        println!("{total}");
    })?;
    counter.send(1)?;
    Ok(())
}
