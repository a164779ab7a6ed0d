//! The job's name and the rank that every series carries.

use std::collections::BTreeSet;

use leveloff_model::process::Rank;

/// The name of a run. It never changes while the run is watched: a label that changes begins another series.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name of its job.
    pub job: String,
    /// Its rank, if the user stated it.
    pub stated_rank: Option<Rank>,
    /// Its rank in the environment, for a run of which no process has one.
    pub environment_rank: Option<Rank>,
}

impl Identity {
    /// The rank of the run, if it is a single one; `ranks` are those of its processes.
    pub(super) fn rank_among(&self, ranks: &BTreeSet<Rank>) -> Option<Rank> {
        let found = match ranks.len() {
            0 => self.environment_rank,
            1 => ranks.first().copied(),
            _ => None,
        };
        self.stated_rank.or(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_several_ranks_has_none_unless_it_is_stated() {
        let ranks = |all: &[u32]| all.iter().copied().map(Rank).collect::<BTreeSet<Rank>>();
        let mut identity = Identity {
            environment_rank: Some(Rank(7)),
            ..Identity::default()
        };
        assert_eq!(identity.rank_among(&ranks(&[])), Some(Rank(7)));
        assert_eq!(identity.rank_among(&ranks(&[2])), Some(Rank(2)));
        assert_eq!(identity.rank_among(&ranks(&[2, 3])), None);
        identity.stated_rank = Some(Rank(9));
        assert_eq!(identity.rank_among(&ranks(&[2, 3])), Some(Rank(9)));
    }
}
