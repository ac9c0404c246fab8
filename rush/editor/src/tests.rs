//! The core under keys: sequences of them in, the line out, and the screen as a terminal's model has it.

use crate::editor::{Editor, Request, Settings, Step};
use crate::history::History;
use crate::host::{Candidate, Choice, Host, Insertion, Kind, Span};
use crate::keys::{Action, Keymap, Keys};
use crate::layout::{self, Prompt, Size};
use crate::screen::Screen;
use crate::style::Style;

/// A host that knows a few words.
#[derive(Default)]
pub(crate) struct Words {
    history: Vec<String>,
    candidates: Vec<String>,
}

impl History for Words {
    fn count(&self) -> usize {
        self.history.len()
    }
    fn entry(&self, index: usize) -> &[u8] {
        self.history[index].as_bytes()
    }
    fn generation(&self) -> u64 {
        0
    }
}

const WORDS: [&str; 6] = ["alpha", "alpine", "beta", "gamma", "feat/one", "feat/two"];

impl Host for Words {
    fn complete(&mut self, line: &str, point: usize, _: Kind) -> Vec<Candidate> {
        let word = line[..point].rsplit(' ').next().unwrap_or_default();
        self.candidates = WORDS.iter().filter(|w| w.starts_with(word)).map(|w| w.to_string()).collect();
        let described = |name: &String| Candidate { name: name.clone(), description: String::new() };
        self.candidates.iter().map(described).collect()
    }
    fn insertion(&mut self, line: &str, point: usize, choice: Choice) -> Option<Insertion> {
        let start = line[..point].rfind(' ').map_or(0, |at| at + 1);
        let text = match (choice, &self.candidates[..]) {
            (Choice::One(at), all) => all.get(at)?.clone(),
            (Choice::Common, [only]) => format!("{only} "),
            (Choice::Common, [first, rest @ ..]) => {
                let mut length = first.len();
                while !rest.iter().all(|word| word.starts_with(&first[..length])) {
                    length -= 1;
                }
                first[..length].to_string()
            }
            (_, all) => all.join(" ") + " ",
        };
        Some(Insertion { range: start..point, text })
    }
    fn suggest(&mut self, _: &str) -> Option<String> {
        None
    }
    fn highlight(&mut self, line: &str) -> Vec<Span> {
        let end = line.find(' ').unwrap_or(line.len());
        vec![Span { range: 0..end, style: Style::Command }]
    }
    fn transform(&mut self, function: &str, line: &str, point: usize) -> Option<(String, usize)> {
        (function == "tilde-expand").then(|| (line.replace('~', "/home"), point + 4))
    }
    fn abbreviation(&mut self, line: &str, point: usize) -> Option<Insertion> {
        line[..point]
            .ends_with("gco")
            .then(|| Insertion { range: point - 3..point, text: "git checkout".into() })
    }
    fn needs_more(&mut self, text: &str) -> bool {
        text.matches('(').count() > text.matches(')').count()
    }
}

/// An editor and its host.
pub(crate) struct Bench {
    pub(crate) editor: Editor,
    pub(crate) host: Words,
    steps: Vec<Step>,
}

