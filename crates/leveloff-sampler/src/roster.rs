//! Everyone of a run who is under watch: who belongs, what each holds, which part each plays.

use std::collections::HashSet;
use std::io;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role};
use leveloff_model::sample::{Gap, ProcessReading, Subject};
use leveloff_model::units::{Bytes, Seconds};

use crate::cast::{Cast, Part, anyone_training};
use crate::handle::Scratch;
use crate::proc_root::ProcRoot;
use crate::tree::{Scope, Tree};
use crate::watched::{FastContext, Look, Watched};

/// The processes of a run.
#[derive(Debug)]
pub struct Roster {
    roots: Vec<ProcessKey>,
    tree: Tree,
    watched: Vec<Watched>,
    cast: Cast,
    trainers: HashSet<ProcessIndex>,
}

/// What a look at everyone found.
#[derive(Debug, Default)]
pub struct Looked {
    /// Who is gone.
    pub gone: Vec<ProcessIndex>,
    /// Who could not be read.
    pub gaps: Vec<Gap>,
    /// Whether a fork's copy ended: its relatives' shares are about to change, perhaps again.
    pub kin_ended: bool,
}

/// Someone who is gone.
#[derive(Debug, Clone, Copy)]
pub struct Left {
    /// The number it had.
    pub pid: Pid,
    /// Whether its coming was ever told.
    pub was_told: bool,
}

impl Roster {
    /// An empty roster. `adopter` gets the run's orphans, `ours` are no part of it.
    pub fn new(proc_root: &ProcRoot, scope: Scope, adopter: Option<Pid>, ours: Vec<Pid>) -> Roster {
        let roots = match &scope {
            Scope::Descendants(roots) => roots.clone(),
            Scope::Everyone => Vec::new(),
        };
        let mut tree = Tree::new(proc_root.clone(), scope).excluding(ours);
        if let Some(adopter) = adopter {
            tree = tree.with_sure_adopter(adopter);
        }
        Roster {
            cast: Cast::new(roots.first().map(|key| key.pid)),
            roots,
            tree,
            watched: Vec::new(),
            trainers: HashSet::new(),
        }
    }

    /// The first root, if the run has one.
    pub fn root(&self) -> Option<Pid> {
        self.roots.first().map(|key| key.pid)
    }

    /// Whether there is nobody left to watch: the roots are gone and no other process trains.
    pub fn is_over(&self) -> bool {
        let root_lives = self.watched.iter().any(|process| {
            self.roots.contains(&process.handle().key()) && !process.reading().state.is_gone()
        });
        // Who has ended trains no more, also if its parent never takes note of it.
        let lives = |info: &&ProcessInfo| {
            let mut watched = self.watched.iter();
            watched.any(|it| it.index() == info.index && !it.reading().state.is_gone())
        };
        !self.roots.is_empty() && !root_lives && !anyone_training(self.cast.infos().filter(lives))
    }

    /// Everyone whose part is known.
    pub fn infos(&self) -> impl Iterator<Item = &ProcessInfo> {
        self.cast.infos()
    }

    /// From now on processes of this group are no part of the run.
    pub fn leave_out_group(&mut self, group: Pid) {
        self.tree.leave_out_group(group);
    }

    /// Everyone under watch.
    pub fn watched(&self) -> &[Watched] {
        &self.watched
    }

    /// Everyone under watch, to be changed.
    pub fn watched_mut(&mut self) -> &mut [Watched] {
        &mut self.watched
    }

    /// One of them.
    pub fn find_mut(&mut self, index: ProcessIndex) -> Option<&mut Watched> {
        self.watched
            .iter_mut()
            .find(|process| process.index() == index)
    }

    /// Takes in who joined; how many.
    pub fn take_in(&mut self, t: Seconds, scratch: &mut Scratch) -> io::Result<usize> {
        let joined = self.tree.refresh(scratch)?;
        let count = joined.len();
        for process in joined {
            self.cast.joined(process.index, process.handle.key(), t);
            self.watched.push(Watched::new(
                process.index,
                process.handle,
                process.parent,
                t,
            ));
        }
        Ok(count)
    }

    /// Who belongs and could not be opened.
    pub fn take_refused(&mut self) -> Vec<Gap> {
        let refused = self.tree.take_refused();
        refused
            .into_iter()
            .map(|(pid, error)| refusal(pid, &error))
            .collect()
    }

    /// The fast look at everyone.
    pub fn look_at_all(&mut self, context: &FastContext, scratch: &mut Scratch) -> Looked {
        let mut looked = Looked::default();
        for process in &mut self.watched {
            match process.look(context, scratch) {
                Look::There => {}
                Look::Renamed => self.cast.renamed(process.index()),
                Look::Gone => {
                    looked.kin_ended |= process.is_fork_copy();
                    looked.gone.push(process.index());
                }
                Look::Unreadable(errno) => looked.gaps.push(Gap {
                    subject: Subject::Process,
                    process: Some(process.index()),
                    text: format!(
                        "cannot read process {}: {errno}",
                        process.handle().key().pid
                    ),
                }),
            }
        }
        // A zombie has given everything up, long before it is gone.
        for place in 0..self.watched.len() {
            if self.watched[place].has_just_ended() {
                looked.kin_ended |= self.watched[place].is_fork_copy();
                self.settle(place);
            }
        }
        looked
    }

