//! Times in tables and logs.

use crate::number::number;

/// The format of a time column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clock {
    /// A number; this many of it are a second.
    PerSecond(f64),
    /// A date with a time, or a time of day.
    Calendar,
}

/// A time in seconds, and what it counts from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Time {
    /// Since the source's own beginning.
    Elapsed(f64),
    /// Since 1970, in no particular time zone: only differences mean anything.
    Date(f64),
    /// Since midnight, again and again.
    OfDay(f64),
}

impl Clock {
    /// Reads a field. `None` when it is no time.
    pub fn read(self, field: &[u8]) -> Option<Time> {
        match self {
            Clock::PerSecond(scale) => {
                let seconds = number(field)? / scale;
                seconds.is_finite().then_some(Time::Elapsed(seconds))
            }
            Clock::Calendar => calendar(field),
        }
    }

    /// The scale of a number without a unit: a date since 1970 shows by its size, anything
    /// smaller is taken for seconds.
    pub fn of_bare_number(value: f64) -> Clock {
        const YEAR_1973_IN_SECONDS: f64 = 1e8;
        let scale = match value / YEAR_1973_IN_SECONDS {
            v if v >= 1e9 => 1e9,
            v if v >= 1e6 => 1e6,
            v if v >= 1e3 => 1e3,
            _ => 1.0,
        };
        Clock::PerSecond(scale)
    }
}

/// Makes one line of time of what was read: seconds from the first where that was a date.
#[derive(Debug, Clone, Default)]
pub struct Timeline {
    first: Option<f64>,
    last_of_day: f64,
    midnights: f64,
}

/// A number of seconds above this is a date since 1970, not an elapsed time: three years.
const LONGEST_RUN: f64 = 1e8;

impl Timeline {
    /// Seconds since the beginning.
    pub fn seconds(&mut self, time: Time) -> f64 {
        let absolute = match time {
            Time::Elapsed(seconds) if seconds < LONGEST_RUN => return seconds,
            Time::Elapsed(seconds) | Time::Date(seconds) => seconds,
            Time::OfDay(seconds) => self.past_midnight(seconds),
        };
        absolute - *self.first.get_or_insert(absolute)
    }

    /// A time of day that is half a day earlier than the last is the next day's.
    fn past_midnight(&mut self, seconds: f64) -> f64 {
        const DAY: f64 = 86_400.0;
        if seconds < self.last_of_day - DAY / 2.0 {
            self.midnights += 1.0;
        }
        self.last_of_day = seconds;
        self.midnights * DAY + seconds
    }
}

/// `2026-11-16 08:53:01,250`, `2026-11-16T08:53:01Z`, `08:53:01`.
pub fn calendar(field: &[u8]) -> Option<Time> {
    let text = std::str::from_utf8(field.trim_ascii()).ok()?;
    // No date, not even with nanoseconds and a zone, is longer; jiff need not look.
    if text.len() > 64 {
        return None;
    }
    if let Some(seconds) = time_of_day(text) {
        return Some(Time::OfDay(seconds));
    }
    // nvidia-smi and others write 2026/11/16.
    let slashed = text.as_bytes().get(4) == Some(&b'/');
    let text = if slashed {
        &*text.replace('/', "-")
    } else {
        text
    };
    let moment = match text.parse::<jiff::Timestamp>() {
        Ok(moment) => moment,
        Err(_) => {
            let local = text.parse::<jiff::civil::DateTime>().ok()?;
            local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp()
        }
    };
    let fraction = f64::from(moment.subsec_nanosecond()) / 1e9;
    Some(Time::Date(moment.as_second() as f64 + fraction))
}

/// The date or time of day that a log line begins with, in brackets or not.
pub fn stamp(line: &[u8]) -> Option<Time> {
    /// `[2026-11-16 08:53:01,250]` has 25; further in, a time belongs to the message.
    const REACH: usize = 40;
    let line = &line[..line.len().min(REACH)];
    let start = line.iter().position(u8::is_ascii_digit)?;
    if !line[..start].iter().all(|b| b" \t[(<".contains(b)) {
        return None;
    }
    let line = &line[start..];
    let ends = |b: &u8| !(b.is_ascii_digit() || b":-.,TZ+".contains(b));
    let first_end = line.iter().position(ends).unwrap_or(line.len());
    let first = trim_punctuation(&line[..first_end]);
    // A date alone goes on behind a blank.
    if line.get(first_end) == Some(&b' ') && first.len() == 10 && first[4] == b'-' {
        let rest = &line[first_end + 1..];
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        let both = trim_punctuation(&line[..first_end + 1 + end]);
        return calendar(both);
    }
    memchr::memchr(b':', first)?;
    calendar(first)
}

