//! Prompt strings: the backslash escapes of PS1, PS4 and `${x@P}`, then expansion.

use crate::expand::Expanded;
use crate::state::names;
use crate::state::options::Shopt;
use crate::{Bytes, Session, sys};

impl Session {
    /// Decodes the escapes of a prompt string and expands it.
    pub(crate) fn decode_prompt(&mut self, text: &[u8]) -> Expanded<Bytes> {
        let decoded = self.prompt_escapes(text);
        if self.shopt(Shopt::Promptvars) { self.expand_text(&decoded) } else { Ok(decoded) }
    }

    fn prompt_escapes(&mut self, text: &[u8]) -> Bytes {
        let mut out = Bytes::new();
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            at += 1;
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            let Some(&escape) = text.get(at) else {
                out.push(b'\\');
                break;
            };
            at += 1;
            match escape {
                b'0'..=b'7' => {
                    let end = (at + 2).min(text.len());
                    let digits = text[at - 1..end].iter().take_while(|b| matches!(b, b'0'..=b'7')).count();
                    let value =
                        text[at - 1..at - 1 + digits].iter().fold(0u32, |v, b| v * 8 + u32::from(b - b'0'));
                    at += digits - 1;
                    out.push(value as u8);
                }
                b'D' if text.get(at) == Some(&b'{') => {
                    let end = text[at..].iter().position(|b| *b == b'}').map_or(text.len(), |e| at + e);
                    let format = &text[at + 1..end];
                    let format: &[u8] = if format.is_empty() { b"%X" } else { format };
                    out.extend(sys::format_time(format, sys::now_seconds()));
                    at = (end + 1).min(text.len());
                }
                _ => self.prompt_escape(escape, &mut out),
            }
        }
        out
    }

    fn prompt_escape(&mut self, escape: u8, out: &mut Bytes) {
        let time = |format: &[u8]| sys::format_time(format, sys::now_seconds());
        match escape {
            b'a' => out.push(7),
            b'e' => out.push(27),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b'd' => out.extend(time(b"%a %b %d")),
            b't' => out.extend(time(b"%H:%M:%S")),
            b'T' => out.extend(time(b"%I:%M:%S")),
            b'@' => out.extend(time(b"%I:%M %p")),
            b'A' => out.extend(time(b"%H:%M")),
            b'h' => {
                let name = sys::host_name();
                out.extend(name.split(|b| *b == b'.').next().unwrap_or_default());
            }
            b'H' => out.extend(sys::host_name()),
            b'j' => out.extend(self.jobs.list.len().to_string().into_bytes()),
            b'l' => out.extend_from_slice(b"tty"),
            b's' => out.extend(base_name(&self.name)),
            b'u' => out.extend(sys::user_name()),
            b'v' => out.extend_from_slice(crate::VERSION_SHORT.as_bytes()),
            b'V' => out.extend_from_slice(crate::VERSION_PATCH.as_bytes()),
            b'w' | b'W' => {
                let directory = self.prompt_directory();
                let directory = if escape == b'w' { self.trim_directory(directory) } else { directory };
                let text = if escape == b'W' && directory != b"~" && directory != b"/" {
                    base_name(&directory)
                } else {
                    directory
                };
                // The path is data, not text to expand.
                for byte in text {
                    if matches!(byte, b'$' | b'`' | b'\\') {
                        out.push(b'\\');
                    }
                    out.push(byte);
                }
            }
            b'!' => {
                // A prompt is for the next entry; elsewhere the command that runs is in the list.
                let number = self.history_number() - usize::from(!self.marks_prompts);
                out.extend_from_slice(number.max(1).to_string().as_bytes());
            }
            b'#' => out.extend_from_slice(self.command_number.to_string().as_bytes()),
            b'$' => out.push(if sys::effective_user_id() == 0 { b'#' } else { b'$' }),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'[' if self.marks_prompts => out.push(1),
            b']' if self.marks_prompts => out.push(2),
            b'[' | b']' => {}
            other => out.extend_from_slice(&[b'\\', other]),
        }
    }

    /// PROMPT_DIRTRIM: that many last components, and dots for what is left out.
    fn trim_directory(&mut self, directory: Bytes) -> Bytes {
        let kept =
            self.get_id(names::PROMPT_DIRTRIM).and_then(|v| std::str::from_utf8(&v).ok()?.parse().ok());
        let Some(kept) = kept.filter(|kept: &usize| *kept > 0) else { return directory };
        let (head, rest): (&[u8], &[u8]) = match directory.split_first() {
            Some((b'~', rest)) => (b"~/", rest),
            _ => (b"", &directory),
        };
        let slashes: Vec<usize> = (0..rest.len()).filter(|at| rest[*at] == b'/').collect();
        match slashes.len().checked_sub(kept) {
            Some(dropped) if dropped > 0 => [head, b"...", &rest[slashes[dropped]..]].concat(),
            _ => directory,
        }
    }

    fn prompt_directory(&mut self) -> Bytes {
        let directory = self.get_id(names::PWD).map(|v| v.into_owned()).unwrap_or_default();
        let home = self.get_id(names::HOME).map(|v| v.into_owned()).unwrap_or_default();
        if !home.is_empty()
            && home != b"/"
            && let Some(rest) = directory.strip_prefix(&home[..])
            && (rest.is_empty() || rest.starts_with(b"/"))
        {
            let mut text = b"~".to_vec();
            text.extend_from_slice(rest);
            return text;
        }
        directory
    }
}

fn base_name(path: &[u8]) -> Bytes {
    path.rsplit(|b| *b == b'/').next().unwrap_or_default().to_vec()
}
