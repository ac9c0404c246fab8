//! `pithos install`: the configuration that makes an MCP client start `pithos serve`, printed, or written after a question.

use std::io::{IsTerminal, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pithos_sessions::{out, outln};
use serde_json::{Value, json};

use crate::json_edit;
use crate::limits::LINKS_MAX;

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
                let server = server.json(*with_type);
                if old.trim().is_empty() {
                    return Ok(pretty(&json!({ *key: {"pithos": server} })));
                }
                serde_json::from_str::<serde::de::IgnoredAny>(old)
                    .map_err(|error| format!("it is no plain JSON ({error}): edit it by hand"))?;
                json_edit::set(old, key, "pithos", &server)
                    .ok_or_else(|| format!("it holds no object, or its '{key}' is none: edit it by hand"))
            }
            Form::Toml if old.is_empty() => Ok(server.toml()),
            Form::Toml => {
                let table =
                    |text: &str| text.parse::<toml::Table>().map_err(|error| error.message().to_string());
                let known =
                    table(old).map_err(|error| format!("it is no TOML ({error}): edit it by hand"))?;
                if known.get("mcp_servers").is_some_and(|servers| servers.get("pithos").is_some()) {
                    return Err(
                        "it has a server 'pithos' in mcp_servers already: edit it by hand".to_string()
                    );
                }
                let gap = if old.ends_with('\n') { "\n" } else { "\n\n" };
                let new = format!("{old}{gap}{}", server.toml());
                // A table that is written in one line cannot be gone on with.
                table(&new)
                    .map_err(|error| format!("nothing can be added to it ({error}): edit it by hand"))?;
                Ok(new)
            }
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
    replace(&path, &new).map_err(failed)?;
    outln!("written; restart {} to use it", client.title);
    Ok(ExitCode::SUCCESS)
}

/// Gives a file another content and leaves the rest of it: where a link leads, its mode, its owner, its other names. Whole or not at all where that is possible:
/// a client may read it at any moment.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // What the last link leads to may not be there yet.
    let mut path = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    let old = match std::fs::metadata(&path) {
        Ok(data) => Some(data),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".pithos-{}", std::process::id()));
    let fresh = path.with_file_name(name);
    let put = || {
        let mut options = std::fs::OpenOptions::new();
        // Nobody else may read it before it has its mode.
        options.write(true).create_new(true).mode(if old.is_some() { 0o600 } else { 0o666 });
        let mut file = options.open(&fresh)?;
        file.write_all(text.as_bytes())?;
        if let Some(old) = &old {
            std::os::unix::fs::fchown(&file, Some(old.uid()), Some(old.gid()))?;
            file.set_permissions(old.permissions())?;
        }
        std::fs::rename(&fresh, &path)
    };
    let several = old.as_ref().is_some_and(|old| old.nlink() > 1);
    if !several && put().is_ok() {
        return Ok(());
    }
    let _ = std::fs::remove_file(&fresh);
    // With other names, of another owner, or in a folder where nothing can be made: only its bytes.
    std::fs::write(&path, text)
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
    fn mode_link_and_other_names_stay() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (real, link, other) =
            (folder.path().join("real"), folder.path().join("link"), folder.path().join("other"));
        std::fs::write(&real, "{}").expect("written");
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).expect("a mode");
        symlink("real", &link).expect("a link");
        super::replace(&link, "{ }").expect("replaced");
        assert_eq!(std::fs::read_to_string(&real).expect("read"), "{ }");
        assert_eq!(std::fs::metadata(&real).expect("there").mode() & 0o777, 0o600);
        assert!(link.symlink_metadata().expect("there").is_symlink());
        std::fs::hard_link(&real, &other).expect("a name");
        super::replace(&link, "{  }").expect("replaced");
        assert_eq!(std::fs::read_to_string(&other).expect("read"), "{  }");
        // A link to what is not there yet.
        let (ahead, later) = (folder.path().join("ahead"), folder.path().join("later"));
        symlink("later", &ahead).expect("a link");
        super::replace(&ahead, "{}").expect("made");
        assert!(ahead.symlink_metadata().expect("there").is_symlink() && later.is_file());
        assert_eq!(std::fs::read_dir(folder.path()).expect("read").count(), 5, "nothing else is left");
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
        for taken in
            ["[mcp_servers.\"pithos\"]\n", "mcp_servers = {a = {}}\n", "mcp_servers.pithos = {}", "x = ["]
        {
            assert!(client.merged(taken, &server()).is_err(), "{taken}");
        }
        let spaced = client.merged("# mine\n[a]\nb=1_000 \n\n", &server()).expect("merged");
        assert!(spaced.starts_with("# mine\n[a]\nb=1_000 \n\n\n[mcp"), "{spaced}");
    }
}
