//! Between which versions a growth begins: the ends first, then the middle of where the answer changes.

/// What is known of one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Untried,
    /// Its answer is on the way.
    Running,
    /// The growth is as in the control run.
    Grows,
    /// The growth stops, or is less.
    Helps,
}

/// The version to try next, of those that can answer, in their order. `None` if the answer is known, if one that runs has to
/// be waited for, or if the ends behave alike.
pub(super) fn next(versions: &[Version]) -> Option<usize> {
    let last = versions.len().checked_sub(1)?;
    for end in [0, last] {
        if versions[end] == Version::Untried {
            return Some(end);
        }
    }
    if versions.contains(&Version::Running) {
        return None;
    }
    let known: Vec<usize> = (0..=last)
        .filter(|place| versions[*place] != Version::Untried)
        .collect();
    let mut changes = known
        .windows(2)
        .filter(|pair| versions[pair[0]] != versions[pair[1]]);
    let open = changes.find(|pair| pair[1] - pair[0] > 1)?;
    Some(usize::midpoint(open[0], open[1]))
}

#[cfg(test)]
mod tests {
    use super::Version::{Grows, Helps, Running, Untried};
    use super::*;

    #[test]
    fn a_change_of_the_answer_is_closed_in_on() {
        assert_eq!(next(&[]), None);
        assert_eq!(next(&[Untried, Untried, Untried]), Some(0));
        assert_eq!(next(&[Running, Untried, Untried]), Some(2));
        assert_eq!(next(&[Helps, Untried, Running]), None);
        assert_eq!(next(&[Helps, Untried, Untried, Untried, Grows]), Some(2));
        assert_eq!(next(&[Helps, Untried, Helps, Untried, Grows]), Some(3));
        assert_eq!(next(&[Helps, Grows]), None);
    }

    #[test]
    fn ends_that_behave_alike_leave_nothing_to_look_for() {
        assert_eq!(next(&[Grows, Untried, Grows]), None);
        assert_eq!(next(&[Helps, Untried, Untried, Helps]), None);
    }
}
