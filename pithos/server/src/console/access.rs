//! Who may look at the page: an invitation that works once and soon is swapped for a cookie that works for half a day. Both are random, held only in memory and bounded in
//! number; words are compared by their place in a table of this process, after their length and alphabet were looked at.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use pithos_sessions::Locked;
use sha2::{Digest, Sha256};

use crate::limits::{CONSOLE_COOKIE_TIME, CONSOLE_COOKIES, CONSOLE_INVITATION_TIME, CONSOLE_INVITATIONS};

/// Bytes of randomness in a word.
const WORD_BYTES: usize = 32;

/// Invitations and cookies.
pub(crate) struct Access {
    /// Where the server listens.
    pub(crate) bound: SocketAddr,
    invitations: Locked<Words>,
    cookies: Locked<Words>,
}

/// Words that are good until a time, oldest first.
type Words = Vec<(String, Instant)>;

impl Access {
    /// Nobody is invited yet.
    pub(crate) fn new(bound: SocketAddr) -> Self {
        Self { bound, invitations: Locked::default(), cookies: Locked::default() }
    }

    /// Whether a `Host` is this server: a name that anybody else chose is not.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        host == self.bound.to_string() || host == format!("localhost:{}", self.bound.port())
    }

    /// A new invitation.
    pub(crate) fn invite(&self) -> Option<String> {
        let word = random_word()?;
        self.invitations.with(|words| put(words, &word, CONSOLE_INVITATION_TIME, CONSOLE_INVITATIONS));
        Some(word)
    }

    /// Swaps an invitation for a cookie, as a header sets it.
    pub(crate) fn sign_in(&self, word: &str) -> Option<String> {
        if !self.invitations.with(|words| take(words, word)) {
            return None;
        }
        let cookie = random_word()?;
        self.cookies.with(|words| put(words, &cookie, CONSOLE_COOKIE_TIME, CONSOLE_COOKIES));
        let (name, age) = (self.name(), CONSOLE_COOKIE_TIME.as_secs());
        Some(format!("{name}={cookie}; Path=/console; HttpOnly; SameSite=Strict; Max-Age={age}"))
    }

    /// Whether a request's cookies have one that is good now.
    pub(crate) fn knows(&self, cookies: &str) -> bool {
        let Some(word) = self.word(cookies) else { return false };
        self.cookies.with(|words| {
            words.retain(|(_, until)| *until > Instant::now());
            words.iter().any(|(known, _)| same(known, word))
        })
    }

    /// What the page shows with everything that it wants changed, and what nobody has who cannot read the page's data: a digest of its cookie, which is no use in
    /// the cookie's place.
    pub(crate) fn page_word(&self, cookies: &str) -> Option<String> {
        let mut digest = Sha256::new_with_prefix(b"page ");
        digest.update(self.word(cookies)?.as_bytes());
        Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Whether a word is that of the page with this cookie.
    pub(crate) fn is_page_of(&self, cookies: &str, word: &str) -> bool {
        self.page_word(cookies).is_some_and(|known| same(&known, word))
    }

    /// Makes the cookie of a request worthless.
    pub(crate) fn forget(&self, cookies: &str) {
        if let Some(word) = self.word(cookies) {
            self.cookies.with(|words| take(words, word));
        }
    }

    /// Cookies of one address are sent to all of its ports.
    fn name(&self) -> String {
        format!("pithos_console_{}", self.bound.port())
    }

    fn word<'a>(&self, cookies: &'a str) -> Option<&'a str> {
        let name = self.name();
        cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix(name.as_str())?.strip_prefix('='))
    }
}

fn put(words: &mut Words, word: &str, time: Duration, most: usize) {
    let now = Instant::now();
    words.retain(|(_, until)| *until > now);
    if words.len() >= most {
        words.remove(0);
    }
    words.push((word.to_string(), now + time));
}

fn take(words: &mut Words, word: &str) -> bool {
    let now = Instant::now();
    words.retain(|(_, until)| *until > now);
    let before = words.len();
    words.retain(|(known, _)| !same(known, word));
    words.len() < before
}

/// Compares in a time that does not depend on where the first difference is.
fn same(known: &str, given: &str) -> bool {
    known.len() == given.len()
        && known.bytes().zip(given.bytes()).fold(0, |sum, (left, right)| sum | (left ^ right)) == 0
}

fn random_word() -> Option<String> {
    let mut random = [0_u8; WORD_BYTES];
    let filled = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty()).ok()?;
    (filled == WORD_BYTES).then(|| random.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access() -> Access {
        Access::new(SocketAddr::from(([127, 0, 0, 1], 4000)))
    }

    #[test]
    fn an_invitation_works_once_and_a_cookie_until_it_is_forgotten() {
        let access = access();
        let word = access.invite().unwrap();
        assert!(access.sign_in("").is_none() && access.sign_in(&word[1..]).is_none());
        let cookie = access.sign_in(&word).unwrap();
        assert!(access.sign_in(&word).is_none(), "once");
        let pair = cookie.split(';').next().unwrap();
        for (header, known) in [
            (pair.to_string(), true),
            (format!("a=b; {pair}; c"), true),
            (format!("x{pair}"), false),
            (format!("{pair}0"), false),
            (pair.replace("4000", "4001"), false),
            (String::new(), false),
            ("pithos_console_4000=".to_string(), false),
            (format!("pithos_console_4000={word}"), false),
        ] {
            assert_eq!(access.knows(&header), known, "{header}");
        }
        let word = access.page_word(pair).unwrap();
        assert!(access.is_page_of(pair, &word) && !access.is_page_of(&format!("{pair}0"), &word));
        assert!(!access.is_page_of(pair, "") && !access.is_page_of("", &word) && !pair.contains(&word));
        access.forget(pair);
        assert!(!access.knows(pair));
    }

    #[test]
    fn there_are_never_many_of_them() {
        let access = access();
        let first = access.invite().unwrap();
        (0..CONSOLE_INVITATIONS).for_each(|_| drop(access.invite()));
        assert!(access.sign_in(&first).is_none(), "the oldest goes");
        for _ in 0..3 * CONSOLE_COOKIES {
            access.sign_in(&access.invite().unwrap()).unwrap();
        }
        assert_eq!(access.cookies.with(|words| words.len()), CONSOLE_COOKIES);
    }

    #[test]
    fn hosts_are_this_address_and_no_name_but_localhost() {
        for (host, own) in [
            ("127.0.0.1:4000", true),
            ("localhost:4000", true),
            ("127.0.0.1", false),
            ("127.0.0.1:4001", false),
            ("localhost:4000.evil.example", false),
            ("evil.example:4000", false),
            ("localhost.:4000", false),
            ("", false),
        ] {
            assert_eq!(access().is_host(host), own, "{host}");
        }
    }
}
