//! What piles up outside memory: files in /dev/shm, descriptors, processes.

use leveloff_model::process::Role;

use super::{Case, amount, finding, members};
use crate::run::roles::RoleTrack;
use crate::run::track::Track;
use crate::verdict::{Finding, Judgement, Subject};

/// Files in /dev/shm that are in nobody's memory.
pub(super) fn devshm(case: &Case) -> Option<Finding> {
    let (judgement, grown) = leaking(case, Subject::DevShm, &case.book.devshm)?;
    let onset = judgement.onset_x.unwrap_or(case.onset);
    let mapped = crate::run::fusion::shared_growth(case.book, onset, case.now);
    if mapped >= 0.5 * grown {
        return None;
    }
    let (grown, place) = (amount(grown), case.place(onset));
    let whose = if case.devshm_is_ours {
        "they come with the run's steps"
    } else {
        "nothing ties them to this run; /dev/shm belongs to the whole machine"
    };
    let text =
        format!("files in /dev/shm grew by {grown} since {place}, in nobody's memory: {whose}");
    let next = "ls -lS /dev/shm names them; what the run writes there must be unlinked, and \
                torch.multiprocessing's file_system strategy leaves files behind when a process is killed";
    Some(finding("devshm-growth", text, next))
}

/// Open descriptors that pile up.
pub(super) fn descriptors(case: &Case) -> Option<Finding> {
    let (judgement, grown) = leaking(case, Subject::Descriptors, &case.book.descriptors)?;
    let onset = judgement.onset_x.unwrap_or(case.onset);
    let (now, place) = (case.book.descriptors.newest(), case.place(onset));
    let who = most(case, |role| role.descriptors.growth_since(onset, case.now))?;
    let text =
        format!("open descriptors rose by {grown:.0} to {now:.0} since {place}, most in the {who}");
    let next = "ls -l /proc/PID/fd names them; kept batches of loader workers hold one each \
                (torch.multiprocessing.set_sharing_strategy('file_system') only hides that), else look \
                for files that are opened and not closed";
    Some(finding("fd-growth", text, next))
}

/// Processes that pile up.
pub(super) fn processes(case: &Case) -> Option<Finding> {
    let (judgement, grown) = leaking(case, Subject::Processes, &case.book.process_count)?;
    let onset = judgement.onset_x.unwrap_or(case.onset);
    let living = |role: &RoleTrack| role.processes as f64;
    let biggest = case
        .book
        .roles
        .all()
        .max_by(|a, b| living(a).total_cmp(&living(b)))?;
    let (who, place) = (members(biggest.role, biggest.processes), case.place(onset));
    let now = case.book.process_count.newest();
    let text = format!("processes rose by {grown:.0} to {now:.0} since {place}: {who} now");
    let next = "a DataLoader with workers that is made anew each epoch and never dropped keeps its \
                workers: make it once, or delete it; `leveloff find --pid PID` lists them";
    Some(finding("process-growth", text, next))
}

fn leaking<'a>(case: &'a Case, subject: Subject, track: &Track) -> Option<(&'a Judgement, f64)> {
    let judgement = case.jury.of_subject(subject)?;
    judgement.verdict.grade()?;
    let onset = judgement.onset_x.unwrap_or(case.onset);
    Some((judgement, track.growth_since(onset, case.now)))
}

fn most(case: &Case, growth: impl Fn(&RoleTrack) -> f64) -> Option<Role> {
    let roles = case.book.roles.all();
    roles
        .max_by(|a, b| growth(a).total_cmp(&growth(b)))
        .map(|role| role.role)
}
