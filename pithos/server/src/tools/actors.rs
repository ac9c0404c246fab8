//! The `actors` tool: spawn, send, ask, swap, stop, and the tree of everything that lives in this server.

use pithos_sessions::limits::ACTOR_TIMEOUT_MS_DEFAULT;
use pithos_sessions::{ActorRequest, DEFAULT_SYSTEM, RestartPolicy, TreeNode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Call, parse};
use crate::result::Report;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    system: Option<String>,
    group: Option<String>,
    to: Option<String>,
    code: Option<String>,
    count: Option<u32>,
    #[serde(default)]
    argument: Value,
    #[serde(default)]
    restart: RestartPolicy,
    #[serde(default)]
    message: Value,
    repeat: Option<u32>,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Action {
    Spawn,
    Send,
    Ask,
    Swap,
    Stop,
    Tree,
}

pub(super) async fn call(arguments: Value, call: Call) -> Result<Report, String> {
    let arguments: Arguments = parse(arguments)?;
    let system = arguments.system.clone().unwrap_or_else(|| DEFAULT_SYSTEM.to_string());
    if matches!(arguments.action, Action::Tree) {
        return tree(&call).await;
    }
    if matches!(arguments.action, Action::Stop) && arguments.to.is_none() {
        call.manager.end_actors(&system).await.map_err(|error| error.to_string())?;
        let text = format!("the actor system '{system}' has ended\n");
        return Ok(Report { structured: json!({"system": system}), text });
    }
    let request = request_of(arguments)?;
    let answer = tokio::select! {
        answer = call.manager.actors(&system, request) => answer,
        () = call.cancelled.cancelled() => return Err("cancelled".to_string()),
    };
    let mut structured = answer.map_err(|error| error.to_string())?;
    let text = format!("{structured}\n");
    structured["system"] = json!(system);
    Ok(Report { structured, text })
}

fn request_of(arguments: Arguments) -> Result<ActorRequest, String> {
    let timeout_ms = arguments.timeout_ms.unwrap_or(ACTOR_TIMEOUT_MS_DEFAULT);
    let group = || arguments.group.clone().ok_or("this action needs a group");
    let to = || arguments.to.clone().ok_or("this action needs 'to': a group, or group/index");
    Ok(match arguments.action {
        Action::Spawn => ActorRequest::Spawn {
            name: group()?,
            code: arguments.code,
            count: arguments.count.unwrap_or(1),
            argument: arguments.argument,
            restart: arguments.restart,
        },
        Action::Send => ActorRequest::Send {
            to: to()?,
            message: arguments.message,
            repeat: arguments.repeat.unwrap_or(1),
        },
        Action::Ask => ActorRequest::Ask { to: to()?, message: arguments.message, timeout_ms },
        Action::Swap => ActorRequest::Swap {
            name: group()?,
            code: arguments.code.ok_or("swap needs the new code")?,
            timeout_ms,
        },
        Action::Stop => ActorRequest::Stop { to: to()? },
        Action::Tree => ActorRequest::Tree,
    })
}

/// The server's supervision tree, with the groups of each actor system in their place.
async fn tree(call: &Call) -> Result<Report, String> {
    let server = call.manager.tree().ok_or("the server is stopping")?;
    let mut text = String::new();
    draw(&server, 0, &mut text);
    let mut systems = Vec::new();
    for name in call.manager.actor_systems().await {
        let mut row =
            call.manager.actors(&name, ActorRequest::Tree).await.map_err(|error| error.to_string())?;
        row["system"] = json!(name);
        text.push_str(&format!("actor system {name}: {} actors\n", row["live"]));
        for group in row["groups"].as_array().into_iter().flatten() {
            text.push_str(&format!(
                "  {}  {} actors, version {}, {} handled, {} waiting, {} failed, {} restarts\n",
                group["name"].as_str().unwrap_or(""),
                group["actors"],
                group["version"],
                group["messages_handled"],
                group["messages_waiting"],
                group["failed"],
                group["restarts"]
            ));
        }
        systems.push(row);
    }
    Ok(Report { structured: json!({"server": server, "systems": systems}), text })
}

/// One line for each node, indented by depth.
pub(crate) fn draw(node: &TreeNode, depth: usize, text: &mut String) {
    text.push_str(&format!("{}{}\n", "  ".repeat(depth), node.name));
    node.children.iter().for_each(|child| draw(child, depth + 1, text));
}
