//! Time zones: compiled files (RFC 8536) and POSIX `TZ` rules.
//!
//! Invariant: a damaged or missing file is UTC, as in the C library; nothing here panics on its content.

use std::fs;
use std::path::Path;

use super::days_from_civil;

/// The largest zone file that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Kind {
    offset: i64,
    abbreviation: String,
}

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZone {
    /// Moments of change and what holds from then on.
    transitions: Vec<(i64, usize)>,
    kinds: Vec<Kind>,
    /// What holds after the last change.
    rule: Option<Rule>,
}

/// A POSIX rule: standard time, and perhaps daylight saving time between two days of each year.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    standard: Kind,
    daylight: Option<(Kind, Change, Change)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Day {
    /// `Jn`: 1 to 365, the leap day is not counted.
    Julian(i64),
    /// `n`: 0 to 365.
    Ordinal(i64),
    /// `Mm.w.d`
    Weekday(u32, i64, i64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Change {
    day: Day,
    seconds: i64,
}

impl TimeZone {
    /// Coordinated universal time.
    pub fn utc() -> Self {
        Self::fixed(0, "UTC")
    }

    fn fixed(offset: i64, abbreviation: &str) -> Self {
        let kind = Kind { offset, abbreviation: abbreviation.to_owned() };
        Self { transitions: Vec::new(), kinds: vec![kind], rule: None }
    }

    /// The zone that the value of `TZ` means; without one, the machine's.
    pub fn from_variable(value: Option<&str>) -> Self {
        let Some(value) = value else {
            return read_file(Path::new("/etc/localtime")).unwrap_or_else(Self::utc);
        };
        let value = value.strip_prefix(':').unwrap_or(value);
        if value.is_empty() {
            return Self::utc();
        }
        let path = if value.starts_with('/') {
            Path::new(value).to_path_buf()
        } else {
            Path::new("/usr/share/zoneinfo").join(value)
        };
        if !value.split('/').any(|part| part == "..")
            && let Some(zone) = read_file(&path)
        {
            return zone;
        }
        match parse_rule(value.as_bytes()) {
            Some(rule) => Self { transitions: Vec::new(), kinds: Vec::new(), rule: Some(rule) },
            None => Self::fixed(0, value.get(..3).filter(|v| v.is_ascii()).unwrap_or("UTC")),
        }
    }

    /// The offset east of Greenwich and the abbreviation at a moment.
    pub fn offset_at(&self, seconds: i64) -> (i64, String) {
        let kind = self.kind_at(seconds);
        (kind.offset, kind.abbreviation)
    }

    fn kind_at(&self, seconds: i64) -> Kind {
        let after = self.transitions.partition_point(|(at, _)| *at <= seconds);
        if after == self.transitions.len()
            && let Some(rule) = &self.rule
        {
            return rule.kind_at(seconds);
        }
        let index = after.checked_sub(1).and_then(|i| self.transitions.get(i)).map_or(0, |(_, kind)| *kind);
        self.kinds.get(index).cloned().unwrap_or(Kind { offset: 0, abbreviation: "UTC".into() })
    }

    /// Epoch seconds of a local civil time given as seconds since the epoch in that zone.
    pub fn to_epoch(&self, local: i64) -> i64 {
        let guess = local - self.kind_at(local).offset;
        let second = local - self.kind_at(guess).offset;
        if second + self.kind_at(second).offset == local { second } else { guess }
    }
}

fn read_file(path: &Path) -> Option<TimeZone> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return None;
    }
    parse_file(&fs::read(path).ok()?)
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(count)?;
        self.bytes = tail;
        Some(head)
    }

    fn number(&mut self, size: usize) -> Option<i64> {
        let bytes = self.take(size)?;
        let negative = bytes.first().is_some_and(|b| b & 0x80 != 0);
        Some(bytes.iter().fold(if negative { -1 } else { 0 }, |v: i64, b| v << 8 | i64::from(*b)))
    }
}

/// The counts in a header: isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt.
fn header(reader: &mut Reader<'_>) -> Option<(u8, [usize; 6])> {
    let magic = reader.take(20)?;
    if !magic.starts_with(b"TZif") {
        return None;
    }
    let mut counts = [0; 6];
    for count in &mut counts {
        *count = usize::try_from(reader.number(4)?).ok()?;
    }
    Some((*magic.get(4)?, counts))
}

fn parse_file(bytes: &[u8]) -> Option<TimeZone> {
    let mut reader = Reader { bytes };
    let (version, counts) = header(&mut reader)?;
    let [utc, standard, leap, times, types, chars] = counts;
    if version < b'2' {
        return parse_block(&mut reader, counts, 4);
    }
    reader.take(times * 5 + types * 6 + chars + leap * 8 + standard + utc)?;
    let (_, counts) = header(&mut reader)?;
    let mut zone = parse_block(&mut reader, counts, 8)?;
    let footer = reader.bytes.strip_prefix(b"\n")?;
    let end = footer.iter().position(|&b| b == b'\n')?;
    zone.rule = parse_rule(footer.get(..end)?);
    Some(zone)
}

fn parse_block(reader: &mut Reader<'_>, counts: [usize; 6], size: usize) -> Option<TimeZone> {
    let [utc, standard, leap, times, types, chars] = counts;
    let mut moments = Vec::new();
    for _ in 0..times {
        moments.push(reader.number(size)?);
    }
    let indices = reader.take(times)?;
    let mut raw = Vec::new();
    for _ in 0..types {
        let offset = reader.number(4)?;
        let rest = reader.take(2)?;
        raw.push((offset, usize::from(*rest.get(1)?)));
    }
    let names = reader.take(chars)?;
    reader.take(leap * (size + 4) + standard + utc)?;
    let abbreviation = |start: usize| {
        let tail = names.get(start..).unwrap_or_default();
        let end = tail.iter().position(|&b| b == 0).unwrap_or(tail.len());
        String::from_utf8_lossy(tail.get(..end).unwrap_or_default()).into_owned()
    };
    let kinds = raw.into_iter().map(|(offset, start)| Kind { offset, abbreviation: abbreviation(start) });
    let transitions = moments.into_iter().zip(indices.iter().map(|&i| usize::from(i))).collect();
    Some(TimeZone { transitions, kinds: kinds.collect(), rule: None })
}