/// The bindings that tests need: readline's.
fn keys() -> Keys {
    let mut keys = Keys::default();
    for byte in (0x20..=0x7e).chain(0x80..=0xff) {
        keys.bind(Keymap::Emacs, vec![byte], Action::Function("self-insert"));
        keys.bind(Keymap::ViInsert, vec![byte], Action::Function("self-insert"));
    }
    let emacs: &[(&str, &'static str)] = &[
        ("\x01", "beginning-of-line"),
        ("\x02", "backward-char"),
        ("\x04", "delete-char"),
        ("\x05", "end-of-line"),
        ("\x06", "forward-char"),
        ("\x07", "abort"),
        ("\x08", "backward-delete-char"),
        ("\x7f", "backward-delete-char"),
        ("\t", "complete"),
        ("\n", "accept-line"),
        ("\r", "accept-line"),
        ("\x0b", "kill-line"),
        ("\x0c", "clear-screen"),
        ("\x0e", "next-history"),
        ("\x0f", "operate-and-get-next"),
        ("\x10", "previous-history"),
        ("\x11", "quoted-insert"),
        ("\x12", "reverse-search-history"),
        ("\x13", "forward-search-history"),
        ("\x14", "transpose-chars"),
        ("\x15", "unix-line-discard"),
        ("\x17", "unix-word-rubout"),
        ("\x19", "yank"),
        ("\x1d", "character-search"),
        ("\x1f", "undo"),
        ("\0", "set-mark"),
        ("\x1b[A", "previous-history"),
        ("\x1b[B", "next-history"),
        ("\x1b[C", "forward-char"),
        ("\x1b[D", "backward-char"),
        ("\x1b[1;3C", "forward-word"),
        ("\x1b[5~", "history-search-backward"),
        ("\x1b[200~", "bracketed-paste-begin"),
        ("\x1b.", "yank-last-arg"),
        ("\x1b&", "tilde-expand"),
        ("\x1b*", "insert-completions"),
        ("\x1b-", "digit-argument"),
        ("\x1b3", "digit-argument"),
        ("\x1bb", "backward-word"),
        ("\x1bc", "capitalize-word"),
        ("\x1bd", "kill-word"),
        ("\x1bf", "forward-word"),
        ("\x1bn", "non-incremental-forward-search-history"),
        ("\x1bp", "non-incremental-reverse-search-history"),
        ("\x1br", "redo"),
        ("\x1bt", "transpose-words"),
        ("\x1bu", "upcase-word"),
        ("\x1by", "yank-pop"),
        ("\x1b\x7f", "backward-kill-word"),
        ("\x18\x18", "exchange-point-and-mark"),
        ("\x18(", "start-kbd-macro"),
        ("\x18)", "end-kbd-macro"),
        ("\x18e", "call-last-kbd-macro"),
        ("\x18k", "kill-region"),
    ];
    for (sequence, name) in emacs {
        keys.bind(Keymap::Emacs, sequence.as_bytes().to_vec(), Action::Function(name));
    }
    keys.bind(Keymap::Emacs, b"\x18m".to_vec(), Action::Macro(b"\x01echo \x05!\r".to_vec()));
    keys.bind(Keymap::Emacs, b"\x18l".to_vec(), Action::Macro(b"x\x18l".to_vec()));
    keys.bind(Keymap::Emacs, b"\x18u".to_vec(), Action::Command(b"cmd".to_vec()));
    keys.bind(Keymap::ViInsert, b"\x1b".to_vec(), Action::Function("vi-movement-mode"));
    keys.bind(Keymap::ViInsert, b"\x1b[A".to_vec(), Action::Function("previous-history"));
    for key in ["\r", "\x7f", "\t", "\x12"] {
        let name = match key {
            "\r" => "accept-line",
            "\x7f" => "backward-delete-char",
            "\t" => "complete",
            _ => "reverse-search-history",
        };
        keys.bind(Keymap::ViInsert, key.into(), Action::Function(name));
        keys.bind(Keymap::ViCommand, key.into(), Action::Function(name));
    }
    let vi: &[(&str, &'static str)] = &[
        ("hH", "backward-char"),
        ("l ", "forward-char"),
        ("0", "beginning-of-line"),
        ("$", "end-of-line"),
        ("^", "vi-first-print"),
        ("wW", "vi-next-word"),
        ("eE", "vi-end-word"),
        ("bB", "vi-prev-word"),
        ("fFtT;,", "vi-char-search"),
        ("%", "vi-match"),
        ("|", "vi-column"),
        ("dD", "vi-delete-to"),
        ("cC", "vi-change-to"),
        ("yY", "vi-yank-to"),
        ("pP", "vi-put"),
        ("x", "vi-delete"),
        ("X", "vi-rubout"),
        ("sS", "vi-subst"),
        ("r", "vi-change-char"),
        ("R", "vi-replace"),
        ("~", "vi-change-case"),
        ("i", "vi-insertion-mode"),
        ("I", "vi-insert-beg"),
        ("a", "vi-append-mode"),
        ("A", "vi-append-eol"),
        ("u", "vi-undo"),
        (".", "vi-redo"),
        ("m", "vi-set-mark"),
        ("`", "vi-goto-mark"),
        ("123456789", "vi-arg-digit"),
        ("k-", "previous-history"),
        ("j+", "next-history"),
        ("/?", "vi-search"),
        ("nN", "vi-search-again"),
        ("G", "vi-fetch-history"),
        ("_", "vi-yank-arg"),
    ];
    for (letters, name) in vi {
        for letter in letters.bytes() {
            keys.bind(Keymap::ViCommand, vec![letter], Action::Function(name));
        }
    }
    keys
}

impl Bench {
    pub(crate) fn new(history: &[&str]) -> Bench {
        Bench::with(history, Settings::default())
    }

    fn with(history: &[&str], settings: Settings) -> Bench {
        let host =
            Words { history: history.iter().map(|text| text.to_string()).collect(), ..Words::default() };
        let mut editor = Editor::default();
        editor.configure(keys(), settings);
        editor.begin(&host);
        Bench { editor, host, steps: Vec::new() }
    }

    /// Types keys; the steps other than going on are kept.
    fn keys(&mut self, keys: &str) -> &mut Bench {
        for byte in keys.bytes() {
            let step = self.editor.feed(byte, &mut self.host);
            if step != Step::Edit {
                self.steps.push(step);
            }
        }
        self
    }

    /// The line with its cursor.
    fn shown(&self) -> String {
        let (text, point) = self.editor.text();
        format!("{}|{}", &text[..point], &text[point..])
    }

    pub(crate) fn knows(&mut self, name: &'static str) -> bool {
        let argument = matches!(name, "digit-argument" | "vi-arg-digit" | "universal-argument");
        argument || self.editor.knows(name, &mut self.host)
    }

    /// The rows of a terminal on which all of it was drawn.
    fn screen(&mut self, columns: u16, rows: u16) -> Vec<String> {
        let mut terminal = terminal(rows, columns);
        let mut screen = Screen::default();
        screen.begin();
        self.draw(&mut screen, &mut terminal);
        terminal.screen().rows(0, columns).map(|row| row.trim_end().to_string()).collect()
    }

    fn draw(&mut self, screen: &mut Screen, terminal: &mut vt100::Parser) {
        let (rows, columns) = terminal.screen().size();
        let size = Size { columns: usize::from(columns.get()), rows: usize::from(rows.get()), colours: true };
        let prompt = Prompt { left: "$ ".into(), right: "right".into(), continuation: "> ".into() };
        layout::suggest(&mut self.editor, &mut self.host);
        let frame = layout::frame(&mut self.editor, &mut self.host, &prompt, size, false);
        let cursor = frame.cursor;
        terminal.process(screen.draw(frame, size).as_bytes());
        let (row, column) = terminal.screen().cursor_position();
        assert_eq!((usize::from(row), usize::from(column)), cursor, "the cursor");
    }
}

/// The model of a terminal of this size.
fn terminal(rows: u16, columns: u16) -> vt100::Parser {
    let side = |size| std::num::NonZeroU16::new(size).expect("a size");
    vt100::Parser::new(side(rows), side(columns), 0)
}

/// Types keys into an empty emacs line.
fn check(keys: &str, expect: &str) {
    let mut bench = Bench::new(&["echo one", "git commit -m 'a b'", "ls -l /tmp"]);
    assert_eq!(bench.keys(keys).shown(), expect, "{keys:?}");
}

/// Types keys into a vi line.
fn check_vi(keys: &str, expect: &str) {
    let settings = Settings { vi: true, ..Settings::default() };
    let mut bench = Bench::with(&["echo one", "ls -l /tmp"], settings);
    bench.keys(keys);
    // An escape at the end is one.
    bench.editor.pause(&mut bench.host);
    assert_eq!(bench.shown(), expect, "{keys:?}");
}

#[test]
fn emacs_keys() {
    check("abc\x01x", "x|abc");
    check("one two\x1bb\x1bb\x1bd", "| two");
    check("one two three\x17\x17\x19", "one two three|");
    check("one two\x1b\x7f\x01\x19", "two|one ");
    check("a b c\x17\x02\x17\x19\x1by", "a c| ");
    check("teh\x14", "the|");
    check("one two\x1bt", "two one|");
    check("one two\x01\x1bu\x1bc", "ONE Two|");
    check("abc\x1b-\x1bb", "abc|");
    check("ab\x1b35x", &format!("ab{}|", "x".repeat(35)));
    check("abcabc\x01\x1dc", "ab|cabc");
    check("one two\x15\x19\x19", "one twoone two|");
    check("a\x11\tb", "a\tb|");
    check("héé\x02\x7f", "h|é");
    check("漢字\x02x", "漢x|字");
    check("e\u{301}x\x02\x02\x04", "|x");
}

#[test]
fn undo_and_redo() {
    check("one two\x17\x1f", "one two|");
    check("one two\x17\x1f\x1br", "one |");
    check("one\x01\x0b\x1f\x1f", "|");
}

#[test]
fn regions() {
    check("one two\x01\0\x1bf\x18k\x05\x19", " twoone|");
    check("one two\0\x01\x18\x18", "one two|");
}

#[test]
fn macros_of_keys() {
    check("\x18(ab\x18)\x18e", "abab|");
    let mut bench = Bench::new(&[]);
    bench.keys("x\x18m");
    assert_eq!((bench.shown().as_str(), bench.steps.as_slice()), ("echo x!|", &[Step::Accept][..]));
    // One that calls itself ends.
    let mut bench = Bench::new(&[]);
    bench.keys("\x18l");
    assert!(bench.editor.take_bell());
    let mut bench = Bench::new(&[]);
    bench.keys("\x18u");
    assert_eq!(bench.steps, [Step::Outside(Request::Command(b"cmd".to_vec()))]);
}

#[test]
fn pastes_are_text() {
    check("a\x1b[200~x\ry\tz\x1b[201~b", "ax\ny\tzb|");
    check("\x1b[999zab", "ab|");
    check("\x1b[<0;1;1Mab", "ab|");
}

#[test]
fn the_history() {
    check("\x10\x10", "git commit -m 'a b'|");
    check("new\x10\x10\x0e\x0e", "new|");
    check("new\x10edited\x10\x0e", "ls -l /tmpedited|");
    check("ec\x1b[5~", "ec|ho one");
    check("x \x1b.", "x /tmp|");
    check("x \x1b.\x1b.", "x 'a b'|");
    check("\x1bpcommit\r", "git commit -m 'a b'|");
    let mut bench = Bench::new(&["one", "two", "three"]);
    bench.keys("\x10\x10\x10\x0f");
    assert_eq!(bench.steps, [Step::Accept]);
    bench.host.history.push("one".into());
    bench.editor.begin(&bench.host);
    assert_eq!(bench.shown(), "two|");
}

#[test]
fn searches() {
    check("\x12comm", "git |commit -m 'a b'");
    check("\x12e\x12", "|echo one");
    check("kept\x12zzz\x07", "kept|");
    check("\x12gcab", "|git commit -m 'a b'");
    check("\x12ls\x06", "l|s -l /tmp");
    check("\x12co\x7f\x7f\x7f", "|");
    let mut bench = Bench::new(&["echo one", "echo two"]);
    bench.keys("\x12o\x1b[B\x1b[A\x1b[A\r");
    assert_eq!((bench.shown().as_str(), bench.steps.as_slice()), ("ech|o one", &[Step::Accept][..]));
}

#[test]
fn completion_and_its_menu() {
    check("x be\t", "x beta |");
    check("x al\t", "x alp|");
    check("x al\t\t\t", "x alpha|");
    check("x al\t\t\t\t", "x alpine|");
    check("x al\t\t\t\x1b[B\ry", "x alpiney|");
    check("x al\t\t\t\x07", "x alp|");
    check("x fe\t", "x feat/|");
    check("x al\x1b*", "x alpha alpine |");
    check("~\x1b&", "/home|");
    check("gco x", "git checkout x|");
}

#[test]
fn suggestions_are_taken_whole_or_by_words() {
    let mut bench = Bench::new(&["git commit --amend"]);
    bench.keys("git");
    let rows = bench.screen(40, 4);
    assert_eq!(rows[0], "$ git commit --amend              right");
    assert_eq!(bench.keys("\x1b[1;3C").shown(), "git commit|");
    bench.screen(40, 4);
    assert_eq!(bench.keys("\x1b[C").shown(), "git commit --amend|");
}

#[test]
fn commands_of_several_rows() {
    let mut bench = Bench::new(&["old"]);
    bench.keys("a (b\rc\x1b[Ax\x1b[B)");
    assert_eq!(bench.steps, []);
    assert_eq!(bench.shown(), "ax (b\nc)|");
    assert_eq!(bench.screen(40, 3), ["$ ax (b                           right", "> c)", ""]);
    bench.keys("\r");
    assert_eq!(bench.steps, [Step::Accept]);
    let mut bench = Bench::new(&[]);
    assert_eq!(bench.keys("(\r\x04").steps, [Step::End]);
    let mut bench = Bench::new(&[]);
    assert_eq!(bench.keys("\x04").steps, [Step::End]);
    let mut bench = Bench::new(&[]);
    assert_eq!(bench.keys("ab\x03").steps, [Step::Interrupted]);
}

#[test]
fn vi_commands() {
    check_vi("one two\x1b0dw", "|two");
    check_vi("one two\x1b0cwx\x1b", "|x two");
    check_vi("one two three\x1b02dw", "|three");
    check_vi("one two three\x1b0d2w", "|three");
    check_vi("one two\x1bdd", "|");
    check_vi("one two\x1bbD", "one| ");
    check_vi("one two\x1b0xp", "o|ne two".replace("o|ne", "n|oe").as_str());
    check_vi("one two\x1b0yw$p", "one twoone| ");
    check_vi("one two\x1b0fo;", "one tw|o");
    check_vi("one two\x1b0dto", "|o");
    check_vi("one two\x1b0dft", "|wo");
    check_vi("a (b c) d\x1b0f(d%", "a | d");
    check_vi("a (b c) d\x1b0fbdi(", "a (|) d");
    check_vi("a \"b c\" d\x1b0fbci\"x\x1b", "a \"|x\" d");
    check_vi("one two\x1b0w~", "one T|wo");
    check_vi("one two\x1b03rx", "xx|x two");
    check_vi("abc\x1b0RXY\x1b", "X|Yc");
    check_vi("one two three\x1b0dw.", "|three");
    check_vi("one two\x1b0cwx\x1bw.", "x |x");
    check_vi("one two\x1b0dwu", "|one two");
    check_vi("abcdef\x1b0lmall`ax", "a|cdef");
    check_vi("abcdef\x1b04|x", "abc|ef");
    check_vi("one\x1bk", "ls -l /tm|p");
    check_vi("\x1b/one\r", "|echo one");
    check_vi("ab\x1bix\x1b", "a|xb");
    check_vi("word.word x\x1b0dW", "|x");
    check_vi("one two\x1b0ea!\x1b", "one|! two");
    check_vi("one two\x1bbi\x1b[Ax", "ls -l /tmpx|");
}

#[test]
fn a_pause_ends_a_sequence() {
    let settings = Settings { vi: true, ..Settings::default() };
    let mut bench = Bench::with(&[], settings);
    bench.keys("ab\x1b");
    assert!(bench.editor.is_pending());
    bench.editor.pause(&mut bench.host);
    assert_eq!(bench.shown(), "a|b");
}

#[test]
fn the_screen_of_menus_and_searches() {
    let mut bench = Bench::new(&["ls one", "echo two"]);
    bench.keys("x \t\t\t");
    let rows = bench.screen(30, 6);
    assert_eq!(
        rows,
        [
            "$ x alpha               right",
            "alpha     beta      feat/one",
            "alpine    gamma     feat/two",
            "",
            "",
            ""
        ]
    );
    bench.keys("\x07\x15\x12o");
    let rows = bench.screen(30, 6);
    assert_eq!(
        rows,
        ["$ echo two              right", "(reverse-i-search)`o'", "echo two", "ls one", "", ""]
    );
}

/// A small generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

// Whatever is typed, what is drawn step by step is what drawing all of it anew shows, in terminals of any width.
#[test]
fn drawing_what_differs_is_drawing_everything() {
    let parts = [
        "a",
        "word ",
        "漢",
        "e\u{301}",
        "\t\t",
        "\x01",
        "\x05",
        "\x17",
        "\x1f",
        "\x1bb",
        "\x10",
        "\x0e",
        "\x12",
        "o",
        "\x07",
        "(\r",
        "x\x02\x02",
        "\x1b[200~p\nq\x1b[201~",
        "\0",
        "\x18\x18",
        "\x0b",
        "\x19",
        "\x11\x01",
        "\x1b[A",
        "\x7f\x7f",
        "a long row of words that wraps ",
    ];
    for seed in 0..40 {
        let mut random = Random(seed);
        let columns = 8 + random.below(40) as u16;
        let mut bench = Bench::new(&["echo one", "a longer entry of the history, which wraps", "for (\nx)"]);
        let mut terminal = terminal(12, columns);
        let mut screen = Screen::default();
        screen.begin();
        for _ in 0..60 {
            bench.keys(parts[random.below(parts.len())]);
            let size = bench.editor.text().0.len();
            if bench.editor.text().0.len() > 300 {
                bench.keys("\x05\x15\x15");
                assert!(bench.editor.text().0.len() < size);
            }
            bench.draw(&mut screen, &mut terminal);
            let shown: Vec<String> =
                terminal.screen().rows(0, columns).map(|row| row.trim_end().to_string()).collect();
            let fresh = bench.screen(columns, 12);
            let (text, point) = bench.editor.text();
            assert_eq!(shown, fresh, "seed {seed}, {text:?} at {point}");
            assert!(text.is_char_boundary(point));
        }
    }
}

#[test]
fn any_bytes_are_answered() {
    for vi in [false, true] {
        for seed in 0..200 {
            let mut random = Random(seed);
            let settings = Settings { vi, ..Settings::default() };
            let mut bench = Bench::with(&["echo one", "for (\nx)", "é漢"], settings);
            for _ in 0..400 {
                let byte = if random.below(3) == 0 { 0x1b } else { random.below(256) as u8 };
                bench.editor.feed(byte, &mut bench.host);
                let (text, point) = bench.editor.text();
                assert!(text.is_char_boundary(point));
            }
        }
    }
}
