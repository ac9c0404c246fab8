//! Signal names and numbers, as `kill -l` and `trap -l` know them on Linux. Only names: sending and catching
//! are elsewhere.

/// The number of the last signal.
pub const SIGNAL_MAX: i32 = 64;
/// The first real-time signal the C library leaves to programs.
const RTMIN: i32 = 34;
const RTMAX: i32 = 64;

/// Names without `SIG` and what the shell prints when the signal ended a command, by number from 1.
const SIGNALS: [(&str, &str); 31] = [
    ("HUP", "Hangup"),
    ("INT", "Interrupt"),
    ("QUIT", "Quit"),
    ("ILL", "Illegal instruction"),
    ("TRAP", "Trace/breakpoint trap"),
    ("ABRT", "Aborted"),
    ("BUS", "Bus error"),
    ("FPE", "Floating point exception"),
    ("KILL", "Killed"),
    ("USR1", "User defined signal 1"),
    ("SEGV", "Segmentation fault"),
    ("USR2", "User defined signal 2"),
    ("PIPE", "Broken pipe"),
    ("ALRM", "Alarm clock"),
    ("TERM", "Terminated"),
    ("STKFLT", "Stack fault"),
    ("CHLD", "Child exited"),
    ("CONT", "Continued"),
    ("STOP", "Stopped (signal)"),
    ("TSTP", "Stopped"),
    ("TTIN", "Stopped (tty input)"),
    ("TTOU", "Stopped (tty output)"),
    ("URG", "Urgent I/O condition"),
    ("XCPU", "CPU time limit exceeded"),
    ("XFSZ", "File size limit exceeded"),
    ("VTALRM", "Virtual timer expired"),
    ("PROF", "Profiling timer expired"),
    ("WINCH", "Window changed"),
    ("IO", "I/O possible"),
    ("PWR", "Power failure"),
    ("SYS", "Bad system call"),
];

/// The name of a signal, without `SIG`.
pub fn name(number: i32) -> Option<String> {
    if let Some(name) = usize::try_from(number - 1).ok().and_then(|i| SIGNALS.get(i)) {
        return Some(name.0.to_owned());
    }
    Some(match number {
        RTMIN => "RTMIN".to_owned(),
        RTMAX => "RTMAX".to_owned(),
        35..=49 => format!("RTMIN+{}", number - RTMIN),
        50..=63 => format!("RTMAX-{}", RTMAX - number),
        _ => return None,
    })
}

/// What the shell prints when a signal ended a command.
pub fn description(number: i32) -> String {
    match usize::try_from(number - 1).ok().and_then(|i| SIGNALS.get(i)) {
        Some((_, description)) => (*description).to_owned(),
        None if (RTMIN..=RTMAX).contains(&number) => format!("Real-time signal {}", number - RTMIN),
        None => format!("Unknown signal {number}"),
    }
}

/// The number of a signal by its name, with or without `SIG`, in any case.
pub fn number_of(name_text: &[u8]) -> Option<i32> {
    let upper = name_text.to_ascii_uppercase();
    let bare = upper.strip_prefix(b"SIG").unwrap_or(&upper);
    if let Some(at) = SIGNALS.iter().position(|(name, _)| name.as_bytes() == bare) {
        return i32::try_from(at + 1).ok();
    }
    match bare {
        b"IOT" => return Some(6),
        b"CLD" => return Some(17),
        b"POLL" => return Some(29),
        _ => {}
    }
    (RTMIN..=RTMAX).find(|&n| name(n).is_some_and(|text| text.as_bytes() == bare))
}

/// A signal by name or number; 0 is allowed.
pub fn from_specification(text: &[u8]) -> Option<i32> {
    if text.first().is_some_and(u8::is_ascii_digit) {
        let number: i32 = std::str::from_utf8(text).ok()?.parse().ok()?;
        return (0..=SIGNAL_MAX).contains(&number).then_some(number).filter(|&n| n == 0 || name(n).is_some());
    }
    number_of(text)
}

/// The table that `kill -l` and `trap -l` print.
pub fn table() -> String {
    let mut out = String::new();
    let mut column = 0;
    for number in 1..=SIGNAL_MAX {
        let Some(name) = name(number) else { continue };
        out += &format!("{number:2}) SIG{name}");
        column += 1;
        out.push(if column % 5 == 0 { '\n' } else { '\t' });
    }
    if column % 5 != 0 {
        out.push('\n');
    }
    out
}

/// The names without `SIG` on one line, as POSIX has `kill -l` print them.
pub fn names() -> String {
    let names: Vec<String> = (1..=SIGNAL_MAX).filter_map(name).collect();
    names.join(" ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{from_specification, name, table};

    #[test]
    fn names_and_numbers() {
        assert_eq!(from_specification(b"sigint"), Some(2));
        assert_eq!(from_specification(b"TERM"), Some(15));
        assert_eq!(from_specification(b"9"), Some(9));
        assert_eq!(from_specification(b"RTMAX-14"), Some(50));
        assert_eq!(from_specification(b"33"), None);
        assert_eq!(from_specification(b"nope"), None);
        assert_eq!(name(49).as_deref(), Some("RTMIN+15"));
        assert!(table().starts_with(" 1) SIGHUP\t 2) SIGINT\t") && table().ends_with("64) SIGRTMAX\t\n"));
    }
}
