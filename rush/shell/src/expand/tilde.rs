//! Tilde expansion (POSIX XCU 2.6.1) with bash's `~+`, `~-` and `~N`.

use crate::state::names;
use crate::{Bytes, Session, sys};

impl Session {
    /// The expansion of `~user`; the text unchanged if there is no such user.
    pub(crate) fn tilde_expansion(&mut self, user: &[u8]) -> Bytes {
        let found = match user {
            b"" => match self.get_id(names::HOME) {
                Some(home) => Some(home.into_owned()),
                None => sys::home_directory(None),
            },
            b"+" => self.get_id(names::PWD).map(|v| v.into_owned()),
            b"-" => self.get_id(names::OLDPWD).map(|v| v.into_owned()),
            _ => self.directory_stack_tilde(user).or_else(|| sys::home_directory(Some(user))),
        };
        found.unwrap_or_else(|| {
            let mut text = b"~".to_vec();
            text.extend_from_slice(user);
            text
        })
    }

    /// `~N`, `~+N`, `~-N`: an entry of the directory stack.
    fn directory_stack_tilde(&mut self, text: &[u8]) -> Option<Bytes> {
        let digits = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
        let number: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let mut stack = vec![self.get_id(names::PWD)?.into_owned()];
        stack.extend(self.directory_stack.iter().cloned());
        let index = if text.starts_with(b"-") { stack.len().checked_sub(number + 1)? } else { number };
        stack.get(index).cloned()
    }
}
