//! A small reader of process CSV files, for tests: a row for each process and sample.

use std::collections::HashMap;

use leveloff_classifier::observation::{Observation, ProcessShare};
use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds};

/// The observations of a trace, its teardown included.
pub fn observations(csv: &str) -> Vec<Observation> {
    let mut lines = csv.lines();
    let columns: HashMap<&str, usize> = lines
        .next()
        .map(|header| {
            header
                .split(',')
                .enumerate()
                .map(|(i, name)| (name, i))
                .collect()
        })
        .unwrap_or_default();
    let mut observations: Vec<Observation> = Vec::new();
    let mut indices: HashMap<i32, u32> = HashMap::new();
    for line in lines {
        let row = Row {
            columns: &columns,
            fields: line.split(',').collect(),
        };
        let Some(t) = row.number("t_s") else { continue };
        if observations.last().and_then(|o| o.t) != Some(Seconds(t)) {
            observations.push(row.moment(t));
        }
        if let Some(observation) = observations.last_mut() {
            row.add_process(observation, &mut indices);
        }
    }
    observations
}

struct Row<'a> {
    columns: &'a HashMap<&'a str, usize>,
    fields: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, column: &str) -> Option<&str> {
        let field = self.fields.get(*self.columns.get(column)?)?;
        (!field.is_empty()).then_some(*field)
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.text(column)?.parse().ok()
    }

    fn bytes(&self, column: &str) -> Option<Bytes> {
        self.text(column)?.parse().ok().map(Bytes)
    }

    fn moment(&self, t: f64) -> Observation {
        Observation {
            t: Some(Seconds(t)),
            devshm: self.bytes("devshm_bytes"),
            ..Observation::default()
        }
    }

    fn add_process(&self, observation: &mut Observation, indices: &mut HashMap<i32, u32>) {
        let Some(pid) = self.text("pid").and_then(|pid| pid.parse().ok()) else {
            return;
        };
        let next = indices.len() as u32;
        let shared = self.bytes("pss_shmem_bytes").unwrap_or_default();
        let swapped = self.bytes("swap_bytes").unwrap_or_default();
        let memory = self.bytes("pss_anon_bytes").unwrap_or_default() + shared + swapped;
        let rss = self.bytes("rss_bytes").unwrap_or_default();
        observation.count = observation.count.or(self.number("step"));
        if let Some(tensors) = self.number("tensors") {
            observation
                .counters
                .set(TrainingCounter::Tensors, tensors as u64);
        }
        observation.memory += memory;
        observation.rss_sum = Some(observation.rss_sum.unwrap_or_default() + rss);
        observation.processes.push(ProcessShare {
            index: ProcessIndex(*indices.entry(pid).or_insert(next)),
            pid: Pid(pid),
            role: self.role(),
            rank: None,
            memory,
            shared,
            swapped,
            rss,
            private: None,
            gpu: None,
            cpu: None,
            fds: self.number("fds").map(|fds| fds as u32),
            is_read: true,
            estimated: Bytes::ZERO,
        });
    }

    fn role(&self) -> Role {
        let name = self.text("role").unwrap_or("other");
        let known = Role::ALL.into_iter().find(|role| role.name() == name);
        known.unwrap_or(Role::Other)
    }
}