    /// The fast look at everyone who is known, between two ticks; what all of them hold. Who came or went
    /// meanwhile is the next tick's to tell.
    pub fn glance(&mut self, context: &FastContext, scratch: &mut Scratch) -> Bytes {
        for process in &mut self.watched {
            // A name is compared with the last one, so this look must not keep the news to itself.
            if process.look(context, scratch) == Look::Renamed {
                self.cast.renamed(process.index());
            }
        }
        let known = self.watched.iter();
        known
            .filter(|process| self.cast.info(process.index()).is_some())
            .map(|process| process.reading().memory())
            .sum()
    }

    /// Someone is gone: what it shared with others is theirs now.
    pub fn let_go(&mut self, index: ProcessIndex) -> Option<Left> {
        let place = self
            .watched
            .iter()
            .position(|process| process.index() == index)?;
        self.settle(place);
        let process = self.watched.remove(place);
        let key = process.handle().key();
        self.tree.remove(key);
        self.trainers.remove(&index);
        Some(Left {
            pid: key.pid,
            was_told: self.cast.left(index),
        })
    }

    /// What someone shared does not end with it. Until the others are read again it is counted with
    /// its parent, else with one that it forked, else with one that was forked with it.
    fn settle(&mut self, place: usize) {
        let index = self.watched[place].index();
        if self.shares(index) {
            self.doubt_sharers(Some(index));
        }
        let gone = self.watched[place].legacy();
        let kinship = |process: &Watched| match process {
            itself if itself.index() == index => 0,
            parent if gone.is_fork_copy && parent.handle().key().pid == gone.parent => 3,
            child if child.is_fork_copy() && child.parent() == gone.pid => 2,
            sibling if sibling.is_fork_copy() && sibling.parent() == gone.parent => 1,
            _ => 0,
        };
        let nearest = self
            .watched
            .iter_mut()
            .max_by_key(|process| kinship(process));
        if let Some(heir) = nearest.filter(|process| kinship(process) > 0) {
            heir.take_back(gone.shared);
        }
    }

    /// Examines whoever is due; what is new.
    pub fn review(&mut self, proc_root: &ProcRoot, t: Seconds) -> Vec<Part> {
        let parts = self.cast.review(proc_root, t);
        for Part {
            info,
            first,
            fork_copy,
        } in &parts
        {
            // One that was a copy and is a program of its own now holds nothing of its parent.
            if (*first || !fork_copy)
                && let Some(process) = self.find_mut(info.index)
            {
                process.set_fork_copy(*fork_copy);
            }
        }
        parts
    }

    /// Whether someone became a trainer (`true`) or stopped being taken for one (`false`).
    pub fn trainer_change(&mut self, info: &ProcessInfo) -> Option<bool> {
        if info.role == Role::Trainer {
            self.trainers.insert(info.index).then_some(true)
        } else {
            self.trainers.remove(&info.index).then_some(false)
        }
    }

    /// Whether it shares anonymous pages with another.
    pub fn shares(&self, index: ProcessIndex) -> bool {
        self.sharers().contains(&index)
    }

    /// The shares of those who share anonymous pages are not certain any more, except that of
    /// `known`.
    pub fn doubt_sharers(&mut self, known: Option<ProcessIndex>) {
        let sharers = self.sharers();
        for process in &mut self.watched {
            if sharers.contains(&process.index()) && Some(process.index()) != known {
                process.kin_changed();
            }
        }
    }

    /// Forks that hold their parent's pages, and the parents.
    fn sharers(&self) -> HashSet<ProcessIndex> {
        let forks = || self.watched.iter().filter(|process| process.is_fork_copy());
        let parents: HashSet<Pid> = forks().map(Watched::parent).collect();
        self.watched
            .iter()
            .filter(|process| {
                process.is_fork_copy() || parents.contains(&process.handle().key().pid)
            })
            .map(Watched::index)
            .collect()
    }

    /// Everyone's counters. One whose part is not known yet has not been told of.
    pub fn readings(&self) -> Vec<ProcessReading> {
        self.watched
            .iter()
            .filter(|process| self.cast.info(process.index()).is_some())
            .map(|process| process.reading().clone())
            .collect()
    }
}

fn refusal(pid: Pid, error: &io::Error) -> Gap {
    let text = format!(
        "cannot watch process {pid}, which belongs to the run: {error}; it is missing from the \
         totals. Out of descriptors? Raise the limit with `ulimit -n`"
    );
    Gap {
        subject: Subject::Process,
        process: None,
        text,
    }
}
