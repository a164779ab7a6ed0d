//! Versions of Python packages, as far as their order matters here.

use std::cmp::Ordering;

/// A release, and whether it is before or after it: `2.10.0.dev1`, `2.10.0rc1`, `2.0.0.post1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    release: Vec<u64>,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Early,
    Final,
    Post(u64),
}

impl Version {
    /// Reads `2.8.0+cu128`; `None` for what does not begin with a number.
    pub(super) fn parse(text: &str) -> Option<Version> {
        let public = text.split('+').next()?;
        let mut release = Vec::new();
        let mut stage = Stage::Final;
        for part in public.split('.') {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = part.split_at(digits);
            if let Ok(number) = number.parse() {
                release.push(number);
            }
            if let Some(post) = rest.strip_prefix("post") {
                stage = Stage::Post(post.parse().unwrap_or(0));
            } else if !rest.is_empty() {
                stage = Stage::Early;
            }
            if !rest.is_empty() {
                break;
            }
        }
        while release.last() == Some(&0) && release.len() > 1 {
            release.pop();
        }
        (!release.is_empty()).then_some(Version { release, stage })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        (&self.release, self.stage).cmp(&(&other.release, other.stage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_pip_orders_them() {
        let ordered = [
            "0.8.1",
            "1.13.1+cu117",
            "2.0.0.dev20230101",
            "2.0.0",
            "2.0.0.post1",
            "2.0.1",
            "2.9.1",
            "2.10.0rc1",
            "2.10",
            "2.10.1",
            "2025.4.1",
        ];
        for pair in ordered.windows(2) {
            assert!(
                Version::parse(pair[0]) < Version::parse(pair[1]),
                "{pair:?}"
            );
        }
        assert_eq!(Version::parse("2.10"), Version::parse("2.10.0"));
        assert_eq!(Version::parse("unknown"), None);
    }
}
