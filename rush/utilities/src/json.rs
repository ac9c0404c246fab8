//! Writing JSON: just enough for the `--json` results. Bytes that are not UTF-8 become U+FFFD.

/// Builds one JSON value as text.
#[derive(Default)]
pub(crate) struct Json {
    text: String,
    /// Whether a comma is due before the next element.
    comma: bool,
}

impl Json {
    fn separate(&mut self) {
        if self.comma {
            self.text.push(',');
        }
        self.comma = true;
    }

    /// Begins an object or array.
    pub(crate) fn open(&mut self, bracket: char) {
        self.separate();
        self.text.push(bracket);
        self.comma = false;
    }

    /// Ends an object or array.
    pub(crate) fn close(&mut self, bracket: char) {
        self.text.push(bracket);
        self.comma = true;
    }

    /// The key of the next value.
    pub(crate) fn key(&mut self, name: &str) {
        self.string(name.as_bytes());
        self.text.push(':');
        self.comma = false;
    }

    /// A string.
    pub(crate) fn string(&mut self, value: &[u8]) {
        self.separate();
        self.text.push('"');
        for character in String::from_utf8_lossy(value).chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                c if u32::from(c) < 0x20 => self.text.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    /// A number, `true`, `false` or `null`.
    pub(crate) fn plain(&mut self, value: impl std::fmt::Display) {
        self.separate();
        self.text.push_str(&value.to_string());
    }

    /// A key with a string.
    pub(crate) fn field(&mut self, name: &str, value: &[u8]) {
        self.key(name);
        self.string(value);
    }

    /// A key with a number or the like.
    pub(crate) fn plain_field(&mut self, name: &str, value: impl std::fmt::Display) {
        self.key(name);
        self.plain(value);
    }

    /// The text, with a newline.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.text.push('\n');
        self.text.into_bytes()
    }
}
