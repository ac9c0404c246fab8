//! Completions for shells and the manual page, from the table of flags.

use std::fmt::Write as _;

use crate::args::{Shape, WORDS, flags};
use crate::exit_status;

/// The shells there are completions for.
pub(crate) const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// The completions for one of [`SHELLS`].
pub(crate) fn completions(shell: &str) -> String {
    match shell {
        "zsh" => zsh(),
        "fish" => fish(),
        _ => bash(),
    }
}

fn words() -> String {
    WORDS.iter().filter(|word| **word != "test262-worker").copied().collect::<Vec<_>>().join(" ")
}

fn bash() -> String {
    let mut text = String::from(
        "_cynic() {\n    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n",
    );
    text.push_str("    [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}\n    case $before in\n");
    for flag in flags() {
        let Shape::Value(_, choices) = flag.shape else { continue };
        if !choices.is_empty() {
            let choices = choices.join(" ");
            let _ = writeln!(
                text,
                "        --{}) COMPREPLY=($(compgen -W '{choices}' -- \"${{word#=}}\")); return ;;",
                flag.name
            );
        }
    }
    text.push_str("    esac\n    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W '");
    text.push_str(&flags().map(|flag| format!("--{}", flag.name)).collect::<Vec<_>>().join(" "));
    let _ = write!(
        text,
        "' -- \"$word\"))\n        return\n    fi\n    COMPREPLY=($(compgen -f -- \"$word\"))\n    (( COMP_CWORD == 1 )) && COMPREPLY+=($(compgen -W '{}' -- \"$word\"))\n}}\ncomplete -o filenames -F _cynic cynic\n",
        words()
    );
    text
}

fn zsh() -> String {
    let mut text = String::from("#compdef cynic\n_arguments -S \\\n");
    for flag in flags() {
        let help =
            flag.help.replace('\'', "'\\''").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
        let value = match flag.shape {
            Shape::Alone => String::new(),
            Shape::Value(name @ ("FILE" | "DIR"), _) => format!("={}_files", ":".to_owned() + name + ":"),
            Shape::Value(name, choices) if choices.is_empty() => format!("=:{name}: "),
            Shape::Value(name, choices) => format!("=:{name}:({})", choices.join(" ")),
        };
        let (equals, action) = value.split_at(usize::from(!value.is_empty()));
        let _ = writeln!(text, "    '*--{}{equals}[{help}]{action}' \\", flag.name);
    }
    let _ = writeln!(
        text,
        "    '1:command or file:{{_alternative \"commands\\:command\\:({})\" \"files\\:file\\:_files\"}}' \\\n    '*:file:_files'",
        words()
    );
    text
}

fn fish() -> String {
    let mut text = format!("complete -c cynic -n __fish_use_subcommand -a '{}'\n", words());
    for flag in flags() {
        let help = flag.help.replace('\\', "\\\\").replace('\'', "\\'");
        let value = match flag.shape {
            Shape::Alone => String::new(),
            Shape::Value("FILE" | "DIR", _) => " -r".into(),
            Shape::Value(_, choices) if choices.is_empty() => " -x".into(),
            Shape::Value(_, choices) => format!(" -x -a '{}'", choices.join(" ")),
        };
        let _ = writeln!(text, "complete -c cynic -l {}{value} -d '{help}'", flag.name);
    }
    text
}

/// The manual page.
pub(crate) fn manual(usage: &str) -> String {
    let plain = |text: &str| {
        let text = text.replace('\\', "\\e").replace('-', "\\-");
        text.lines()
            .map(
                |line| {
                    if line.starts_with(['.', '\'']) { format!("\\&{line}\n") } else { format!("{line}\n") }
                },
            )
            .collect::<String>()
    };
    let mut text = format!(
        ".TH CYNIC 1 \"\" \"cynic {}\"\n.SH NAME\ncynic \\- run JavaScript and TypeScript\n.SH SYNOPSIS\n.nf\n{}.fi\n",
        env!("CARGO_PKG_VERSION"),
        plain(usage.trim_end())
    );
    let mut group = "";
    for flag in flags() {
        if flag.group != group {
            group = flag.group;
            let _ = writeln!(text, ".SH {}", group.to_uppercase());
        }
        let value = match flag.shape {
            Shape::Alone => String::new(),
            Shape::Value(value, _) => format!("=\\fI{value}\\fR"),
        };
        let _ =
            write!(text, ".TP\n\\fB\\-\\-{}\\fR{value}\n{}", flag.name.replace('-', "\\-"), plain(flag.help));
    }
    text.push_str(".SH EXIT STATUS\n");
    for (status, meaning) in exit_status::TABLE {
        let _ = write!(text, ".TP\n.B {}\n{}", *status as u8, plain(meaning));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_in_each() {
        for text in SHELLS.iter().map(|shell| completions(shell)).chain([manual("usage")]) {
            for flag in flags() {
                let name = flag.name;
                let forms = [
                    format!("--{name}"),
                    format!("-l {name}"),
                    format!("\\-\\-{}", name.replace('-', "\\-")),
                ];
                assert!(forms.iter().any(|form| text.contains(form)), "{name} in {text}");
            }
        }
    }
}
