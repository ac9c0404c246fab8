//! `pithos install`: the configuration that makes an MCP client start `pithos serve`, printed, or written after a question.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pithos_sessions::{out, outln};
use serde_json::{Map, Value, json};

/// How a client keeps its servers.
enum Form {
    /// JSON, an object of servers under this key; each with `command` and `args`.
    Json { key: &'static str, with_type: bool },
    /// TOML, a table for each server.
    Toml,
}

/// A client.
struct Client {
    name: &'static str,
    title: &'static str,
    /// Below the home folder; for `project`, below the working directory.
    file: &'static str,
    project: bool,
    form: Form,
}

const MCP_SERVERS: Form = Form::Json { key: "mcpServers", with_type: false };

const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code, this project",
        file: ".mcp.json",
        project: true,
        form: MCP_SERVERS,
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        file: ".config/Claude/claude_desktop_config.json",
        project: false,
        form: MCP_SERVERS,
    },
    Client { name: "cursor", title: "Cursor", file: ".cursor/mcp.json", project: false, form: MCP_SERVERS },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        file: ".gemini/settings.json",
        project: false,
        form: MCP_SERVERS,
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        file: ".codeium/windsurf/mcp_config.json",
        project: false,
        form: MCP_SERVERS,
    },
    Client {
        name: "vscode",
        title: "VS Code, this project",
        file: ".vscode/mcp.json",
        project: true,
        form: Form::Json { key: "servers", with_type: true },
    },
    Client {
        name: "codex",
        title: "Codex CLI",
        file: ".codex/config.toml",
        project: false,
        form: Form::Toml,
    },
];

/// What `pithos install` was asked.
#[derive(Default)]
pub(crate) struct Request {
    /// One client; all when there is none.
    pub(crate) client: Option<String>,
    pub(crate) write: bool,
    /// Write without the question.
    pub(crate) yes: bool,
    /// For `--sandbox`.
    pub(crate) sandbox: Option<String>,
}

/// Prints or writes.
pub(crate) fn run(request: &Request) -> Result<ExitCode, String> {
    let command = std::env::current_exe().map_err(|error| format!("the path of this command: {error}"))?;
    let mut arguments = vec!["serve".to_string()];
    if let Some(policy) = &request.sandbox {
        arguments.extend(["--sandbox".to_string(), policy.clone()]);
    }
    let server = Server { command: command.to_string_lossy().into_owned(), arguments };
    let chosen: Vec<&Client> = match &request.client {
        None => CLIENTS.iter().collect(),
        Some(name) => vec![CLIENTS.iter().find(|client| client.name == name).ok_or_else(|| unknown(name))?],
    };
    if request.write {
        let [client] = chosen.as_slice() else {
            return Err(format!("--write needs one client: {}", names()));
        };
        return write(client, &server, request.yes);
    }
    for client in chosen {
        outln!(
            "{} ({}), in {}:\n{}",
            client.title,
            client.name,
            path_of(client)?.display(),
            client.snippet(&server)
        );
    }
    outln!("pithos install CLIENT --write puts it there.");
    Ok(ExitCode::SUCCESS)
}

fn unknown(name: &str) -> String {
    format!(
        "no client '{name}' is known here; there are {}; any other takes the command 'pithos serve' on stdio",
        names()
    )
}

fn names() -> String {
    CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().join(", ")
}

/// What a client must start.
struct Server {
    command: String,
    arguments: Vec<String>,
}

impl Client {
    fn snippet(&self, server: &Server) -> String {
        match &self.form {
            Form::Json { key, with_type } => pretty(&json!({ *key: {"pithos": server.json(*with_type)} })),
            Form::Toml => server.toml(),
        }
    }

