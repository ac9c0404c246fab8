//! The REPL at a terminal: Ctrl-C ends what is evaluated and nothing else; declarations may be repeated; entries of several lines.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long an answer may take on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);
/// What Ctrl-C sends.
const CTRL_C: &str = "\u{3}";

struct Prompt {
    child: Child,
    input: ChildStdin,
    output: Receiver<Vec<u8>>,
    shown: String,
}

impl Prompt {
    /// A session on a terminal of its own; `None` where there is no script(1) to make one.
    fn open() -> Option<Self> {
        let command = format!("{} repl", env!("CARGO_BIN_EXE_cynic"));
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &command, "/dev/null"]);
        script.env("CYNIC_HISTORY", "").env("NO_COLOR", "1").env("TERM", "xterm");
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let Ok(mut child) = script.spawn() else {
            eprintln!("skipped: there is no script(1)");
            return None;
        };
        let input = child.stdin.take().expect("a pipe");
        let mut stdout = child.stdout.take().expect("a pipe");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stdout.read(&mut piece) {
                if sender.send(piece[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut prompt = Prompt { child, input, output, shown: String::new() };
        prompt.wait_for("> ");
        Some(prompt)
    }

    fn send(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).expect("written");
    }

    /// Waits until what is shown since the last wait contains `text`.
    fn wait_for(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let piece = self.output.recv_timeout(PATIENCE);
            let piece = piece.unwrap_or_else(|_| panic!("no {text:?} in {:?}", self.shown));
            self.shown.push_str(&String::from_utf8_lossy(&piece));
        }
        let end = self.shown.find(text).map_or(0, |at| at + text.len());
        self.shown.drain(..end);
    }

    /// Enters a line and waits for the text of its value, which the line itself must not contain.
    fn enter(&mut self, line: &str, expected: &str) {
        self.send(&format!("{line}\n"));
        self.wait_for(expected);
    }

    fn close(mut self) {
        self.send("\u{4}");
        drop(self.input);
        assert_eq!(self.child.wait().expect("it ends").code(), Some(0));
    }
}

#[test]
fn interrupts_keep_the_session() {
    let Some(mut prompt) = Prompt::open() else { return };
    prompt.enter("let kept = 6 * 7; kept", "42");
    for busy in [
        "for (;;);",
        "await new Promise(() => setTimeout(() => {}, 1e9))",
        "(function again() { Promise.resolve().then(again) })(); 0",
        "/(a*)*b/.test('a'.repeat(1e7)); for (;;) [3, 2, 1].sort()",
        "try { for (;;); } finally { for (;;); }",
    ] {
        prompt.send(&format!("print('sta' + 'rted'); {busy}\n"));
        prompt.wait_for("started");
        prompt.send(CTRL_C);
        prompt.wait_for("Interrupted");
        prompt.enter("kept + 1", "43");
    }
    // At the prompt it only clears the line.
    prompt.send(&format!("kept + 57{CTRL_C}"));
    prompt.enter("kept + 2", "44");
    prompt.enter("await Promise.resolve(kept + 3)", "45");
    prompt.close();
}

#[test]
fn what_is_declared_may_be_declared_again() {
    let Some(mut prompt) = Prompt::open() else { return };
    prompt.enter("let a = 10; a + 1", "11");
    prompt.enter("const f = () => a * 3", "undefined");
    prompt.enter("let a = 20; a + 2", "22");
    prompt.enter("f()", "60");
    prompt.enter("const a = 30; a + 3", "33");
    prompt.enter("a = 1", "TypeError");
    prompt.enter("var a = 40; a + 4", "44");
    prompt.enter("function a() { return 5 * 11 }; a()", "55");
    prompt.enter("class a { static x = 6 * 11 }; a.x", "66");
    prompt.enter("let b = nothing", "ReferenceError");
    prompt.enter("let b = 7 * 11; b", "77");
    prompt.enter("const b = await (8 * 11); b", "88");
    prompt.enter("let c = 1, c = 2", "SyntaxError");
    prompt.close();
}

#[test]
fn entries_may_have_several_lines() {
    let Some(mut prompt) = Prompt::open() else { return };
    prompt.send("function f(x) {\n  return x * 2;\n}\n");
    prompt.enter("f(21)", "42");
    prompt.send("[1,\n2].map((x) =>\n  x * 100)\n");
    prompt.wait_for("[ 100, 200 ]");
    prompt.enter("null.x", "TypeError");
    prompt.enter("f(22)", "44");
    prompt.close();
}
