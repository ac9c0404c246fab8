//! A node that gives a local actor a name and asks a server of another node. It needs `epmd -daemon` and a node `other` with the cookie
//! `cookie` whose `server` answers `read`. `cargo run -p pithos-iris-mesh --example begin`

use std::time::Duration;

use iris_mesh::{Destination, Node, Options, Received, Term};
use iris_runtime::{Context, Runtime};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = Runtime::new();
    let actor = runtime.spawn_fn(move |_: &mut Context<'_, Received>, received: Received| {
        if let Received::Call(request, caller) = received {
            let _ = caller.reply(request);
        }
    })?;
    let timeout = Duration::from_secs(5);
    let node = Node::start(runtime.handle(), Options::new("iris@127.0.0.1", "cookie"))?;
    node.register("counter", &actor)?;
    let answer = node.call(&Destination::name("server", "other@127.0.0.1"), Term::atom("read"), timeout)?;
    println!("{answer:?}");
    Ok(())
}
