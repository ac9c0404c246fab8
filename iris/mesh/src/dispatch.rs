//! What frames of other nodes do here. Owns the control messages of the protocol, one arm each, and the node's own `net_kernel`.
//! Refused: spawning (with `notsup`), and every name that nobody was given, `rex` among them. Anything that is not of the protocol ends
//! the connection.

use std::sync::Arc;

use iris_runtime::ExitReason;

use crate::connection::{Connection, Haste, parse};
use crate::error::MeshError;
use crate::groups::SCOPE;
use crate::handshake::flag;
use crate::node::{Caller, Destination, Inner, Node, Outgoing, Signal, Waiting};
use crate::process::{Process, Received, exit_reason};
use crate::term::{Pid, Term};

/// The name that answers pings.
pub(crate) const NET_KERNEL: &str = "net_kernel";

type Result<T> = std::result::Result<T, MeshError>;

/// Takes one frame.
pub(crate) fn take(node: &Node, connection: &Arc<Connection>, frame: &[u8]) -> Result<()> {
    let (mut control, message) = parse(frame, connection.private)?;
    let operation = match control.first() {
        Some(Term::Int(operation)) => *operation,
        _ => return Err(MeshError::Frame("a control message without an operation")),
    };
    // The variants with a trace token are the same with the token among their fields.
    let (operation, token) = match operation {
        12 => (2, Some(3)),
        13 => (3, Some(3)),
        16 => (6, Some(4)),
        18 => (8, Some(3)),
        23 => (22, Some(3)),
        25 => (24, Some(3)),
        27 => (26, Some(3)),
        30 => (29, Some(6)),
        32 => (31, Some(5)),
        34 => (33, Some(3)),
        other => (other, None),
    };
    if let Some(at) = token.filter(|at| *at < control.len()) {
        control.remove(at);
    }
    let inner = &node.0;
    if let Some(Term::Pid(from)) = sender(operation, &control) {
        of_peer(connection, from)?;
    }
    match (operation, control.as_slice(), message) {
        (1, [_, Term::Pid(from), Term::Pid(to)], None) => {
            let linked = inner.processes.by_pid(to).is_some_and(|process| process.link((**from).clone()));
            if !linked {
                let (from, to) = ((**to).clone(), (**from).clone());
                signal(connection, Signal::Exit { from, to, reason: Term::atom("noproc") })?;
            }
        }
        (2 | 22, [_, _, Term::Pid(to)], Some(message)) => {
            if **to == inner.own_pid() {
                answer(node, Some(connection), message);
            } else if **to == inner.groups_pid() {
                node.take_groups(connection, message)?;
            } else {
                deliver(node, inner.processes.by_pid(to), message);
            }
        }
        (6, [_, Term::Pid(_), _, Term::Atom(name)], Some(message)) => {
            if name.as_str() == NET_KERNEL {
                net_kernel(node, message);
            } else if name.as_str() == SCOPE {
                node.take_groups(connection, message)?;
            } else {
                deliver(node, inner.processes.by_name(name), message);
            }
        }
        // To an alias of ours: none is ever made.
        (33, [_, Term::Pid(_), Term::Reference(_)], Some(_)) => {}
        (3, [_, Term::Pid(from), Term::Pid(to), reason], None) => linked_exit(node, from, to, reason),
        (24, [_, Term::Pid(from), Term::Pid(to)], Some(reason)) => linked_exit(node, from, to, &reason),
        (8, [_, Term::Pid(from), Term::Pid(to), reason], None) => asked_exit(node, from, to, reason),
        (26, [_, Term::Pid(from), Term::Pid(to)], Some(reason)) => asked_exit(node, from, to, &reason),
        (4, [_, Term::Pid(from), Term::Pid(to)], None) => {
            if let Some(process) = inner.processes.by_pid(to) {
                process.unlink(from);
            }
        }
        (35, [_, id, Term::Pid(from), Term::Pid(to)], None) => {
            if let Some(process) = inner.processes.by_pid(to) {
                process.unlink(from);
            }
            let ack = [Term::Int(36), id.clone(), (**to).clone().into(), (**from).clone().into()];
            connection.send(&Term::tuple(ack), None, Haste::Signal)?;
        }
        // The link was forgotten when the request was sent. Group leaders are not ours to set.
        (36, [_, _, _, _], None) | (7, [_, _, _], None) | (5, [_], None) => {}
        (19, [_, Term::Pid(from), to, Term::Reference(reference)], None) => {
            let process = match to {
                // They live as long as the connection, whose end the watcher sees by itself.
                Term::Atom(name) if [NET_KERNEL, SCOPE].contains(&name.as_str()) => return Ok(()),
                Term::Pid(pid) if **pid == inner.groups_pid() => return Ok(()),
                Term::Pid(pid) => inner.processes.by_pid(pid),
                Term::Atom(name) => inner.processes.by_name(name),
                _ => return Err(MeshError::Frame("a monitor of something else than a process")),
            };
            let (watcher, reference) = ((**from).clone(), (**reference).clone());
            let watched = process
                .is_some_and(|process| process.add_monitor(reference.clone(), watcher.clone(), to.clone()));
            if !watched {
                let reason = Term::atom("noproc");
                signal(connection, Signal::Down { from: to.clone(), watcher, reference, reason })?;
            }
        }
        (20, [_, Term::Pid(_), to, Term::Reference(reference)], None) => {
            let process = match to {
                Term::Pid(pid) => inner.processes.by_pid(pid),
                Term::Atom(name) => inner.processes.by_name(name),
                _ => None,
            };
            process.iter().for_each(|process| process.remove_monitor(reference));
        }
        (21, [_, _, _, Term::Reference(reference), reason], None) => {
            remote_down(inner, connection, reference, reason)
        }
        (28, [_, _, _, Term::Reference(reference)], Some(reason)) => {
            remote_down(inner, connection, reference, &reason)
        }
        (29, [_, request, from, ..], Some(_)) => {
            let reply = [Term::Int(31), request.clone(), from.clone(), Term::Int(0), Term::atom("notsup")];
            connection.send(&Term::tuple(reply), None, Haste::Signal)?;
        }
        (31, [..], None) => {}
        _ => return Err(MeshError::Frame("not a control message of the protocol")),
    }
    Ok(())
}

