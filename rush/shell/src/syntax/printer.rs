//! The pretty-printer: the text of a tree as `declare -f`, `type` and `jobs` show it.
