//! Pathname expansion of finished fields: applies the options and says what no match means.

use super::Expanded;
use super::glob_order::{Key, Order};
use crate::pattern::pathname::{GlobOptions, expand};
use crate::pattern::{Options, Pattern, has_magic};
use crate::state::names;
use crate::state::options::{SetOption, Shopt};
use crate::{Bytes, Session, limits};
use std::path::Path;

impl Session {
    /// Whether extended patterns are on.
    pub(crate) fn extglob(&self) -> bool {
        self.shopt(Shopt::Extglob)
    }

    /// The options for matching strings (`case`, `[[`, `${x#...}`).
    pub(crate) fn pattern_options(&self, ignore_case: bool) -> Options {
        Options { utf8: self.utf8, ignore_case, extended: true }
    }

    /// The options that `case` matches with now.
    pub(crate) fn current_pattern_options(&self) -> Options {
        let options = self.pattern_options(self.shopt(Shopt::Nocasematch));
        Options { extended: self.extglob(), ..options }
    }

    /// Compiles a pattern for matching strings, honouring `nocasematch`.
    pub(crate) fn compile_pattern(&mut self, pattern: &[u8]) -> Expanded<Pattern> {
        self.compile_pattern_with(pattern, self.current_pattern_options())
    }

    /// Compiles a pattern; one that nests too deeply gives up the command.
    pub(crate) fn compile_pattern_with(&mut self, pattern: &[u8], options: Options) -> Expanded<Pattern> {
        let compiled = Pattern::compile(pattern, options);
        if compiled.too_deep {
            return Err(self.expansion_error("pattern: groups are nested too deeply"));
        }
        Ok(compiled)
    }

    /// Replaces the fields of `out` named in `globs` by what their patterns match.
    pub(super) fn expand_pathnames(
        &mut self,
        globs: Vec<(usize, Bytes)>,
        out: &mut Vec<Bytes>,
    ) -> Expanded<()> {
        if self.is(SetOption::Noglob) {
            return Ok(());
        }
        let extended = self.extglob();
        let mut shift = 0isize;
        for (index, pattern) in globs {
            if !has_magic(&pattern, extended) {
                continue;
            }
            if pattern.len() > limits::PATTERN_DEPTH_MAX {
                self.compile_pattern(&pattern)?;
            }
            let at = index.wrapping_add_signed(shift);
            let found = self.match_pathnames(&pattern);
            if !found.is_empty() {
                shift += found.len() as isize - 1;
                out.splice(at..=at, found);
            } else if self.shopt(Shopt::Failglob) {
                let mut message = b"no match: ".to_vec();
                message.extend_from_slice(&out[at]);
                return Err(self.expansion_error(message));
            } else if self.shopt(Shopt::Nullglob) {
                shift -= 1;
                out.remove(at);
            }
        }
        Ok(())
    }

    /// The paths that `pattern` matches.
    pub(crate) fn match_pathnames(&mut self, pattern: &[u8]) -> Vec<Bytes> {
        let ignore = self.glob_ignore();
        let order = self.glob_order();
        let options = GlobOptions {
            pattern: Options {
                utf8: self.utf8,
                ignore_case: self.shopt(Shopt::Nocaseglob),
                extended: self.extglob(),
            },
            dotglob: self.shopt(Shopt::Dotglob) || !ignore.is_empty(),
            globstar: self.shopt(Shopt::Globstar),
            match_dot_dirs: !self.shopt(Shopt::Globskipdots) && ignore.is_empty(),
            unsorted: order.is_some_and(|order| order.key == Key::Directory),
            ignore: &ignore,
        };
        let mut found = expand(pattern, Path::new("."), &options);
        if let Some(order) = order {
            order.apply(&mut found);
        }
        found
    }

    /// What GLOBSORT says; `None` for the usual order.
    fn glob_order(&mut self) -> Option<Order> {
        if !self.variables.slot(names::GLOBSORT).is_set() {
            return None;
        }
        Order::from_text(&self.get_id(names::GLOBSORT)?)
    }

    /// The patterns of GLOBIGNORE.
    fn glob_ignore(&mut self) -> Vec<Pattern> {
        let options = Options { utf8: self.utf8, ignore_case: false, extended: self.extglob() };
        let Some(value) = self.get_id(names::GLOBIGNORE) else { return Vec::new() };
        split_patterns(&value).iter().map(|p| Pattern::compile(p, options)).collect()
    }
}

/// Splits GLOBIGNORE at colons that are not inside brackets or escaped.
fn split_patterns(value: &[u8]) -> Vec<Bytes> {
    let mut out = Vec::new();
    let mut current = Bytes::new();
    let mut bracket = false;
    let mut bytes = value.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => {
                current.push(byte);
                current.extend(bytes.next());
                continue;
            }
            b'[' => bracket = true,
            b']' => bracket = false,
            b':' if !bracket => {
                out.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(byte);
    }
    out.push(current);
    out.retain(|p| !p.is_empty());
    out
}