/// In whose name a signal is. Of plain sends the protocol says nobody, or somebody who does not matter.
fn sender(operation: i64, control: &[Term]) -> Option<&Term> {
    match operation {
        1 | 3 | 4 | 8 | 19 | 20 | 24 | 26 => control.get(1),
        35 | 36 => control.get(2),
        _ => None,
    }
}

/// A peer speaks for its own processes only.
fn of_peer(connection: &Connection, from: &Pid) -> Result<()> {
    if from.node == connection.peer {
        Ok(())
    } else {
        Err(MeshError::Frame("a signal in the name of another node"))
    }
}

fn remote_down(inner: &Inner, connection: &Connection, reference: &crate::term::Reference, reason: &Term) {
    let theirs =
        inner.outgoing.lock().get(reference).is_some_and(|outgoing| *outgoing.to.node() == connection.peer);
    if theirs {
        inner.down(reference, reason);
    }
}

/// Gives a message to a local actor, as what the protocols of `gen_server` say it is.
pub(crate) fn deliver(node: &Node, process: Option<Arc<Process>>, message: Term) {
    let Some(process) = process else { return };
    (process.sink)(received(node, Some(&process), message));
}

fn received(node: &Node, process: Option<&Arc<Process>>, message: Term) -> Received {
    let Term::Tuple(mut items) = message else { return Received::Message(message) };
    match items.as_slice() {
        [kind, Term::Tuple(from), _]
            if kind.is_atom("$gen_call") && matches!(from.as_slice(), [Term::Pid(_), _]) =>
        {
            let request = items.pop();
            let (Some(request), Some(Term::Tuple(from))) = (request, items.pop()) else {
                return Received::Message(Term::Tuple(items));
            };
            match <[Term; 2]>::try_from(from) {
                Ok([Term::Pid(pid), tag]) => {
                    let process = process.cloned();
                    Received::Call(request, Caller { node: node.clone(), pid: *pid, tag, process })
                }
                Ok(from) => Received::Message(Term::tuple([Term::tuple(from), request])),
                Err(from) => Received::Message(Term::tuple([Term::Tuple(from), request])),
            }
        }
        [kind, _] if kind.is_atom("$gen_cast") => match items.pop() {
            Some(request) => Received::Cast(request),
            None => Received::Message(Term::Tuple(items)),
        },
        _ => Received::Message(Term::Tuple(items)),
    }
}

