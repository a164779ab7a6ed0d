//! A stop in progress: does what the [`StopSequence`] says, and keeps a report of it.

use std::time::{Duration, Instant};

use leveloff_model::process::{Pid, ProcessKey};
use leveloff_model::progress::{Mark, MarkKind};
use leveloff_model::sample::{Event, Tick};
use leveloff_model::units::{Bytes, Seconds, Step};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::{SentRequest, StopRequest};
use leveloff_sampler::sampler::Sampler;
use leveloff_sampler::signalling::{self, StopSignal};

use super::messages;
use super::run_processes::{RunProcesses, live_disposition};
use super::stop_report::{Checkpoint, StopReport};
use super::stop_sequence::{Action, Stage, StopInput, StopSequence, TrainingReply};
use crate::notify::{Notify, Urgency};

/// A stop in progress.
#[derive(Debug)]
pub struct ActiveStop {
    notify: Notify,
    sequence: StopSequence,
    grace: Duration,
    begun: Instant,
    request: Option<SentRequest>,
    reply: Option<TrainingReply>,
    report: StopReport,
}

impl ActiveStop {
    /// Begins a stop. `report` has the state of the run at the decision.
    pub fn begin(notify: Notify, grace: Duration, report: StopReport) -> ActiveStop {
        let now = Instant::now();
        ActiveStop {
            notify,
            sequence: StopSequence::begin(now, grace, report.signal),
            grace,
            begun: now,
            request: None,
            reply: None,
            report,
        }
    }

    /// Whether all processes have exited, or nothing more can be done.
    pub fn is_over(&self) -> bool {
        self.sequence.stage() == Stage::Over
    }

    /// The time since the decision.
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Begins the next stage now.
    pub fn skip_stage(&mut self) {
        self.sequence.skip_stage(Instant::now());
    }

    /// Withdraws the request, if there is one.
    pub fn abandon(&mut self) {
        if let Some(request) = self.request.take() {
            // Nothing else can be done about a request that cannot be removed.
            let _ = request.withdraw();
        }
    }

    /// What was done so far.
    pub fn report(&self) -> &StopReport {
        &self.report
    }

    /// Takes the run's peak memory so far, and the training's marks.
    pub fn observe(&mut self, tick: &Tick, peak: Bytes) {
        self.report.peak = self.report.peak.max(peak);
        for event in &tick.events {
            let Event::Mark(mark) = event else { continue };
            let MarkKind::Event(name) = &mark.kind else {
                continue;
            };
            match name.as_str() {
                "stopping" => self.reply = Some(TrainingReply::Stopping),
                "not_stopping" => self.reply = Some(TrainingReply::NotStopping),
                "checkpoint" => {
                    self.report.checkpoint = Some(Checkpoint {
                        step: mark.step,
                        path: mark.path.clone(),
                    });
                }
                // Lightning reports a save before it knows the path.
                "stopped" if mark.path.is_some() => {
                    let checkpoint = self.report.checkpoint.take();
                    self.report.checkpoint = Some(Checkpoint {
                        step: checkpoint.and_then(|it| it.step).or(mark.step),
                        path: mark.path.clone(),
                    });
                }
                _ => {}
            }
        }
    }

    /// Does what is due, to every process but `excluded`.
    pub fn advance(&mut self, tick: &mut Tick, sampler: &Sampler, excluded: Option<Pid>) {
        let processes = RunProcesses::of(tick, sampler, excluded);
        let request = sampler.stop_request().filter(StopRequest::is_obeyed);
        self.act(&processes, request.as_ref(), tick);
        if self.sequence.stage() == Stage::Signal
            && self.report.stages.last().map(|(stage, _)| *stage) != Some(Stage::Signal)
        {
            // The request could not be written: the next stage begins at once.
            self.act(&processes, request.as_ref(), tick);
        }
        if self.is_over() {
            self.report.took = self.begun.elapsed();
            self.report.left = processes.keys().map(|key| key.pid).collect();
            // A later process might have the pid that the request names.
            self.abandon();
        }
    }

    fn act(&mut self, processes: &RunProcesses, request: Option<&StopRequest>, tick: &mut Tick) {
        let signal = self.report.signal;
        let actions = self.sequence.next(&StopInput {
            now: Instant::now(),
            processes,
            takes_requests: request.is_some(),
            recipients: processes.recipients(signal, live_disposition(signal)),
            reply: self.reply.take(),
        });
        for action in actions {
            match action {
                Action::EnterStage(stage) => {
                    self.report.stages.push((stage, self.begun.elapsed()));
                    if let Some(text) = messages::stage(stage, signal, self.grace) {
                        self.notice(&text);
                    }
                    let name = format!("guard_{}", messages::stage_name(stage));
                    tick.events.push(event_at(tick, &name));
                }
                Action::Request => self.request(request),
                Action::Send(key, signal) => self.send(key, signal),
            }
        }
    }

    fn request(&mut self, request: Option<&StopRequest>) {
        match request.map(|request| request.send(&messages::reason(&self.report.reason))) {
            Some(Ok(sent)) => {
                let grace = messages::seconds(self.grace);
                self.notice(&format!(
                    "asked the training to save and stop; it has {grace}"
                ));
                self.request = Some(sent);
                return;
            }
            Some(Err(error)) => self.notice(&format!("cannot ask the training to stop: {error}")),
            None => {}
        }
        self.sequence.request_failed(Instant::now());
    }

    fn send(&self, key: ProcessKey, signal: StopSignal) {
        // Sending to a process that has exited is no error.
        if let Err(error) = signalling::send(&ProcRoot::live(), key, signal) {
            self.notice(&format!(
                "cannot send {signal} to process {}: {error}",
                key.pid
            ));
        }
    }

    fn notice(&self, text: &str) {
        (self.notify)(text, Urgency::Normal);
    }
}

/// An action of leveloff, as an event of the run.
pub fn event(t: Seconds, step: Option<Step>, name: &str) -> Event {
    Event::Mark(Mark {
        t,
        process: None,
        step,
        kind: MarkKind::Event(name.to_owned()),
        path: None,
        malloc_used: None,
        facts: Default::default(),
    })
}

/// The same, at the time of a tick.
pub fn event_at(tick: &Tick, name: &str) -> Event {
    event(tick.sample.t, tick.sample.progress.step, name)
}
