//! Names that a whole cluster of OTP knows (`global`): looked up with the nodes that keep them. Owns that request; registering stays with OTP.

use std::time::{Duration, Instant};

use iris_runtime::call_pair;

use crate::error::{CallError, MeshError};
use crate::node::{Destination, Node};
use crate::term::{Pid, Term};

/// Who keeps the names on a node of OTP.
const SERVER: &str = "global_name_server";

impl Node {
    /// The process that `global:register_name` gave a name to, as one connected node knows it; `None` if it knows none. While the cluster
    /// changes the name the answer waits for that.
    pub fn global(&self, name: &Term, node: &str, timeout: Duration) -> Result<Option<Pid>, CallError> {
        let to = Destination::name(SERVER, node);
        let (reply, call) = call_pair();
        let until = Instant::now() + timeout;
        let done = move |result| _ = reply.send(result);
        let asked = |from| Term::tuple([Term::atom("whereis"), name.clone(), from]);
        let reference =
            self.request_as(&to, asked, Some(until), Box::new(done)).map_err(CallError::NotSent)?;
        let result = self.0.handle.wait_for(call, Some(until.saturating_duration_since(Instant::now())));
        self.demonitor(&reference);
        match result {
            Ok(Ok(Term::Pid(pid))) => Ok(Some(*pid)),
            Ok(Ok(answer)) if answer.is_atom("undefined") => Ok(None),
            Ok(Ok(_)) => Err(CallError::NotSent(MeshError::Frame("not an answer of global"))),
            Ok(Err(reason)) => Err(CallError::Down(reason)),
            Err(_) => Err(CallError::Timeout),
        }
    }
}
