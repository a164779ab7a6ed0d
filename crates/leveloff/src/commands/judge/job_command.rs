//! The command of the job that a recording is of, so that an experiment can be printed as one would type it.

use leveloff_model::process::Role;
use leveloff_model::recording::{Header, Target};
use leveloff_model::sample::Event;
use leveloff_report::secrets::masked;

/// What was started; of a run that was joined, the command of its trainer.
#[derive(Debug, Default)]
pub(super) struct JobCommand(Option<Vec<String>>);

impl JobCommand {
    pub(super) fn of(header: Option<&Header>) -> JobCommand {
        JobCommand(match header.map(|header| &header.target) {
            Some(Target::Command(command)) => Some(command.clone()),
            _ => None,
        })
    }

    pub(super) fn learn(&mut self, events: &[Event]) {
        if self.0.is_some() {
            return;
        }
        let infos = events.iter().filter_map(|event| match event {
            Event::Appeared(info) | Event::Changed(info) => Some(info),
            _ => None,
        });
        let mut trainers = infos.filter(|info| info.role == Role::Trainer);
        let trainer = trainers.find(|info| info.command.len() > 1);
        self.0 = trainer.map(|info| info.command.clone());
    }

    pub(super) fn masked(self) -> Option<Vec<String>> {
        self.0.map(|command| masked(&command))
    }
}
