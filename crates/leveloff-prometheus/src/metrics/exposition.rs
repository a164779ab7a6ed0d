//! The text formats: OpenMetrics, and the classic one of Prometheus.
//!
//! Prometheus asks for OpenMetrics. node_exporter's textfile collector and `promtool check metrics` read the
//! classic format only, which knows neither state sets nor infos and calls a counter by another name.

use std::fmt::{self, Write as _};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

/// A label's name and value.
pub type Label = (&'static str, String);

/// Numbers of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Family {
    /// The name without its unit.
    pub stem: &'static str,
    /// What its numbers count; the end of its name.
    pub unit: Option<&'static str>,
    /// One sentence for processes, without line breaks or backslashes.
    pub help: &'static str,
    /// What kind of number it is.
    pub kind: MetricKind,
    /// The numbers.
    pub points: Vec<Point>,
}

/// A number and whose it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// No two points of a family have the same.
    pub labels: Vec<Label>,
    /// The number.
    pub value: f64,
}

/// What a number does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Goes up and down.
    Gauge,
    /// Goes up.
    Counter,
    /// Is 1 for the state that holds and 0 for the others.
    StateSet,
    /// Is always 1; the labels hold the information.
    Info,
}

/// As OpenMetrics 1.0, whole, with its end.
pub fn openmetrics(families: Vec<Family>) -> String {
    let is_state_set = |family: &&Family| family.kind == MetricKind::StateSet;
    let state_sets = families.iter().filter(is_state_set);
    let state_sets: Vec<&str> = state_sets.map(|family| family.stem).collect();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(families)));
    let mut text = String::new();
    let written = encode(&mut text, &registry);
    written.expect("a string can always be written to");
    // The encoder has no state sets, and they differ from gauges in this one word only. No label can
    // hold such a line: line feeds in them are escaped.
    for stem in state_sets {
        let gauge = format!("# TYPE {stem} gauge\n");
        text = text.replacen(&gauge, &format!("# TYPE {stem} stateset\n"), 1);
    }
    text
}

/// In the classic text format, version 0.0.4.
pub fn classic(families: &[Family]) -> String {
    let mut text = String::new();
    for family in families {
        let (name, kind) = (family.classic_name(), family.kind.classic_name());
        let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {kind}", family.help);
        for point in &family.points {
            let labels = point.labels.iter();
            let labels: Vec<String> = labels
                .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
                .collect();
            let _ = writeln!(text, "{name}{{{}}} {}", labels.join(","), point.value);
        }
    }
    text
}

impl Family {
    fn classic_name(&self) -> String {
        let unit = self
            .unit
            .map_or_else(String::new, |unit| format!("_{unit}"));
        let end = match self.kind {
            MetricKind::Gauge | MetricKind::StateSet => "",
            MetricKind::Counter => "_total",
            MetricKind::Info => "_info",
        };
        format!("{}{unit}{end}", self.stem)
    }

    fn encode(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let unit = self.unit.map(|unit| Unit::Other(unit.to_owned()));
        let kind = self.kind.openmetrics();
        let mut encoder = encoder.encode_descriptor(self.stem, self.help, unit.as_ref(), kind)?;
        for point in &self.points {
            match self.kind {
                MetricKind::Info => encoder.encode_info(&point.labels)?,
                kind => Number(point.value, kind).encode(encoder.encode_family(&point.labels)?)?,
            }
        }
        Ok(())
    }
}

impl MetricKind {
    fn classic_name(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge | MetricKind::StateSet | MetricKind::Info => "gauge",
        }
    }

    fn openmetrics(self) -> MetricType {
        match self {
            MetricKind::Gauge | MetricKind::StateSet => MetricType::Gauge,
            MetricKind::Counter => MetricType::Counter,
            MetricKind::Info => MetricType::Info,
        }
    }
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut families = self.0.iter();
        families.try_for_each(|family| family.encode(&mut encoder))
    }
}

struct Number(f64, MetricKind);

/// Up to here, every whole number is a float.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

impl EncodeMetric for Number {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        match self.1 {
            MetricKind::Counter => encoder.encode_counter::<NoLabelSet, _, f64>(&self.0, None),
            // A number of bytes reads better without a point.
            _ if self.0.fract() == 0.0 && self.0.abs() <= MOST_WHOLE => {
                encoder.encode_gauge(&(self.0 as i64))
            }
            _ => encoder.encode_gauge(&self.0),
        }
    }

    fn metric_type(&self) -> MetricType {
        self.1.openmetrics()
    }
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\");
    value.replace('"', "\\\"").replace('\n', "\\n")
}
