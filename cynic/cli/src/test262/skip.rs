//! Which tests are not run, and why. This file is the whole list: nothing else in the runner skips.
//!
//! Skips are for what the engine leaves out on purpose (sloppy mode, Annex B, Intl, proposals below stage 4). A test that
//! merely fails belongs in the expectation list instead.

use super::metadata::Metadata;

/// Folders, relative to `test/`, that are out of scope.
const SKIPPED_FOLDERS: &[(&str, &str)] = &[
    ("annexB/", "Annex B is not part of a strict-only engine"),
    ("staging/", "not reviewed by the suite's maintainers"),
    ("intl402/", "ECMA-402 is a later work"),
];

/// Features of proposals below stage 4, by the suite's names.
pub(crate) const FEATURES_BELOW_STAGE_4: &[&str] = &[
    "Iterator.prototype.join",
    "ShadowRealm",
    "await-dictionary",
    "decorators",
    "error-stack-accessor",
    "export-defer",
    "immutable-arraybuffer",
    "import-bytes",
    "import-defer",
    "import-text",
    "legacy-regexp",
    "nonextensible-applies-to-private",
    "source-phase-imports",
    "source-phase-imports-module-source",
];

/// Why the path alone rules a test out, if it does.
pub(crate) fn by_path(path: &str) -> Option<&'static str> {
    SKIPPED_FOLDERS.iter().find(|(folder, _)| path.starts_with(folder)).map(|(_, reason)| *reason)
}

/// Why the front matter rules a test out, if it does.
pub(crate) fn by_metadata(metadata: &Metadata) -> Option<String> {
    if metadata.flags.no_strict {
        return Some("noStrict".into());
    }
    let below = metadata.features.iter().find(|name| FEATURES_BELOW_STAGE_4.contains(&name.as_str()))?;
    Some(format!("feature {below}"))
}

#[cfg(test)]
mod tests {
    use super::super::metadata::{self, Metadata};
    use super::*;

    fn of(front: &str) -> Metadata {
        metadata::parse(&format!("/*---\n{front}\n---*/")).expect("parses")
    }

    #[test]
    fn the_feature_table_is_sorted_and_unique() {
        assert!(FEATURES_BELOW_STAGE_4.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn folders_match_from_the_front_only() {
        assert!(by_path("annexB/language/x.js").is_some());
        assert!(by_path("built-ins/annexB/x.js").is_none());
    }

    #[test]
    fn sloppy_tests_and_proposals_are_skipped() {
        assert_eq!(by_metadata(&of("flags: [noStrict]")), Some("noStrict".into()));
        assert_eq!(by_metadata(&of("features: [Map, decorators]")), Some("feature decorators".into()));
        assert_eq!(by_metadata(&of("features: [Map, Temporal]\nflags: [onlyStrict]")), None);
    }
}
