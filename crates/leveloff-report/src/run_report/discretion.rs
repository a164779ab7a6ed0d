//! Removes what a report must not contain: secrets always, names and paths with `--redact`.

use std::collections::BTreeMap;

use leveloff_classifier::finding::Finding;

use leveloff_model::process::ProcessInfo;

use super::{ListedProcess, RunReport};
use crate::redact::Redaction;
use crate::secrets;

impl RunReport {
    /// Without values that open doors. Every report is made so.
    pub(super) fn without_secrets(mut self) -> RunReport {
        self.change_commands(secrets::masked);
        self.change_texts(&|text| secrets::masked_text(text));
        self
    }

    /// Without paths, host and user names. `names` are those of the reporting user and host; the
    /// recording itself gives its own host and the users whose home directories it mentions.
    pub fn redacted(mut self, names: &[String]) -> RunReport {
        let own = self.background.host.iter();
        let mut redaction = Redaction::new(names.iter().chain(own));
        self.for_each_text(&mut |text| redaction.learn(text));
        self.background.host = None;
        self.change_commands(|command| {
            let arguments = command.iter();
            arguments
                .map(|argument| redaction.argument(argument))
                .collect()
        });
        self.change_texts(&|text| redaction.text(text));
        self.input = redaction.argument(&self.input);
        self
    }

    fn change_commands(&mut self, change: impl Fn(&[String]) -> Vec<String>) {
        let of_processes = infos(&mut self.processes).map(|info| &mut info.command);
        for command in of_processes.chain(&mut self.background.command) {
            *command = change(command);
        }
    }

    /// Everything that is text and no command.
    fn change_texts(&mut self, change: &dyn Fn(&str) -> String) {
        let background = &mut self.background;
        let kernel = background.kernel.iter_mut();
        let path = background.cgroup.iter_mut().map(|group| &mut group.path);
        let why = infos(&mut self.processes).map(|info| &mut info.why);
        let texts = self.notes.iter_mut().chain(&mut background.gaps);
        let findings = self.verdict.findings.iter_mut();
        let named = findings.flat_map(Finding::own_words_mut);
        let grown = self.grown.iter_mut().map(|grown| &mut grown.what);
        let texts = texts.chain(named).chain(grown);
        let source = self.progress.iter_mut().filter_map(|it| it.source.as_mut());
        let texts = texts.chain(source.flat_map(|source| {
            let parts = [&mut source.file, &mut source.counter, &mut source.pattern];
            parts.into_iter().flatten()
        }));
        for text in texts.chain(kernel).chain(path).chain(why) {
            *text = change(text);
        }
        for site in self.lines.iter_mut().map(|line| &mut line.site) {
            let files = site.stack.iter_mut().flat_map(|frame| &mut frame.file);
            for text in files.chain(&mut site.source) {
                *text = change(text);
            }
        }
        if let Some(software) = &mut background.software {
            for values in [&mut software.packages, &mut software.variables] {
                *values = values.take().map(|values| changed(values, change));
            }
        }
    }

    fn for_each_text(&self, look: &mut dyn FnMut(&str)) {
        look(&self.input);
        let of_processes = self
            .processes
            .iter()
            .filter_map(|process| process.command());
        let commands = of_processes.chain(self.background.command.as_deref());
        let texts = self.notes.iter().chain(&self.background.gaps);
        let named = self.verdict.findings.iter().flat_map(Finding::own_words);
        let grown = self.grown.iter().map(|grown| &grown.what);
        let source = self.progress.iter().filter_map(|it| it.source.as_ref());
        let texts = texts.chain(source.flat_map(|source| &source.file));
        let stacks = self.lines.iter().flat_map(|line| &line.site.stack);
        let files = stacks.filter_map(|frame| frame.file.as_ref());
        for text in commands.flatten().chain(texts).chain(grown).chain(files) {
            look(text);
        }
        named.for_each(look);
    }
}

fn infos(processes: &mut [ListedProcess]) -> impl Iterator<Item = &mut ProcessInfo> {
    let infos = processes
        .iter_mut()
        .map(|process| process.account.info.as_mut());
    infos.flatten()
}

fn changed(
    values: BTreeMap<String, String>,
    change: &dyn Fn(&str) -> String,
) -> BTreeMap<String, String> {
    let values = values.into_iter();
    values.map(|(name, value)| (name, change(&value))).collect()
}
