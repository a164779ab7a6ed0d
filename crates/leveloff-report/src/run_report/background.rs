//! Where a run ran, and on what.

use leveloff_model::environment::Software;
use leveloff_model::recording::{End, Header, Target};
use leveloff_model::sample::{Event, Subject, Tick};
use leveloff_model::units::{Bytes, Seconds};

/// Gaps that are kept at most.
const MOST_GAPS: usize = 12;

/// What is known of the surroundings. Everything is absent for a file of another tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Background {
    /// The command that was started; `None` for a run that was joined. Secrets are masked.
    pub command: Option<Vec<String>>,
    /// The process that was joined.
    pub joined: Option<i32>,
    /// Start in seconds since 1970.
    pub started_unix: Option<f64>,
    /// Host name.
    pub host: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// RAM of the machine.
    pub machine_memory: Option<Bytes>,
    /// The control group of the run.
    pub cgroup: Option<Group>,
    /// Time between samples.
    pub interval: Option<Seconds>,
    /// The version of leveloff that recorded.
    pub recorder: Option<String>,
    /// What measuring cost at most, in percent of one core.
    pub own_cost_percent: Option<f64>,
    /// The software of the first trainer.
    pub software: Option<Software>,
    /// How it ended.
    pub end: Option<End>,
    /// What could not be measured.
    pub gaps: Vec<String>,
    /// Gaps beyond those that are kept.
    pub gaps_left_out: u64,
}

/// A control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// 1 or 2.
    pub version: u8,
    /// Its path below the hierarchy's root.
    pub path: String,
    /// The tightest hard limit.
    pub limit: Option<Bytes>,
}

/// Learns it tick by tick.
#[derive(Debug, Clone, Default)]
pub struct BackgroundCheck {
    known: Background,
    cost: Option<(f64, f64)>,
}

impl BackgroundCheck {
    /// Takes the next tick.
    pub fn take(&mut self, tick: &Tick) {
        for event in &tick.events {
            self.apply_event(event);
        }
        let sample = &tick.sample;
        self.known.machine_memory = sample.machine.total.or(self.known.machine_memory);
        if let Some(cgroup) = &sample.cgroup {
            let known = self.known.cgroup.get_or_insert_with(|| Group {
                version: cgroup.version,
                path: cgroup.path.clone(),
                limit: None,
            });
            known.limit = cgroup.limit;
        }
        let cost = (sample.t.0, sample.cost.cpu.0 as f64 / 1e3);
        self.cost = Some(cost);
    }

    /// With what the recording says of itself.
    pub fn finish(mut self, header: Option<Header>, end: Option<End>) -> Background {
        self.known.own_cost_percent = self.cost_percent();
        self.known.end = end;
        if let Some(header) = header {
            match header.target {
                Target::Command(command) => self.known.command = Some(command),
                Target::Attached(pid) => self.known.joined = Some(pid.0),
                Target::System => {}
            }
            self.known.started_unix = Some(header.started_unix);
            self.known.host = header.host;
            self.known.kernel = header.kernel;
            self.known.interval = Some(header.interval);
            self.known.recorder = Some(header.tool);
        }
        self.known
    }

    fn apply_event(&mut self, event: &Event) {
        match event {
            // Damaged lines are reported as a note of the reader.
            Event::Gap(gap) if gap.subject != Subject::Recording => {
                if self.known.gaps.len() < MOST_GAPS {
                    self.known.gaps.push(gap.text.clone());
                } else {
                    self.known.gaps_left_out += 1;
                }
            }
            Event::Software(software) => {
                // The ranks of a job run the same; the first speaks for all, and may learn more.
                let known = self.known.software.as_ref();
                if known.is_none_or(|known| known.process == software.process) {
                    self.known.software = Some(software.clone());
                }
            }
            Event::Appeared(_)
            | Event::Changed(_)
            | Event::Gap(_)
            | Event::Exited(_)
            | Event::Mark(_)
            | Event::Site(_)
            | Event::Allocations(_)
            | Event::Holder(_) => {}
        }
    }

    /// CPU of the recorder over the time that it recorded.
    fn cost_percent(&self) -> Option<f64> {
        self.cost.map(|(t, cpu)| 100.0 * cpu / t.max(1.0))
    }
}
