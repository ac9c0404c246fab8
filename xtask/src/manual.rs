//! Manual pages and completions of the three commands, made from what each prints for `--help`: that text is the one
//! place that lists a command's flags. Owns the reading of it and the four formats.
//!
//! The text is made of a usage block, groups of rows (`  -x, --long VALUE  what it does`, continued by deeper lines) and
//! prose. A flag that stands only in the usage block is a flag too.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// What a command says of itself.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Help {
    /// Its name.
    name: String,
    /// One line: what it is.
    summary: String,
    /// The lines of the usage block, without `usage:`.
    usage: Vec<String>,
    /// What its first word may be, in the order of the usage block.
    commands: Vec<String>,
    /// Every row, with the group it stands in.
    rows: Vec<Row>,
    /// What is neither usage nor row.
    prose: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Clone)]
struct Row {
    group: String,
    /// Its spellings, or the one word of a row that is not a flag.
    names: Vec<String>,
    value: Option<String>,
    text: String,
}

impl Row {
    fn is_flag(&self) -> bool {
        self.names.first().is_some_and(|name| name.starts_with('-'))
    }
}

/// Writes the pages and completions of `binaries` (name, path, what it is) below `share`.
pub(crate) fn write(binaries: &[(&str, &Path, &str)], share: &Path) -> Result<(), String> {
    for (name, path, summary) in binaries {
        let output = Command::new(path).arg("--help").output();
        let output = output.map_err(|error| format!("{}: {error}", path.display()))?;
        let help = read(name, summary, &String::from_utf8_lossy(&output.stdout))
            .ok_or_else(|| format!("{name} --help has no usage block"))?;
        let files = [
            (format!("man/man1/{name}.1"), manual_page(&help)),
            (format!("bash-completion/completions/{name}"), bash(&help)),
            (format!("zsh/site-functions/_{name}"), zsh(&help)),
            (format!("fish/vendor_completions.d/{name}.fish"), fish(&help)),
        ];
        for (file, text) in files {
            let path = share.join(file);
            let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            written
                .and_then(|()| std::fs::write(&path, text))
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(())
}

/// Reads what `--help` printed; nothing when it has no usage block.
fn read(name: &str, summary: &str, text: &str) -> Option<Help> {
    let mut help = Help { name: name.to_string(), summary: summary.to_string(), ..Help::default() };
    let (mut group, mut in_usage) = (String::new(), false);
    for line in text.lines() {
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        if let Some(first) = line.strip_prefix("usage:") {
            in_usage = true;
            help.usage.push(first.trim().to_string());
        } else if words.is_empty() {
            in_usage = false;
        } else if in_usage {
            // A line that does not begin with the name goes on with the one before.
            match help.usage.last_mut() {
                Some(last) if !words.starts_with(name) => {
                    last.push(' ');
                    last.push_str(words);
                }
                _ => help.usage.push(words.to_string()),
            }
        } else if indent == 0 {
            match words.strip_suffix(':') {
                Some(title) => group = title.to_string(),
                None if !words.starts_with(&format!("{name}:")) => help.prose.push(words.to_string()),
                None => {}
            }
        } else if indent <= 2
            && let Some(row) = row(words, &group)
        {
            help.rows.push(row);
        } else {
            go_on(&mut help, indent, words);
        }
    }
    if help.usage.is_empty() {
        return None;
    }
    take_usage(&mut help);
    Some(help)
}

/// A line that belongs to the row above it, or is prose.
fn go_on(help: &mut Help, indent: usize, words: &str) {
    match help.rows.last_mut() {
        Some(last) if indent > 2 => {
            if !last.text.is_empty() {
                last.text.push(' ');
            }
            last.text.push_str(words);
        }
        _ => help.prose.push(words.to_string()),
    }
}

/// `-x, --long VALUE  text`, or `word  text` with two blanks or more between.
fn row(line: &str, group: &str) -> Option<Row> {
    let mut row = Row { group: group.to_string(), ..Row::default() };
    if !line.starts_with('-') {
        let (names, text) = line.split_once("  ").or_else(|| line.split_once(' '))?;
        let names: Vec<String> = names.split(", ").map(str::to_string).collect();
        let plain = |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !names.iter().all(plain) || names.iter().any(|name| name.chars().all(char::is_uppercase)) {
            return None;
        }
        return Some(Row { names, text: text.trim().to_string(), ..row });
    }
    let mut rest = line;
    while rest.starts_with('-') {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        let bare = word.trim_end_matches(',');
        let (name, value) = bare.split_once('=').map_or((bare, None), |(name, value)| (name, Some(value)));
        row.names.push(name.to_string());
        row.value = row.value.or(value.map(str::to_string));
        let after_blanks = after.trim_start();
        let (next, after_next) = after_blanks.split_once(' ').unwrap_or((after_blanks, ""));
        let is_value = !after.starts_with(' ') && next.chars().all(is_placeholder) && next.len() > 1
            || next == "N" && !after.starts_with(' ');
        rest = after_blanks;
        if row.value.is_none() && is_value && !word.ends_with(',') {
            row.value = Some(next.to_string());
            rest = after_next.trim_start();
        }
    }
    row.text = rest.to_string();
    Some(row)
}

fn is_placeholder(character: char) -> bool {
    character.is_ascii_uppercase() || matches!(character, ':' | '_' | '/' | '|')
}

/// The sub-commands of the usage block, and the flags that stand nowhere else.
fn take_usage(help: &mut Help) {
    let mut commands: Vec<String> = Vec::new();
    for line in &help.usage {
        let first = line.split_whitespace().nth(1).unwrap_or("");
        for word in first.split('|') {
            let plain =
                !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
            if plain && !commands.iter().any(|command| command == word) {
                commands.push(word.to_string());
            }
        }
        // What is in brackets may be left away; so may the bars of a choice.
        let flat = line.replace(['[', ']', '|', '(', ')'], " ");
        let words: Vec<&str> = flat.split_whitespace().collect();
        for (at, word) in
            words.iter().enumerate().filter(|(_, word)| word.starts_with("--") && word.len() > 2)
        {
            let name = word.split('=').next().unwrap_or(word);
            if help.rows.iter().any(|row| row.names.iter().any(|known| known == name)) {
                continue;
            }
            let next = words.get(at + 1).filter(|next| next.chars().all(is_placeholder));
            let value = next.map(|next| (*next).to_string());
            help.rows.push(Row { names: vec![name.to_string()], value, ..Row::default() });
        }
    }
    help.commands = commands;
}

/// The page for `man`.
fn manual_page(help: &Help) -> String {
    let name = &help.name;
    let mut out = format!(
        ".TH {} 1 \"\" \"pithos {}\" \"User Commands\"\n.SH NAME\n{name} \\- {}\n.SH SYNOPSIS\n.nf\n",
        name.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        roff(&help.summary)
    );
    for line in &help.usage {
        let _ = writeln!(out, "{}", roff(line));
    }
    out.push_str(".fi\n");
    if !help.prose.is_empty() {
        let _ = writeln!(out, ".SH DESCRIPTION\n{}", roff(&help.prose.join("\n")));
    }
    let mut group = None;
    for row in &help.rows {
        if group != Some(&row.group) {
            group = Some(&row.group);
            let title = if row.group.is_empty() { "Options" } else { &row.group };
            let title = if row.is_flag() || !row.group.is_empty() { title } else { "Commands" };
            let _ = writeln!(out, ".SH {}", roff(&title.to_uppercase()));
        }
        let names: Vec<String> = row.names.iter().map(|name| format!("\\fB{}\\fR", roff(name))).collect();
        let value = row.value.as_deref().map(|value| format!(" \\fI{}\\fR", roff(value))).unwrap_or_default();
        let _ = writeln!(out, ".TP\n{}{value}\n{}", names.join(", "), roff(&row.text));
    }
    out
}

/// Text as roff takes it: backslashes and hyphens escaped, no line that begins with a control character.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let line = |line: &str| {
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_string() }
    };
    escaped.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The flags, each spelling once, with its value and text.
