//! A stop that is under way: does what the `stop` says, and keeps what was done.

use std::time::{Duration, Instant};

use leveloff_model::process::{Pid, ProcessKey};
use leveloff_model::progress::{Mark, MarkKind};
use leveloff_model::sample::{Event, Tick};
use leveloff_model::units::{Bytes, Seconds, Step};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::{SentRequest, StopRequest};
use leveloff_sampler::sampler::Sampler;
use leveloff_sampler::signalling::{self, StopSignal};

use super::crew::{Crew, on_this_machine};
use super::stop::{Answer, Order, Scene, Stage, Stop};
use super::watchman::Why;
use super::words;
use crate::notify::{Notify, Urgency};

/// What a guard did.
#[derive(Debug, Clone, PartialEq)]
pub struct Stopped {
    /// Why.
    pub why: Why,
    /// At which step it was decided.
    pub step: Option<Step>,
    /// What the run held then.
    pub memory: Bytes,
    /// The most that it held.
    pub peak: Bytes,
    /// The signal that trainings know.
    pub signal: StopSignal,
    /// The stages, and when each began after the decision.
    pub did: Vec<(Stage, Duration)>,
    /// The last checkpoint that was saved since.
    pub checkpoint: Option<Checkpoint>,
    /// How long it took until all of it had ended.
    pub took: Duration,
    /// Who did not end.
    pub left: Vec<Pid>,
}

/// A checkpoint that a training told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Of which step.
    pub step: Option<Step>,
    /// Where, if it said.
    pub path: Option<String>,
}

/// A stop that is under way.
#[derive(Debug)]
pub struct Stopping {
    notify: Notify,
    stop: Stop,
    grace: Duration,
    begun: Instant,
    request: Option<SentRequest>,
    answer: Option<Answer>,
    report: Stopped,
}

/// How a run stood when it was decided to stop it.
#[derive(Debug, Clone, Copy)]
pub struct Decided {
    /// Why.
    pub why: Why,
    /// At which step.
    pub step: Option<Step>,
    /// What it held.
    pub memory: Bytes,
}

impl Stopping {
    /// Begins.
    pub fn begin(
        notify: Notify,
        decided: Decided,
        grace: Duration,
        signal: StopSignal,
    ) -> Stopping {
        let now = Instant::now();
        Stopping {
            notify,
            stop: Stop::begin(now, grace, signal),
            grace,
            begun: now,
            request: None,
            answer: None,
            report: Stopped {
                why: decided.why,
                step: decided.step,
                memory: decided.memory,
                peak: decided.memory,
                signal,
                did: Vec::new(),
                checkpoint: None,
                took: Duration::ZERO,
                left: Vec::new(),
            },
        }
    }

    /// Whether all is done that can be.
    pub fn is_over(&self) -> bool {
        self.stop.stage() == Stage::Over
    }

    /// How long ago it began.
    pub fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Goes to the next stage now.
    pub fn hurry(&mut self) {
        self.stop.hurry(Instant::now());
    }

    /// Takes back what was asked, since nobody is going to see to it.
    pub fn abandon(&mut self) {
        if let Some(request) = self.request.take() {
            let _ = request.withdraw();
        }
    }

    /// What was done so far.
    pub fn report(&self) -> &Stopped {
        &self.report
    }

    /// The most that the run held until now.
    pub fn has_held(&mut self, peak: Bytes) {
        self.report.peak = self.report.peak.max(peak);
    }

    /// What the training says about it.
    pub fn hear(&mut self, tick: &Tick) {
        for event in &tick.events {
            let Event::Mark(mark) = event else { continue };
            let MarkKind::Event(name) = &mark.kind else {
                continue;
            };
            match name.as_str() {
                "stopping" => self.answer = Some(Answer::Stopping),
                "not_stopping" => self.answer = Some(Answer::NotStopping),
                "checkpoint" => {
                    self.report.checkpoint = Some(Checkpoint {
                        step: mark.step,
                        path: mark.path.clone(),
                    });
                }
                // Lightning tells of a save before it knows where to.
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

    /// Does what is due, to everyone but `spared`.
    pub fn go_on(&mut self, tick: &mut Tick, sampler: &Sampler, spared: Option<Pid>) {
        let crew = Crew::of(tick, sampler, spared);
        let request = sampler.stop_request().filter(StopRequest::is_obeyed);
        self.obey(&crew, request.as_ref(), tick);
        if self.stop.stage() == Stage::Signal
            && self.report.did.last().map(|(stage, _)| *stage) != Some(Stage::Signal)
        {
            // The request could not be put: the next stage is done at once.
            self.obey(&crew, request.as_ref(), tick);
        }
        if self.is_over() {
            self.report.took = self.begun.elapsed();
            self.report.left = crew.members().iter().map(|member| member.key.pid).collect();
            // Nobody is left to obey it, and a later process might have the same number.
            if let Some(request) = self.request.take() {
                let _ = request.withdraw();
            }
        }
    }

    fn obey(&mut self, crew: &Crew, request: Option<&StopRequest>, tick: &mut Tick) {
        let signal = self.report.signal;
        let orders = self.stop.next(&Scene {
            now: Instant::now(),
            crew,
            obeys_requests: request.is_some(),
            addressees: crew.addressees(signal, on_this_machine(signal)),
            answer: self.answer.take(),
        });
        for order in orders {
            match order {
                Order::Enter(stage) => {
                    self.report.did.push((stage, self.begun.elapsed()));
                    if let Some(text) = words::stage(stage, signal, self.grace) {
                        self.notice(&text);
                    }
                    let name = format!("guard_{}", words::name(stage));
                    tick.events
                        .push(event(tick.sample.t, tick.sample.progress.step, &name));
                }
                Order::Ask => self.ask(request),
                Order::Send(key, signal) => self.send(key, signal),
            }
        }
    }

    fn ask(&mut self, request: Option<&StopRequest>) {
        match request.map(|request| request.send(&words::why(&self.report.why))) {
            Some(Ok(sent)) => {
                let grace = words::seconds(self.grace);
                self.notice(&format!(
                    "asked the training to save and stop; it has {grace}"
                ));
                self.request = Some(sent);
                return;
            }
            Some(Err(error)) => self.notice(&format!("cannot ask the training to stop: {error}")),
            None => {}
        }
        self.stop.cannot_ask(Instant::now());
    }

    fn send(&self, key: ProcessKey, signal: StopSignal) {
        // `signalling::send` takes a process that is gone for a success.
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

/// Something that we did, as an event of the run.
pub fn event(t: Seconds, step: Option<Step>, name: &str) -> Event {
    Event::Mark(Mark {
        t,
        process: None,
        step,
        kind: MarkKind::Event(name.to_owned()),
        path: None,
        facts: Default::default(),
    })
}
