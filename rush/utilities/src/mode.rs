//! File modes as text.

use std::fs::{FileType, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// An octal mode.
pub(crate) fn octal(text: &[u8]) -> Option<u32> {
    if text.is_empty() || text.len() > 5 {
        return None;
    }
    let value = text.iter().try_fold(0u32, |v, b| Some(v * 8 + (*b as char).to_digit(8)?))?;
    (value <= 0o7777).then_some(value)
}

/// The letter of a file's type.
pub(crate) fn type_letter(kind: FileType) -> u8 {
    if kind.is_dir() {
        b'd'
    } else if kind.is_symlink() {
        b'l'
    } else if kind.is_fifo() {
        b'p'
    } else if kind.is_socket() {
        b's'
    } else if kind.is_block_device() {
        b'b'
    } else if kind.is_char_device() {
        b'c'
    } else {
        b'-'
    }
}

/// Type and permissions as `ls -l` shows them.
pub(crate) fn symbolic(metadata: &Metadata) -> String {
    let mode = metadata.mode();
    let mut text = String::from(type_letter(metadata.file_type()) as char);
    for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => letter,
            (true, false) => letter.to_ascii_uppercase(),
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

/// The name of a file's type as `stat` words it.
pub(crate) fn type_name(metadata: &Metadata) -> &'static str {
    match type_letter(metadata.file_type()) {
        b'd' => "directory",
        b'l' => "symbolic link",
        b'p' => "fifo",
        b's' => "socket",
        b'b' => "block special file",
        b'c' => "character special file",
        _ if metadata.len() == 0 => "regular empty file",
        _ => "regular file",
    }
}