fn flags(help: &Help) -> BTreeMap<&str, &Row> {
    let rows = help.rows.iter().filter(|row| row.is_flag());
    rows.flat_map(|row| row.names.iter().map(move |name| (name.as_str(), row))).collect()
}

/// What the first word may be, with what the help text says of it.
fn first_words(help: &Help) -> Vec<(&str, &str)> {
    let text = |command: &str| {
        let row = help.rows.iter().find(|row| !row.is_flag() && row.names.iter().any(|name| name == command));
        row.map_or("", |row| row.text.as_str())
    };
    help.commands.iter().map(|command| (command.as_str(), text(command))).collect()
}

fn bash(help: &Help) -> String {
    let name = &help.name;
    let all: Vec<&str> = flags(help).into_keys().collect();
    let valued: Vec<&str> =
        flags(help).iter().filter(|(_, row)| row.value.is_some()).map(|(flag, _)| *flag).collect();
    format!(
        "# Completions of {name} for bash, made from its help text.\n\
         _{name}() {{\n    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n    COMPREPLY=()\n    \
         case $before in\n        {}) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n    esac\n    \
         if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n    \
         elif [[ $COMP_CWORD == 1 ]]; then\n        COMPREPLY=($(compgen -W '{}' -- \"$word\") $(compgen -f -- \"$word\"))\n    \
         else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}}\ncomplete -o filenames -F _{name} {name}\n",
        if valued.is_empty() { "--".to_string() } else { valued.join("|") },
        all.join(" "),
        help.commands.join(" "),
    )
}