/// An answer to a call of the node itself: `{Tag, Reply}`; on the thread of the connection that it came by, if it did.
pub(crate) fn answer(node: &Node, came_by: Option<&Arc<Connection>>, message: Term) {
    let Term::Tuple(items) = message else { return };
    let Ok([Term::Reference(tag), reply]) = <[Term; 2]>::try_from(items) else { return };
    let mut outgoing = node.0.outgoing.lock();
    if !outgoing.get(&*tag).is_some_and(|call| matches!(call.waiting, Waiting::Call(_))) {
        return;
    }
    let Some(Outgoing { to, waiting: Waiting::Call(done) }) = outgoing.remove(&*tag) else { return };
    drop(outgoing);
    done(Ok(reply));
    node.0.forget_answered(&to, &tag, came_by);
}

/// `net_adm:ping` asks whether it is authorised; whoever got here is. All else has no answer that we could give.
fn net_kernel(node: &Node, message: Term) {
    if let Received::Call(request, caller) = received(node, None, message) {
        let ping = matches!(&request, Term::Tuple(items) if items.first().is_some_and(|item| item.is_atom("is_auth")));
        let reply =
            if ping { Term::atom("yes") } else { Term::tuple([Term::atom("error"), Term::atom("notsup")]) };
        let _ = caller.reply(reply);
    }
}

fn linked_exit(node: &Node, from: &Pid, to: &Pid, reason: &Term) {
    if let Some(process) = node.0.processes.by_pid(to)
        && process.unlink(from)
    {
        exit(&node.0, &process, from.clone(), reason);
    }
}

pub(crate) fn asked_exit(node: &Node, from: &Pid, to: &Pid, reason: &Term) {
    let Some(process) = node.0.processes.by_pid(to) else { return };
    if reason.is_atom("kill") {
        node.0.handle.exit(process.actor, ExitReason::Killed);
    } else {
        exit(&node.0, &process, from.clone(), reason);
    }
}

/// An exit signal arrives: by OTP's rules.
pub(crate) fn exit(inner: &Inner, process: &Process, from: Pid, reason: &Term) {
    if process.trap_exit || inner.handle.traps_exit(process.actor) {
        (process.sink)(Received::Exit { from, reason: reason.clone() });
    } else if !reason.is_atom("normal") {
        inner.handle.exit(process.actor, exit_reason(reason));
    }
}

/// Sends a signal of an end.
pub(crate) fn signal(connection: &Connection, signal: Signal) -> Result<()> {
    let (long, short, ids, reason) = match signal {
        Signal::Down { from, watcher, reference, reason } => {
            (28, 21, vec![from, watcher.into(), reference.into()], reason)
        }
        Signal::Exit { from, to, reason } => (24, 3, vec![from.into(), to.into()], reason),
    };
    let payload = connection.has(flag::EXIT_PAYLOAD);
    let mut control = vec![Term::Int(if payload { long } else { short })];
    control.extend(ids);
    if payload {
        return connection.send(&Term::Tuple(control), Some(&reason), Haste::Signal);
    }
    control.push(reason);
    connection.send(&Term::Tuple(control), None, Haste::Signal)
}

impl From<Pid> for Destination {
    fn from(pid: Pid) -> Self {
        Self::Pid(pid)
    }
}