fn trim_punctuation(text: &[u8]) -> &[u8] {
    let end = text
        .iter()
        .rposition(|b| !b":,-.".contains(b))
        .map_or(0, |at| at + 1);
    &text[..end]
}

/// `08:53:01.25` or `08:53`, seconds since midnight.
fn time_of_day(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let hours = number(parts.next()?.as_bytes())?;
    let minutes = number(parts.next()?.as_bytes())?;
    let seconds = match parts.next() {
        Some(part) => number(part.replace(',', ".").as_bytes())?,
        None => 0.0,
    };
    let is_whole = hours.fract() == 0.0 && minutes.fract() == 0.0;
    let is_time = parts.next().is_none()
        && is_whole
        && (0.0..1e5).contains(&hours)
        && (0.0..60.0).contains(&minutes)
        && (0.0..61.0).contains(&seconds);
    is_time.then_some((hours * 60.0 + minutes) * 60.0 + seconds)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> f64 {
        match calendar(text.as_bytes()) {
            Some(Time::Date(seconds)) => seconds,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn dates_are_read_in_many_formats() {
        let noon = date("2026-11-16T12:00:00Z");
        assert_eq!(date("2026-11-16 12:00:00"), noon);
        assert_eq!(date("2026-11-16 12:00:00,250"), noon + 0.25);
        assert_eq!(date("2026-11-16T13:00:00+01:00"), noon);
        assert_eq!(date("2026/11/16 12:00:00.500"), noon + 0.5);
        assert_eq!(calendar(b"12:00:05"), Some(Time::OfDay(43_205.0)));
        assert_eq!(calendar(b"100:00:00"), Some(Time::OfDay(360_000.0)));
        for none in ["", "2026", "12", "12:99:00", "yesterday", "1:2:3:4"] {
            assert_eq!(calendar(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn a_line_begins_with_its_time() {
        let expected = calendar(b"2026-11-16 08:53:01.250");
        for line in [
            "2026-11-16 08:53:01,250 INFO step 3",
            "[2026-11-16 08:53:01.250] step 3",
            "2026-11-16T08:53:01.250: step 3",
        ] {
            assert_eq!(stamp(line.as_bytes()), expected, "{line}");
        }
        assert_eq!(stamp(b"[08:53:01] RAM: 5 GB"), Some(Time::OfDay(31_981.0)));
        for none in ["Step 10: RAM", "10 steps", "12 MB at 08:53:01", ""] {
            assert_eq!(stamp(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn big_numbers_are_dates() {
        let read = |value: f64| {
            let mut line = Timeline::default();
            let clock = Clock::of_bare_number(value);
            [value, value * (1.0 + 1e-6)].map(|value| {
                let text = format!("{value:.6}");
                line.seconds(clock.read(text.as_bytes()).unwrap())
            })
        };
        assert_eq!(read(12.5)[0], 12.5);
        for epoch in [1.7e9, 1.7e12, 1.7e15, 1.7e18] {
            let [first, second] = read(epoch);
            assert_eq!(first, 0.0, "{epoch}");
            assert!((second - 1700.0).abs() < 1.0, "{epoch}: {second}");
        }
    }

    #[test]
    fn midnight_is_passed() {
        let mut line = Timeline::default();
        let times = [86_390.0, 10.0, 20.0].map(|seconds| line.seconds(Time::OfDay(seconds)));
        assert_eq!(times, [0.0, 20.0, 30.0]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = (calendar(&bytes), stamp(&bytes));
        }

        #[test]
        fn nothing_like_a_date_makes_it_panic(text in "[0-9:TZ+,. \\[-]{0,40}") {
            let _ = (calendar(text.as_bytes()), stamp(text.as_bytes()));
        }
    }
}
