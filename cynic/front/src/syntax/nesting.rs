//! How deeply a source text nests, found out before anything that recurses reads it.
//!
//! The parser, the semantic pass and the compiler recurse with the text: into brackets, along chains of operators, along
//! `else if` and `a => b => c`. This scan bounds that depth in *units* (one bracket, operator or keyword each) without
//! recursion, so that [`crate::compiler`] can refuse what is too deep and supply the stack for the rest.
//!
//! Invariant: a tree of the text is never deeper than `depth` units; if the scan could not tell regular expressions from
//! divisions for certain (`ambiguous`), than `units`, which counts everything.

use super::words::{Word, word};
use crate::limits;

/// What the scan found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nesting {
    /// The greatest depth.
    pub(crate) depth: u32,
    /// Where it was first exceeded by no other place: a byte offset.
    pub(crate) deepest: u32,
    /// All units of the text, as if each nested in the one before.
    pub(crate) units: u32,
    /// Where the first BigInt literal stands that is longer than [`limits::BIGINT_LITERAL_BYTES_MAX`].
    pub(crate) long_bigint: Option<u32>,
    /// The scan may have taken code for the inside of a literal.
    pub(crate) ambiguous: bool,
    /// For each token, how many `<` before it are still open, added up: a parser of types may try each as the beginning of type
    /// arguments, and then reads the tokens again.
    pub(crate) type_attempts: u64,
    /// For each token, how many open parentheses before it hold an assignment, added up: the parser tries each as the parameters of an
    /// arrow function with defaults, keeps what it made of them, and reads the tokens again.
    pub(crate) arrow_attempts: u64,
}

impl Nesting {
    /// A bound on the depth that holds whatever the text is.
    pub(crate) fn bound(&self) -> u32 {
        if self.ambiguous { self.units } else { self.depth }
    }
}

/// Measures `text`.
pub(crate) fn measure(text: &str) -> Nesting {
    let mut scan = Scan::new(text);
    scan.run();
    scan.found.units = scan.units(text.len());
    scan.found
}

/// An open bracket (or the top level), with the chains that are under way directly inside it.
#[derive(Clone, Copy)]
struct Frame {
    /// What closes it: a bracket, a backquote for the inside of `${`, 0 at the top level.
    closer: u8,
    /// It is the head of `if`, `while`, `for` or `with`, or a block: what follows its end begins a statement.
    is_statement: bool,
    /// Keywords and the like of statements not yet ended.
    statement: u32,
    /// Operators of the expression not yet ended.
    expression: u32,
    /// Every `<` of the statement not yet ended that no `>` has closed.
    angles: u32,
    /// A parenthesis that may begin the parameters of an arrow function.
    may_be_parameters: bool,
    /// An assignment stands directly inside such a one.
    assigns: bool,
}

/// Whether what was last read ends an operand, so that a slash divides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// It does.
    Operand,
    /// It does not: a slash begins a regular expression.
    Operator,
    /// A closing brace or a contextual keyword: either is possible.
    Unknown,
}

struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    frames: Vec<Frame>,
    /// The sum of everything in `frames`.
    depth: u32,
    /// The sum of all `angles` in `frames`.
    angles: u32,
    /// How many of `frames` have an assignment in what may be parameters.
    assigning: u32,
    before: Before,
    /// A line break stands between the last token and this one.
    newline: bool,
    /// The last token is `.` or `?.`: a keyword after it is a name.
    after_dot: bool,
    /// The last token is a keyword whose parenthesis is a head.
    after_head_word: bool,
    /// A brace here begins a block for certain.
    block_next: bool,
    /// A statement may have ended; the next token tells.
    ended: bool,
    found: Nesting,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            frames: vec![Frame {
                closer: 0,
                is_statement: true,
                statement: 0,
                expression: 0,
                angles: 0,
                may_be_parameters: false,
                assigns: false,
            }],
            depth: 0,
            angles: 0,
            assigning: 0,
            before: Before::Operator,
            newline: true,
            after_dot: false,
            after_head_word: false,
            block_next: true,
            ended: false,
            found: Nesting::default(),
        }
    }

    /// Everything that could be a unit, wherever it stands.
    fn units(&self, len: usize) -> u32 {
        let plain =
            self.bytes.iter().filter(|b| b.is_ascii_alphanumeric() || b.is_ascii_whitespace()).count();
        // A keyword takes at least two letters and something between it and the next.
        u32::try_from(len - plain + plain / 3).unwrap_or(u32::MAX)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) {
        if self.text.starts_with("#!") {
            self.skip_line();
        }
        // What is refused anyway is not followed further: each open bracket takes memory here.
        while self.found.depth <= limits::NESTING_MAX
            && let Some(&byte) = self.bytes.get(self.at)
        {
            match byte {
                b'\n' | b'\r' => {
                    self.newline = true;
                    self.at += 1;
                }
                b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => self.skip_comment(),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' | b'\\' | b'#' | b'@' => self.word(),
                b'0'..=b'9' => self.number(),
                b'\'' | b'"' => self.string(byte),
                b'`' => self.template(),
                0x80.. => self.wide(),
                _ => self.punctuator(byte),
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.find(['\n', '\r', '\u{2028}', '\u{2029}']).unwrap_or(rest.len());
    }

    fn skip_comment(&mut self) {
        let rest = &self.text[self.at + 2..];
        let len = rest.find("*/").map_or(rest.len(), |end| end + 2);
        self.newline |= rest[..len].contains(['\n', '\r', '\u{2028}', '\u{2029}']);
        self.at += 2 + len;
    }

    /// A character beyond ASCII: white space, or a part of a name.
    fn wide(&mut self) {
        let Some(c) = self.text[self.at..].chars().next() else { return };
        if c.is_whitespace() || c == '\u{feff}' {
            self.newline |= matches!(c, '\u{2028}' | '\u{2029}');
            self.at += c.len_utf8();
        } else {
            self.word();
        }
    }

    // --- Tokens.

    fn word(&mut self) {
        let start = self.at;
        let mut plain = true;
        while let Some(c) = self.text[self.at..].chars().next() {
            match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$' => {}
                '\\' if self.peek(1) == b'u' && self.peek(2) == b'{' => {
                    plain = false;
                    while !matches!(self.peek(0), 0 | b'}' | b'\n') {
                        self.at += 1;
                    }
                    if self.peek(0) != b'}' {
                        break;
                    }
                }
                '\\' | '#' | '@' => plain = false,
                c if !c.is_ascii() && !c.is_whitespace() && c != '\u{feff}' => plain = false,
                _ => break,
            }
            self.at += c.len_utf8();
        }
        let kind = if plain && !self.after_dot { word(&self.bytes[start..self.at]) } else { Word::Name };
        self.word_of(kind);
    }

    fn word_of(&mut self, kind: Word) {
        let head = kind == Word::Head || kind == Word::Contextual && self.after_head_word;
        match kind {
            Word::Name => return self.operand(),
            Word::Else | Word::Infix => self.ended = false,
            Word::Clause => self.end_statement(),
            Word::Contextual | Word::Prefix | Word::Body | Word::Head => self.begin_operand(),
        }
        self.unit(matches!(kind, Word::Else | Word::Body | Word::Head));
        self.before = if kind == Word::Contextual { Before::Unknown } else { Before::Operator };
        self.after_token();
        self.after_head_word = head;
        self.block_next = matches!(kind, Word::Else | Word::Body);
    }

    fn number(&mut self) {
        let (start, mut dots) = (self.at, 0);
        while matches!(self.peek(0), b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_')
            || self.peek(0) == b'.' && dots == 0
        {
            dots += u32::from(self.peek(0) == b'.');
            self.at += 1;
        }
        if self.at - start > limits::BIGINT_LITERAL_BYTES_MAX && self.bytes.get(self.at - 1) == Some(&b'n') {
            self.found.long_bigint.get_or_insert(start as u32);
        }
        self.operand();
    }

    fn string(&mut self, quote: u8) {
        self.at += 1;
        loop {
            match self.peek(0) {
                b'\\' => self.at += 2,
                b'\n' | b'\r' => break,
                byte if byte == quote => {
                    self.at += 1;
                    break;
                }
                0 if self.at >= self.bytes.len() => break,
                _ => self.at += 1,
            }
        }
        self.settle_on_character();
        self.operand();
    }

    /// An escape may have ended inside a character.
    fn settle_on_character(&mut self) {
        self.at = self.at.min(self.bytes.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    fn template(&mut self) {
        self.continue_operand();
        self.at += 1;
        self.template_text();
    }

    /// The text of a template, up to its end or to `${`.
    fn template_text(&mut self) {
        loop {
            match self.peek(0) {
                b'\\' => self.at += 2,
                b'`' => {
                    self.at += 1;
                    break;
                }
                b'$' if self.peek(1) == b'{' => {
                    self.at += 2;
                    self.open(b'`', false);
                    return;
                }
                0 if self.at >= self.bytes.len() => break,
                _ => self.at += 1,
            }
        }
        self.settle_on_character();
        self.operand();
    }

    fn slash(&mut self) {
        let end = self.regexp_end();
        let regexp = match self.before {
            Before::Operator => end.is_some(),
            Before::Operand => false,
            Before::Unknown => {
                // Whichever it is, what follows must be read the same way for the scan to be sure.
                let body = end.map_or(&b""[..], |end| &self.bytes[self.at + 1..end - 1]);
                self.found.ambiguous |= body.iter().any(|b| b"'\"`/(){}[]".contains(b));
                false
            }
        };
        match end {
            Some(end) if regexp => {
                self.at = end;
                self.operand();
            }
            _ => self.operator(1 + usize::from(self.peek(1) == b'=')),
        }
    }

    /// Where the regular expression that may begin here would end: after its closing slash.
    fn regexp_end(&self) -> Option<usize> {
        let mut at = self.at + 1;
        let mut in_class = false;
        loop {
            match *self.bytes.get(at)? {
                b'\n' | b'\r' => return None,
                b'\\' => at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'/' if !in_class => return Some(at + 1),
                0xe2 if self.bytes[at..].starts_with("\u{2028}".as_bytes()) => return None,
                0xe2 if self.bytes[at..].starts_with("\u{2029}".as_bytes()) => return None,
                _ => {}
            }
            at += 1;
        }
    }

    fn punctuator(&mut self, byte: u8) {
        match byte {
            b'(' => self.open_here(b')', self.after_head_word),
            b'[' => self.open_here(b']', false),
            b'{' => self.open_here(b'}', self.block_next),
            b')' | b']' | b'}' => self.close(byte),
            b';' => {
                self.at += 1;
                self.end_expression();
                self.end_angles();
                self.ended = true;
                self.before = Before::Operator;
                self.after_token();
                self.block_next = true;
            }
            b',' => {
                self.at += 1;
                self.ended = false;
                self.end_expression();
                self.before = Before::Operator;
                self.after_token();
            }
            b'/' => self.slash(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'.' if self.peek(1) == b'.' && self.peek(2) == b'.' => self.operator(3),
            b'.' => self.dot(1),
            b'?' if self.peek(1) == b'.' && !self.peek(2).is_ascii_digit() => self.dot(2),
            b'+' | b'-' if self.peek(1) == byte => self.update(),
            _ => {
                // The old comment signs of web pages hide a line from some parsers.
                let rest = &self.bytes[self.at..];
                self.found.ambiguous |= rest.starts_with(b"<!--");
                let len = operator_len(rest);
                self.angles(byte, len);
                if byte == b'=' && len == 1 {
                    self.assigned();
                }
                self.operator(len);
            }
        }
    }

    /// An operator of `len` bytes that begins with `byte` may open or close type arguments.
    fn angles(&mut self, byte: u8, len: usize) {
        let (len, open) = (len as u32, self.top().angles);
        match byte {
            b'<' => {
                self.top().angles += len;
                self.angles += len;
            }
            b'>' => {
                self.top().angles -= len.min(open);
                self.angles -= len.min(open);
            }
            _ => {}
        }
    }

    fn end_angles(&mut self) {
        let open = std::mem::take(&mut self.top().angles);
        self.angles -= open;
    }

    fn dot(&mut self, len: usize) {
        self.operator(len);
        self.after_dot = true;
    }

    /// `++` or `--`: after an operand on the same line it ends one too.
    fn update(&mut self) {
        self.found.ambiguous |= self.newline && self.bytes[self.at..].starts_with(b"-->");
        let postfix = self.before != Before::Operator && !self.newline;
        let before = if postfix { self.before } else { Before::Operator };
        self.operator(2);
        self.before = before;
    }

    fn operator(&mut self, len: usize) {
        self.at += len;
        self.ended = false;
        self.unit(false);
        self.before = Before::Operator;
        self.after_token();
    }

    // --- Depth.

    fn top(&mut self) -> &mut Frame {
        // The frame of the top level is never closed.
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn unit(&mut self, statement: bool) {
        let frame = self.top();
        if statement {
            frame.statement += 1;
        } else {
            frame.expression += 1;
        }
        self.deeper();
    }

    fn deeper(&mut self) {
        self.depth += 1;
        if self.depth > self.found.depth {
            self.found.depth = self.depth;
            self.found.deepest = self.at as u32;
        }
    }

    fn end_expression(&mut self) {
        let ended = std::mem::take(&mut self.top().expression);
        self.depth -= ended;
    }

    fn end_statement(&mut self) {
        self.end_expression();
        self.end_angles();
        let ended = std::mem::take(&mut self.top().statement);
        self.depth -= ended;
        self.ended = false;
    }

    /// An operand or a keyword begins: after a whole statement it begins the next one.
    fn begin_operand(&mut self) {
        let next_statement = self.before == Before::Operand && self.newline && !self.after_dot;
        if self.ended || next_statement {
            self.end_statement();
        }
    }

    fn operand(&mut self) {
        self.begin_operand();
        self.before = Before::Operand;
        self.after_token();
    }

    /// A bracket or a template begins: after an operand it goes on with it (a call, an element, a tag).
    fn continue_operand(&mut self) {
        if self.before != Before::Operator {
            self.unit(false);
        } else if self.ended {
            self.end_statement();
        }
        self.ended = false;
    }

    fn after_token(&mut self) {
        self.found.type_attempts += u64::from(self.angles);
        self.found.arrow_attempts += u64::from(self.assigning);
        self.after_dot = false;
        self.newline = false;
        self.after_head_word = false;
        self.block_next = false;
    }

    fn open_here(&mut self, closer: u8, is_statement: bool) {
        let around = self.top().may_be_parameters;
        let may_be_parameters = match closer {
            b')' => !is_statement && self.before != Before::Operand,
            // A pattern among them, and not the body of a function.
            _ => around && !is_statement && self.before == Before::Operator && !self.follows_arrow(),
        };
        self.continue_operand();
        self.at += 1;
        self.open_frame(closer, is_statement, may_be_parameters);
    }

    fn open(&mut self, closer: u8, is_statement: bool) {
        self.open_frame(closer, is_statement, false);
    }

    fn follows_arrow(&self) -> bool {
        self.text[..self.at].trim_end().ends_with("=>")
    }

    /// `=` by itself.
    fn assigned(&mut self) {
        let frame = self.top();
        if frame.may_be_parameters && !frame.assigns {
            frame.assigns = true;
            self.assigning += 1;
        }
    }

    fn open_frame(&mut self, closer: u8, is_statement: bool, may_be_parameters: bool) {
        self.frames.push(Frame {
            closer,
            is_statement,
            statement: 0,
            expression: 0,
            angles: 0,
            may_be_parameters,
            assigns: false,
        });
        self.deeper();
        self.ended = false;
        self.before = Before::Operator;
        self.after_token();
        // The first brace of a block is a block again.
        self.block_next = closer == b'}' && is_statement;
    }

    /// A closing bracket; one that matches nothing is a syntax error, which is the parser's to report.
    fn close(&mut self, byte: u8) {
        self.at += 1;
        let Some(frame) =
            self.frames.pop_if(|frame| frame.closer == byte || (frame.closer == b'`' && byte == b'}'))
        else {
            return;
        };
        self.depth -= 1 + frame.statement + frame.expression;
        self.angles -= frame.angles;
        self.assigning -= u32::from(frame.assigns);
        self.after_token();
        match byte {
            b'}' if frame.closer == b'`' => self.template_text(),
            b'}' => {
                self.ended = true;
                self.before = if frame.is_statement { Before::Operator } else { Before::Unknown };
                self.block_next = frame.is_statement;
            }
            _ => {
                self.ended = false;
                self.before = if frame.is_statement { Before::Operator } else { Before::Operand };
                self.block_next = frame.is_statement;
            }
        }
    }
}

/// Bytes of the operator that `rest` begins with.
fn operator_len(rest: &[u8]) -> usize {
    let first = rest[0];
    let repeats = match first {
        b'<' | b'&' | b'|' | b'?' | b'*' => 2,
        b'>' => 3,
        _ => 1,
    };
    let mut len = 1;
    while len < repeats && rest.get(len) == Some(&first) {
        len += 1;
    }
    let next = |at: usize| rest.get(at).copied();
    match first {
        b'=' if next(1) == Some(b'>') => 2,
        b'=' | b'!' if next(1) == Some(b'=') => 2 + usize::from(next(2) == Some(b'=')),
        b'<' | b'>' | b'&' | b'|' | b'?' | b'*' | b'+' | b'-' | b'%' | b'^' if next(len) == Some(b'=') => {
            len + 1
        }
        _ => len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(text: &str) -> u32 {
        let found = measure(text);
        assert!(!found.ambiguous, "{text}");
        found.depth
    }

    #[test]
    fn what_recurses_is_counted() {
        for (unit, close) in [
            ("(", ")"),
            ("[", "]"),
            ("{", "}"),
            ("`${", "}`"),
            ("- ", ""),
            ("a=>", ""),
            ("if(0);else ", ""),
            ("if(0){}else ", ""),
            ("if(0)a,b\nelse ", ""),
            ("a?b:", ""),
            ("x=", ""),
            ("1+", ""),
            ("a.b.", ""),
            ("()", ""),
            ("1..a", ""),
            ("await\n", ""),
            ("while(0)\n", ""),
            ("do\n", ""),
            ("new ", ""),
            ("typeof\n", ""),
            ("class extends ", "{}"),
            ("function f(){", "}"),
            ("l: ", ""),
            ("a\u{a0}/ ", ""),
            ("if\u{2028}(/'/)\n", ""),
        ] {
            let text = format!("{}x{}", unit.repeat(1000), close.repeat(1000));
            assert!(depth(&text) >= 1000, "{unit}: {}", depth(&text));
        }
    }

    #[test]
    fn what_stands_side_by_side_is_not() {
        for unit in [
            "a = b + c.d;",
            "f(x, [y], {z: 1})\n",
            "if (a) { b } else { c }\n",
            "function f() { return /[(]'/.test(x) }",
            "x = {a: 1, b: 2, c() {}, [d]: 4};",
            "case 1: case 2:",
            "'((((', \"[[[\", /[({]`/, `((( ${a} {`,",
            "// (((\n/* [[[ */",
            "a / b / c;",
            "i++ / 2;\n",
            "class A { m() {} static #p = 1; get q() {} }\n",
            "for (;;) x\ny\n",
            "let z = a ? b : c\n",
            "try { } catch { } finally { }\n",
        ] {
            let found = depth(&unit.repeat(1000));
            assert!(found <= 12, "{unit}: {found}");
        }
    }

    #[test]
    fn what_may_be_type_arguments_is_counted() {
        let attempts = |text: &str| measure(text).type_attempts;
        for (unit, close) in
            [("a<", ""), ("a<b,", ""), ("a<(", ")"), ("a<[1,", "]"), ("a<{b:", "}"), ("a<<", "")]
        {
            let text = format!("{}x{}", unit.repeat(1000), close.repeat(1000));
            assert!(attempts(&text) > 1000 * 1000, "{unit}: {}", attempts(&text));
        }
        for unit in [
            "for (let i = 0; i < n; i++) if (i <= 3) { f(a < b) }\n",
            "const m: Map<string, Map<string, Array<number>>> = new Map<string, X<Y>>();\n",
            "x = a < b\n",
            "type F<T> = (a: T) => Promise<T>;\n",
        ] {
            let found = attempts(&unit.repeat(1000));
            assert!(found < 40 * 1000, "{unit}: {found}");
        }
    }

    #[test]
    fn what_it_cannot_tell_it_says() {
        assert!(measure("a = {}\n/`/ + (((").ambiguous);
        assert!(!measure("a = {}\n/ 2").ambiguous);
        assert!(measure("<!-- `\n((((").ambiguous);
        assert_eq!(measure("((").bound(), 2);
    }

    #[test]
    fn malformed_text_is_no_trouble() {
        for text in [
            "",
            ")",
            "}}}",
            "'",
            "`${",
            "/",
            "\\",
            "\\u{",
            "'\\",
            "'\\é",
            "/\\",
            "#!",
            "é",
            "\u{feff}(",
            "@",
            "`\\",
        ] {
            measure(text);
        }
    }
}
