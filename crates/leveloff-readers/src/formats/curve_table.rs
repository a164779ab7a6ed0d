//! A table with an x and a memory: one row is one observation.

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::progress::Phase;
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::Seconds;

use super::Format;
use crate::clock::Timeline;
use crate::columns::{ColumnChoice, Columns};
use crate::counter_columns::CounterColumns;
use crate::error::Result;
use crate::lines::Lines;
use crate::number::{number, with_decimal_comma, with_thousands};
use crate::observation_sink::ObservationSink;
use crate::size_unit::{SizeUnit, amount_with_unit};
use crate::table::{Dialect, Fields, Row, Table, is_blank_or_comment};

/// A column of swapped-out memory, which the column of memory leaves out: the two are added.
pub const SWAP_BESIDE_PSS: &str = "swap_beside_pss_kib";

/// How the rows are read.
#[derive(Debug)]
pub struct CurveTable {
    name: &'static str,
    /// Which column is what.
    pub columns: Columns,
    dialect: Dialect,
    has_header: bool,
    extras: Extras,
}

/// Columns beside x and y, by the names of leveloff's own export.
#[derive(Debug, Default)]
struct Extras {
    epoch: Option<usize>,
    phase: Option<usize>,
    counters: CounterColumns,
    devshm: Option<usize>,
    rss: Option<usize>,
    ceiling: Option<(usize, usize)>,
    cgroup_limit: Option<usize>,
    swap_kib: Option<usize>,
}

impl CurveTable {
    /// Chooses the columns of a table; `name` is the format that the user sees.
    pub fn of(name: &'static str, table: &Table, choice: &ColumnChoice) -> Result<CurveTable> {
        let columns = Columns::choose(table, choice)?;
        Ok(CurveTable {
            name,
            extras: Extras::of(table, &columns),
            columns,
            dialect: table.dialect.clone(),
            has_header: table.has_header,
        })
    }

    fn fill(
        &self,
        observation: &mut Observation,
        fields: Fields<'_>,
        timeline: &mut Timeline,
        sink: &mut ObservationSink<'_>,
    ) -> bool {
        let left_out = &mut sink.left_out;
        let Some(cell) = fields.get(self.columns.memory) else {
            left_out.short += 1;
            return false;
        };
        let Some((value, unit)) = self.amount(cell) else {
            left_out.no_memory += 1;
            return false;
        };
        let Some(memory) = unit.bytes(value) else {
            *(if value.is_nan() {
                &mut left_out.no_memory
            } else {
                &mut left_out.impossible
            }) += 1;
            return false;
        };
        observation.memory = memory;
        observation.count = self.columns.count.and_then(|n| self.value(fields.get(n)?));
        observation.t = self.columns.time.and_then(|(n, clock)| {
            let time = clock.read(fields.get(n)?)?;
            Some(Seconds(timeline.seconds(time)))
        });
        self.extras.fill(observation, fields);
        let has_x = observation.count.is_some() || observation.t.is_some();
        let needs_x = self.columns.count.is_some() || self.columns.time.is_some();
        left_out.no_x += u64::from(needs_x && !has_x);
        has_x || !needs_x
    }

    fn amount(&self, cell: &[u8]) -> Option<(f64, SizeUnit)> {
        match self.columns.memory_unit {
            Some(unit) => match self.value(cell) {
                Some(value) => Some((value, unit)),
                None => amount_with_unit(cell),
            },
            None => amount_with_unit(cell),
        }
    }

    fn value(&self, cell: &[u8]) -> Option<f64> {
        number(cell).or_else(|| {
            if self.dialect.allows_decimal_comma() {
                with_decimal_comma(cell)
            } else {
                with_thousands(cell)
            }
        })
    }
}

impl Format for CurveTable {
    fn name(&self) -> &'static str {
        self.name
    }

    fn x_unit(&self) -> XUnit {
        self.columns.unit
    }

    fn points(&self) -> &'static str {
        "rows"
    }

    fn notes(&self) -> Vec<String> {
        self.columns.notes.clone()
    }

    fn read(&self, lines: &mut Lines, sink: &mut ObservationSink<'_>) -> Result<()> {
        let mut row = Row::default();
        let mut timeline = Timeline::default();
        let mut observation = Observation::default();
        let mut is_header = self.has_header;
        let mut rows = 0_u64;
        while let Some(line) = lines.next_line()? {
            if is_blank_or_comment(line) || std::mem::take(&mut is_header) {
                continue;
            }
            rows += 1;
            let fields = self.dialect.split(line, &mut row);
            if self.fill(&mut observation, fields, &mut timeline, sink) {
                if self.columns.count.is_none() && self.columns.time.is_none() {
                    observation.count = Some(rows as f64);
                }
                sink.offer(&mut observation);
            }
        }
        Ok(())
    }
}

impl Extras {
    fn of(table: &Table, columns: &Columns) -> Extras {
        let is_taken = |n: usize| Some(n) == columns.count || n == columns.memory;
        let find = |plain: &str| {
            let found = table.names.iter().position(|name| name.plain == plain);
            found.filter(|n| !is_taken(*n))
        };
        Extras {
            epoch: find("epoch"),
            phase: find("phase"),
            counters: CounterColumns::of(table, is_taken),
            devshm: find("devshm_bytes"),
            rss: find("rss_bytes").filter(|_| table.names[columns.memory].plain == "memory_bytes"),
            ceiling: find("ceiling_bytes").zip(find("ceiling_used_bytes")),
            cgroup_limit: find("cgroup_limit_bytes"),
            swap_kib: find(SWAP_BESIDE_PSS),
        }
    }

    fn fill(&self, observation: &mut Observation, fields: Fields<'_>) {
        let value = |column: Option<usize>| number(fields.get(column?)?);
        let bytes = |column: Option<usize>| SizeUnit::B.bytes(value(column)?);
        observation.epoch = value(self.epoch).filter(|epoch| epoch.is_finite());
        observation.counters = self.counters.read(fields);
        observation.devshm = bytes(self.devshm);
        observation.rss_sum = bytes(self.rss);
        if let Some(column) = self.phase {
            let word = fields.get(column).map_or(&b""[..], <[u8]>::trim_ascii);
            set_phase(&mut observation.phase, word);
        }
        if let Some(swap) = value(self.swap_kib).and_then(|swap| SizeUnit::KiB.bytes(swap)) {
            observation.memory += swap;
        }
        observation.ceiling = self.ceiling.and_then(|(limit, used)| {
            let limit = bytes(Some(limit))?;
            let is_cgroup = bytes(self.cgroup_limit) == Some(limit);
            Some(Ceiling {
                kind: if is_cgroup {
                    CeilingKind::Cgroup
                } else {
                    CeilingKind::Host
                },
                limit,
                used: bytes(Some(used))?,
            })
        });
    }
}

/// A phase lasts for many rows, so a new word is made only for a new one.
fn set_phase(phase: &mut Option<Phase>, word: &[u8]) {
    let is_same = phase
        .as_ref()
        .is_some_and(|phase| phase.name().as_bytes() == word);
    if !is_same {
        let word = String::from_utf8_lossy(word).into_owned();
        *phase = (!word.is_empty()).then(|| Phase::from(word));
    }
}
