//! Every block of code in a document is run by a test, or says that it is an illustration: the word after the fence's language.
//!
//! | block | run by |
//! |---|---|
//! | `console` | `pithos/tests/test_examples.py`: the commands, whose output must be what stands there |
//! | `python` | the same: the blocks of one page are one program (those of `iris-beam.md`: `iris/python/tests/test_guides.py`) |
//! | `js`, `json`, `toml` | the same: checked by cynic, read, taken as a sandbox's policy |
//! | `rust FILE`, `python FILE` | the block stands in that file, an example or a test |
//! | `erlang` | `iris/python/tests/test_guides.py`, where Erlang is installed |
//! | `text`, or anything with `illustration` after it | nothing |

use super::Tree;

/// Languages whose blocks a test takes from the page itself.
const RUN: [&str; 6] = ["console", "python", "js", "json", "toml", "erlang"];

/// A block: its line, the words of its fence, its text.
struct Block {
    line: usize,
    words: Vec<String>,
    text: String,
}

/// The check over all documents.
pub(super) fn check(tree: &Tree<'_>) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for (file, text) in documents(tree) {
        for block in blocks(&text) {
            if let Some(problem) = problem(tree, &block) {
                problems.push(format!("{file}:{}: {problem}", block.line));
            }
        }
    }
    Ok(problems)
}

/// How many blocks there are, and how many of them run.
pub(super) fn report(tree: &Tree<'_>) -> String {
    let all: Vec<Block> = documents(tree).flat_map(|(_, text)| blocks(&text)).collect();
    let run = all.iter().filter(|block| !is_illustration(block)).count();
    format!("blocks of code in documents: {}, of which {run} run", all.len())
}

fn documents<'t>(tree: &'t Tree<'_>) -> impl Iterator<Item = (String, String)> + 't {
    tree.texts(&["md"])
        .filter(|(file, _)| file.starts_with("docs") || file.components().count() == 1)
        .map(|(file, text)| (file.to_string_lossy().into_owned(), text))
}

fn is_illustration(block: &Block) -> bool {
    let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
    matches!(words.as_slice(), ["text"] | [_, "illustration"])
}

fn problem(tree: &Tree<'_>, block: &Block) -> Option<String> {
    let words: Vec<&str> = block.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Some("a block without a language: say which, or `text`".to_string()),
        [language] if RUN.contains(language) => None,
        _ if is_illustration(block) => None,
        ["rust" | "python", file] => {
            let source = std::fs::read_to_string(tree.workspace.root.join(file)).unwrap_or_default();
            let there = stripped(&source).contains(&stripped(&block.text));
            (!there).then(|| format!("{file} does not have these lines: no test sees them"))
        }
        _ => Some(format!(
            "no test runs a block of `{}`: mark it as `{} illustration`, or see xtask/src/tidy/blocks.rs",
            words.join(" "),
            words.first().unwrap_or(&"text")
        )),
    }
}

/// Lines without their indent: an example has the block inside a function.
fn stripped(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(words), None) => {
                let words = words.split_whitespace().map(str::to_string).collect();
                open = Some(Block { line: index + 1, words, text: String::new() });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_what_they_say_of_themselves() {
        let text = "```console\n$ a\n```\n\n```js illustration\nb\n```\n```text\nc\n```\n```toml\nd\n```\n";
        let found = blocks(text);
        let lines: Vec<usize> = found.iter().map(|block| block.line).collect();
        assert_eq!(lines, [1, 5, 8, 11]);
        let illustrations: Vec<bool> = found.iter().map(is_illustration).collect();
        assert_eq!(illustrations, [false, true, true, false]);
        assert_eq!(stripped("  a {\n\n    b\n  }\n"), "a {\nb\n}");
    }
}
