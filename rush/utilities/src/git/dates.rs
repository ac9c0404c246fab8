//! Dates as git prints them, in the zone they were made in.

use super::decode::Signature;
use super::{Attempt, Decline};
use crate::calendar::{Civil, strftime, zone::TimeZone};

/// A form of dates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// `Sun Sep 13 14:27:40 2020 +0200`
    Default,
    /// `2020-09-13 14:27:40 +0200`
    Iso,
    /// `2020-09-13T14:27:40+02:00`
    IsoStrict,
    /// `Sun, 13 Sep 2020 14:27:40 +0200`
    Mail,
    /// `2020-09-13`
    Short,
    /// `1600000060`
    Unix,
    /// `1600000060 +0200`
    Raw,
    /// `3 days ago`
    Relative,
}

impl Form {
    /// The form that `--date=NAME` asks for.
    pub(crate) fn named(name: &[u8]) -> Attempt<Form> {
        Ok(match name {
            b"default" => Form::Default,
            b"iso" | b"iso8601" => Form::Iso,
            b"iso-strict" | b"iso8601-strict" => Form::IsoStrict,
            b"rfc" | b"rfc2822" => Form::Mail,
            b"short" => Form::Short,
            b"unix" => Form::Unix,
            b"raw" => Form::Raw,
            b"relative" => Form::Relative,
            _ => return Err(Decline),
        })
    }

    /// The date of a signature; `now` is for relative ones.
    pub(crate) fn show(self, signature: &Signature<'_>, now: i64) -> Attempt<Vec<u8>> {
        let (seconds, zone) = (signature.seconds, signature.zone);
        let sign = if zone < 0 { '-' } else { '+' };
        let (hours, minutes) = (zone.abs() / 100, zone.abs() % 100);
        if hours > 14 || minutes > 59 || seconds < 0 {
            return Err(Decline);
        }
        let east = i64::from(hours * 3_600 + minutes * 60) * if zone < 0 { -1 } else { 1 };
        // The wall clock of that zone, read as if it were Greenwich's.
        let local =
            Civil::new(seconds.checked_add(east).ok_or(Decline)?, &TimeZone::from_variable(Some("UTC0")));
        let format = |text: &str| strftime(text.as_bytes(), &local, 0);
        let with_zone =
            |text: &str| [format(text), format!(" {sign}{hours:02}{minutes:02}").into_bytes()].concat();
        Ok(match self {
            Form::Default => with_zone("%a %b %-d %H:%M:%S %Y"),
            Form::Iso => with_zone("%Y-%m-%d %H:%M:%S"),
            Form::Mail => with_zone("%a, %-d %b %Y %H:%M:%S"),
            // Releases of git disagree about Greenwich.
            Form::IsoStrict if zone == 0 => return Err(Decline),
            Form::IsoStrict => {
                [format("%Y-%m-%dT%H:%M:%S"), format!("{sign}{hours:02}:{minutes:02}").into_bytes()].concat()
            }
            Form::Short => format("%Y-%m-%d"),
            Form::Unix => seconds.to_string().into_bytes(),
            Form::Raw => format!("{seconds} {sign}{hours:02}{minutes:02}").into_bytes(),
            Form::Relative => relative(seconds, now).into_bytes(),
        })
    }
}

/// How long ago something was, in the unit that git finds fit, rounded as git rounds.
fn relative(seconds: i64, now: i64) -> String {
    let plural = |count: i64, unit: &str| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    if now < seconds {
        return "in the future".to_owned();
    }
    let since = now - seconds;
    let minutes = (since + 30) / 60;
    let hours = (minutes + 30) / 60;
    let days = (hours + 12) / 24;
    let ago = if since < 90 {
        plural(since, "second")
    } else if minutes < 90 {
        plural(minutes, "minute")
    } else if hours < 36 {
        plural(hours, "hour")
    } else if days < 14 {
        plural(days, "day")
    } else if days < 70 {
        plural((days + 3) / 7, "week")
    } else if days < 365 {
        plural((days + 15) / 30, "month")
    } else if days < 1825 {
        let months = (days * 12 * 2 + 365) / (365 * 2);
        match (months / 12, months % 12) {
            (years, 0) => plural(years, "year"),
            (years, months) => format!("{}, {}", plural(years, "year"), plural(months, "month")),
        }
    } else {
        plural((days + 183) / 365, "year")
    };
    ago + " ago"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        let day = 86_400;
        for (age, expected) in [
            (1, "1 second ago"),
            (89, "89 seconds ago"),
            (90, "2 minutes ago"),
            (5_400, "2 hours ago"),
            (36 * 3_600, "2 days ago"),
            (14 * day, "2 weeks ago"),
            (70 * day, "2 months ago"),
            (365 * day, "1 year ago"),
            (400 * day, "1 year, 1 month ago"),
            (3_650 * day, "10 years ago"),
        ] {
            assert_eq!(relative(0, age), expected);
        }
    }
}