fn zsh(help: &Help) -> String {
    let name = &help.name;
    let quote =
        |text: &str| text.replace('\'', "'\\''").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
    let mut out = format!(
        "#compdef {name}\n# Completions of {name} for zsh, made from its help text.\nlocal -a commands\ncommands=("
    );
    for (command, text) in first_words(help) {
        let _ = write!(out, "\n    '{command}:{}'", text.replace('\'', "'\\''"));
    }
    out.push_str("\n)\n_arguments -s \\\n");
    for (flag, row) in flags(help) {
        let value = row.value.as_deref().map(|value| format!(":{}:_files", quote(value))).unwrap_or_default();
        let _ = writeln!(out, "    '{flag}[{}]{value}' \\", quote(&row.text));
    }
    let first = if help.commands.is_empty() { "_files" } else { "{_describe command commands; _files}" };
    let _ = writeln!(out, "    '1: :{first}' \\\n    '*: :_files'");
    out
}

fn fish(help: &Help) -> String {
    let name = &help.name;
    let quote = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let mut out = format!("# Completions of {name} for fish, made from its help text.\n");
    for (command, text) in first_words(help) {
        let _ =
            writeln!(out, "complete -c {name} -n __fish_use_subcommand -a {command} -d '{}'", quote(text));
    }
    for row in help.rows.iter().filter(|row| row.is_flag()) {
        let _ = write!(out, "complete -c {name}");
        for flag in &row.names {
            match flag.strip_prefix("--") {
                Some(long) => write!(out, " -l {long}"),
                None => write!(out, " -s {}", flag.trim_start_matches('-')),
            }
            .ok();
        }
        if row.value.is_some() {
            out.push_str(" -r");
        }
        let _ = writeln!(out, " -d '{}'", quote(&row.text));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
tool: a tool

usage: tool [FLAGS] [FILE...]      run
       tool serve [--http ADDRESS:PORT [--token-file FILE]]
                  [--odd]
       tool start|stop

  serve   be there;
          all day
  -c              run COMMAND
  -l, --login     be a login shell
  --rcfile FILE   read FILE
                  instead of ~/.rc

Limits:
  --timeout=TIME         end after TIME
  --a-very-long-flag=FILE it's one blank only
";

    fn help() -> Help {
        read("tool", "a tool", TEXT).expect("a usage block")
    }

    fn find(help: &Help, name: &str) -> Row {
        help.rows.iter().find(|row| row.names.iter().any(|n| n == name)).cloned().expect("a row")
    }

    #[test]
    fn rows_values_and_texts() {
        let help = help();
        assert_eq!(find(&help, "--login").names, ["-l", "--login"]);
        assert_eq!(find(&help, "-c").value, None);
        assert_eq!(find(&help, "-c").text, "run COMMAND");
        let rc = find(&help, "--rcfile");
        assert_eq!((rc.value.as_deref(), rc.text.as_str()), (Some("FILE"), "read FILE instead of ~/.rc"));
        let timeout = find(&help, "--timeout");
        assert_eq!((timeout.value.as_deref(), timeout.group.as_str()), (Some("TIME"), "Limits"));
        assert_eq!(find(&help, "--a-very-long-flag").text, "it's one blank only");
        assert_eq!(find(&help, "serve").text, "be there; all day");
    }

    #[test]
    fn flags_and_commands_of_the_usage_block() {
        let help = help();
        assert_eq!(help.commands, ["serve", "start", "stop"]);
        assert_eq!(find(&help, "--http").value.as_deref(), Some("ADDRESS:PORT"));
        assert_eq!(find(&help, "--odd").value, None);
    }

    #[test]
    fn every_flag_is_in_every_format() {
        let help = help();
        for text in [manual_page(&help).replace("\\-", "-"), bash(&help), zsh(&help)] {
            for flag in flags(&help).keys() {
                assert!(text.contains(flag), "{flag} in {text}");
            }
        }
        assert!(fish(&help).contains("complete -c tool -s l -l login -d 'be a login shell'"));
        assert!(zsh(&help).contains("'--a-very-long-flag[it'\\''s one blank only]:FILE:_files'"));
        assert!(read("tool", "", "nothing").is_none());
    }
}
