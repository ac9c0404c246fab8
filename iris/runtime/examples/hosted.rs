//! A host that brings its own kind of behaviour: here "scripts" that are chosen by name at run time, boxed, supervised, swapped and watched.
//! Whatever embeds iris (an interpreter, a server's tool) can take this as its skeleton. `cargo run -p pithos-iris --example hosted`

use std::time::Duration;

use iris_runtime::supervisor::{ChildSpec, StartContext, Strategy, Supervisor};
use iris_runtime::{
    Behaviour, Context, Direction, ExitReason, Flow, Pid, ReplyTo, Runtime, Signal, SpawnOptions,
};

/// What the host sends: text, and the right to answer.
type Request = (String, ReplyTo<String>);

/// One script with its state. A real host has an isolate here.
struct Script {
    name: &'static str,
    seen: u64,
}

impl Behaviour<Request> for Script {
    fn handle(&mut self, _: &mut Context<'_, Request>, (text, reply): Request) -> Flow {
        self.seen += 1;
        match self.name {
            "shout" => drop(reply.send(text.to_uppercase())),
            "count" => drop(reply.send(format!("{text} is number {}", self.seen))),
            other => return Flow::Exit(ExitReason::error(format!("no script {other:?}"))),
        }
        Flow::Continue
    }

    fn signal(&mut self, _: &mut Context<'_, Request>, signal: Signal) -> Flow {
        println!("{} was told: {signal:?}", self.name);
        Flow::Continue
    }

    fn code_change(&mut self, old: &mut dyn std::any::Any, _: Direction) -> Result<(), ExitReason> {
        if let Some(old) = old.downcast_ref::<Self>() {
            self.seen = old.seen;
        }
        Ok(())
    }
}

/// The host's one factory: a boxed behaviour for a name.
fn script(name: &'static str) -> Box<dyn Behaviour<Request>> {
    Box::new(Script { name, seen: 0 })
}

/// How the supervisor starts a child whose behaviour is boxed.
fn start(cx: &StartContext, name: &'static str) -> Result<Pid, ExitReason> {
    let options = SpawnOptions { parent: Some(cx.supervisor), ..SpawnOptions::default() };
    let actor = cx.handle.spawn_boxed(options, script(name))?;
    cx.handle.register(name, actor.pid());
    Ok(actor.pid())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let deadline = Some(Duration::from_secs(5));
    let runtime = Runtime::new();
    let tree = Supervisor::new(Strategy::OneForOne)
        .child(ChildSpec::new("shout", |cx| start(cx, "shout")))
        .child(ChildSpec::new("broken", |cx| start(cx, "broken")));
    let tree = tree.start(&runtime, SpawnOptions::default())?;
    let children = tree.which_children().wait(deadline)?;

    let actor =
        runtime.whereis("shout").and_then(|pid| runtime.actor::<Request>(pid)).ok_or("no such script")?;
    println!("{}", actor.ask(deadline, |reply| ("hello".to_owned(), reply))?);
    println!("version {:?}", actor.hot_swap_boxed(script("count")));
    println!("{}", actor.ask(deadline, |reply| ("hello".to_owned(), reply))?);
    println!("back to version {:?}", runtime.rollback(actor.pid(), 1));
    println!("{}", actor.ask(deadline, |reply| ("again".to_owned(), reply))?);

    // A script that fails is restarted, and the asker is told.
    if let Some(broken) = runtime.whereis("broken").and_then(|pid| runtime.actor::<Request>(pid)) {
        println!("{:?}", broken.ask(deadline, |reply| (String::new(), reply)));
    }
    for child in children.iter().chain(&tree.which_children().wait(deadline)?) {
        println!("{} {:?} restarts {}", child.id, child.pid, child.restarts);
    }
    println!("{:?}", runtime.stop(Some(Duration::from_secs(1)), Duration::from_secs(1)));
    Ok(())
}