    /// The file's new text.
    fn merged(&self, old: &str, server: &Server) -> Result<String, String> {
        match &self.form {
            Form::Json { key, with_type } => {
                let mut root: Value = if old.trim().is_empty() {
                    Value::Object(Map::new())
                } else {
                    serde_json::from_str(old)
                        .map_err(|error| format!("it is no plain JSON ({error}): edit it by hand"))?
                };
                let servers = root
                    .as_object_mut()
                    .ok_or("it holds no object: edit it by hand")?
                    .entry(*key)
                    .or_insert_with(|| Value::Object(Map::new()));
                let servers = servers
                    .as_object_mut()
                    .ok_or_else(|| format!("its '{key}' is no object: edit it by hand"))?;
                servers.insert("pithos".to_string(), server.json(*with_type));
                Ok(pretty(&root))
            }
            Form::Toml if old.contains("[mcp_servers.pithos]") => {
                Err("it has a table [mcp_servers.pithos] already: edit it by hand".to_string())
            }
            Form::Toml if old.is_empty() => Ok(server.toml()),
            Form::Toml => Ok(format!("{}\n\n{}", old.trim_end(), server.toml())),
        }
    }
}

impl Server {
    fn json(&self, with_type: bool) -> Value {
        let mut value = json!({"command": self.command, "args": self.arguments});
        if with_type {
            value["type"] = json!("stdio");
        }
        value
    }

    fn toml(&self) -> String {
        // JSON strings and arrays of them are TOML as well.
        format!("[mcp_servers.pithos]\ncommand = {}\nargs = {}\n", json!(self.command), json!(self.arguments))
    }
}

fn pretty(value: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default())
}

fn path_of(client: &Client) -> Result<PathBuf, String> {
    if client.project {
        return Ok(PathBuf::from(client.file));
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).ok_or("HOME is not set")?;
    Ok(Path::new(&home).join(client.file))
}

fn write(client: &Client, server: &Server, yes: bool) -> Result<ExitCode, String> {
    let path = path_of(client)?;
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let old = match std::fs::read_to_string(&path) {
        Ok(old) => old,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let new = client.merged(&old, server).map_err(|message| format!("{}: {message}", path.display()))?;
    outln!("{} will be:\n{new}", path.display());
    if !yes && !confirmed()? {
        outln!("nothing was written");
        return Ok(ExitCode::FAILURE);
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    // Whole or not at all: a client may read it at any moment.
    let fresh = path.with_extension("pithos-new");
    std::fs::write(&fresh, new).and_then(|()| std::fs::rename(&fresh, &path)).map_err(failed)?;
    outln!("written; restart {} to use it", client.title);
    Ok(ExitCode::SUCCESS)
}

fn confirmed() -> Result<bool, String> {
    if !std::io::stdin().is_terminal() {
        return Err("--write asks before it writes, and standard input is no terminal: add --yes".to_string());
    }
    out!("write it? [y/N] ");
    let mut answer = String::new();
    std::io::stdout()
        .flush()
        .and_then(|()| std::io::stdin().read_line(&mut answer))
        .map_err(|error| error.to_string())?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::{CLIENTS, Server};

    fn server() -> Server {
        Server { command: "/opt/pithos".to_string(), arguments: vec!["serve".to_string()] }
    }

    #[test]
    fn other_servers_and_settings_stay() {
        let client = CLIENTS.iter().find(|client| client.name == "gemini").expect("a client");
        let old = r#"{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}"#;
        let new: serde_json::Value =
            serde_json::from_str(&client.merged(old, &server()).expect("merged")).expect("JSON");
        assert_eq!(new["theme"], "dark");
        assert_eq!(new["mcpServers"]["other"]["command"], "x");
        assert_eq!(new["mcpServers"]["pithos"]["args"][0], "serve");
        assert!(client.merged("// comments\n{}", &server()).is_err());
        assert!(client.merged("[]", &server()).is_err());
    }

    #[test]
    fn toml_is_appended_once() {
        let client = CLIENTS.iter().find(|client| client.name == "codex").expect("a client");
        let once = client.merged("model = \"x\"\n", &server()).expect("merged");
        assert_eq!(
            once,
            "model = \"x\"\n\n[mcp_servers.pithos]\ncommand = \"/opt/pithos\"\nargs = [\"serve\"]\n"
        );
        assert!(client.merged(&once, &server()).is_err());
    }
}
