//! Holders that the training reports, by the sites that the recording has.

use std::collections::HashMap;

use leveloff_model::allocation::{Holder, ReportedHolder, SiteHolder, SiteId};
use leveloff_model::process::Pid;

/// What was reported, and what was recorded of it.
#[derive(Debug, Default)]
pub struct RecordedHolders {
    reported: Vec<ReportedHolder>,
    recorded: HashMap<SiteId, Holder>,
}

impl RecordedHolders {
    /// Takes what the training reports now. Returns the stacks whose sites have to be known.
    pub fn report(&mut self, holders: &[ReportedHolder]) -> Vec<(Pid, u32)> {
        if self.reported != holders {
            self.reported = holders.to_vec();
        }
        let stacks = self.reported.iter().map(|it| (it.pid, it.stack));
        stacks.collect()
    }

    /// What is to be recorded: a holder with another name than before, and at the end also with other numbers.
    pub fn found(
        &mut self,
        site_of: impl Fn((Pid, u32)) -> Option<SiteId>,
        is_last: bool,
    ) -> Vec<SiteHolder> {
        // Stacks of one site may have several holders: the one that keeps most stands for them.
        let mut by_site: HashMap<SiteId, &Holder> = HashMap::new();
        for reported in &self.reported {
            if let Some(site) = site_of((reported.pid, reported.stack)) {
                let holder = by_site.entry(site).or_insert(&reported.holder);
                if reported.holder.kept > holder.kept {
                    *holder = &reported.holder;
                }
            }
        }
        let is_new = |site: &SiteId, holder: &Holder| match self.recorded.get(site) {
            Some(before) if is_last => before != holder,
            Some(before) => !has_same_name(before, holder),
            None => true,
        };
        let new = by_site
            .into_iter()
            .filter(|(site, holder)| is_new(site, holder));
        let mut new: Vec<SiteHolder> = new
            .map(|(site, holder)| SiteHolder {
                site,
                holder: holder.clone(),
            })
            .collect();
        new.sort_by_key(|found| found.site);
        let recorded = new.iter().map(|found| (found.site, found.holder.clone()));
        self.recorded.extend(recorded);
        new
    }
}

fn has_same_name(one: &Holder, other: &Holder) -> bool {
    let name = |holder: &Holder| (holder.kind, holder.name.clone(), holder.place.clone());
    one.class == other.class && name(one) == name(other)
}

#[cfg(test)]
mod tests {
    use leveloff_model::allocation::HolderKind;

    use super::*;

    fn reported(stack: u32, name: &str, kept: u64) -> ReportedHolder {
        ReportedHolder {
            pid: Pid(7),
            stack,
            holder: Holder {
                class: "list".to_owned(),
                length: kept,
                kind: HolderKind::Global,
                name: name.to_owned(),
                place: "train.py".to_owned(),
                kept,
                looked_at: kept,
            },
        }
    }

    /// Stacks 1 and 2 are of site 0, stack 3 of none.
    fn site_of((_, stack): (Pid, u32)) -> Option<SiteId> {
        (stack < 3).then_some(SiteId(0))
    }

    #[test]
    fn the_holder_of_most_stands_for_a_site_and_is_recorded_once() {
        let mut holders = RecordedHolders::default();
        let all = [
            reported(1, "few", 3),
            reported(2, "outs", 30),
            reported(3, "x", 90),
        ];
        assert_eq!(holders.report(&all).len(), 3);
        let found = holders.found(site_of, false);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].holder.name, "outs");
        assert_eq!(holders.found(site_of, false), []);
    }

    #[test]
    fn numbers_are_recorded_at_the_end_and_names_when_they_change() {
        let mut holders = RecordedHolders::default();
        holders.report(&[reported(1, "outs", 30)]);
        holders.found(site_of, false);
        holders.report(&[reported(1, "outs", 40)]);
        assert_eq!(holders.found(site_of, false), []);
        assert_eq!(holders.found(site_of, true)[0].holder.kept, 40);
        holders.report(&[reported(1, "history", 40)]);
        assert_eq!(holders.found(site_of, false)[0].holder.name, "history");
    }
}