fn parse_rule(text: &[u8]) -> Option<Rule> {
    let mut reader = Reader { bytes: text };
    let name = rule_name(&mut reader)?;
    let offset = -offset_time(&mut reader)?;
    let standard = Kind { offset, abbreviation: name };
    if reader.bytes.is_empty() {
        return Some(Rule { standard, daylight: None });
    }
    let name = rule_name(&mut reader)?;
    let offset = match reader.bytes.first() {
        None | Some(b',') => standard.offset + 3_600,
        Some(_) => -offset_time(&mut reader)?,
    };
    let daylight = Kind { offset, abbreviation: name };
    let (start, end) = if reader.bytes.is_empty() {
        let default = |month, week| Change { day: Day::Weekday(month, week, 0), seconds: 7_200 };
        (default(3, 2), default(11, 1))
    } else {
        (change(&mut reader)?, change(&mut reader)?)
    };
    Some(Rule { standard, daylight: Some((daylight, start, end)) })
}

fn rule_name(reader: &mut Reader<'_>) -> Option<String> {
    let text = reader.bytes;
    let (name, used) = if text.first() == Some(&b'<') {
        let end = text.iter().position(|&b| b == b'>')?;
        (text.get(1..end)?, end + 1)
    } else {
        let end = text.iter().position(|b| !b.is_ascii_alphabetic()).unwrap_or(text.len());
        (text.get(..end)?, end)
    };
    reader.take(used)?;
    (name.len() >= 3).then(|| String::from_utf8_lossy(name).into_owned())
}

fn digits(reader: &mut Reader<'_>) -> Option<i64> {
    let count = reader.bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 || count > 6 {
        return None;
    }
    Some(reader.take(count)?.iter().fold(0, |v, b| v * 10 + i64::from(b - b'0')))
}

/// `[+-]hh[:mm[:ss]]` in seconds: when in its day a change is.
fn rule_time(reader: &mut Reader<'_>) -> Option<i64> {
    signed_time(reader, [i64::MAX; 3])
}

/// The same as an offset: the C library takes 24:59:59 for what is more.
fn offset_time(reader: &mut Reader<'_>) -> Option<i64> {
    signed_time(reader, [24, 59, 59])
}

fn signed_time(reader: &mut Reader<'_>, most: [i64; 3]) -> Option<i64> {
    let negative = reader.bytes.first() == Some(&b'-');
    if matches!(reader.bytes.first(), Some(b'+' | b'-')) {
        reader.take(1)?;
    }
    let mut seconds = digits(reader)?.min(most[0]) * 3_600;
    for (unit, most) in [(60, most[1]), (1, most[2])] {
        if reader.bytes.first() == Some(&b':') {
            reader.take(1)?;
            seconds += digits(reader)?.min(most) * unit;
        }
    }
    Some(if negative { -seconds } else { seconds })
}

fn change(reader: &mut Reader<'_>) -> Option<Change> {
    if reader.take(1)? != b"," {
        return None;
    }
    let day = match reader.bytes.first()? {
        b'J' => {
            reader.take(1)?;
            Day::Julian(digits(reader)?)
        }
        b'M' => {
            reader.take(1)?;
            let month = digits(reader)?;
            reader.take(1)?;
            let week = digits(reader)?;
            reader.take(1)?;
            Day::Weekday(u32::try_from(month).ok()?.clamp(1, 12), week, digits(reader)?)
        }
        _ => Day::Ordinal(digits(reader)?),
    };
    let seconds = if reader.bytes.first() == Some(&b'/') {
        reader.take(1)?;
        rule_time(reader)?
    } else {
        7_200
    };
    Some(Change { day, seconds })
}

impl Change {
    /// The moment in `year`, in local time before the change.
    fn local_seconds(self, year: i64) -> i64 {
        let leap = days_from_civil(year, 3, 1) - days_from_civil(year, 2, 28) == 2;
        let first = days_from_civil(year, 1, 1);
        let day = match self.day {
            Day::Ordinal(n) => first + n,
            Day::Julian(n) => first + n - 1 + i64::from(leap && n >= 60),
            Day::Weekday(month, week, weekday) => {
                let start = days_from_civil(year, month, 1);
                let next = if month == 12 {
                    days_from_civil(year + 1, 1, 1)
                } else {
                    days_from_civil(year, month + 1, 1)
                };
                let offset = (weekday - (start + 4)).rem_euclid(7);
                let mut day = start + offset + (week - 1) * 7;
                while day >= next {
                    day -= 7;
                }
                day
            }
        };
        day * 86_400 + self.seconds
    }
}

impl Rule {
    fn kind_at(&self, seconds: i64) -> Kind {
        let Some((daylight, start, end)) = &self.daylight else { return self.standard.clone() };
        let days = (seconds + self.standard.offset).div_euclid(86_400);
        let year = super::civil_from_days(days).0;
        let start = start.local_seconds(year) - self.standard.offset;
        let end = end.local_seconds(year) - daylight.offset;
        let inside =
            if start < end { (start..end).contains(&seconds) } else { !(end..start).contains(&seconds) };
        if inside { daylight.clone() } else { self.standard.clone() }
    }
}
