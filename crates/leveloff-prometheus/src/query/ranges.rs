//! The series of a query over a window, fetched in parts that the server allows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use leveloff_text::number::thousands;

use super::client::Client;
use super::error::QueryError;
use super::response::{Labels, SeriesResponse};
use super::series::Series;
use super::window::{Chunk, Window};

/// Points that are kept at once, of one query: 12 bytes each.
pub const MOST_POINTS: u64 = 12_000_000;

/// What came of fetching.
#[derive(Debug, Default)]
pub struct Ranges {
    /// Every series.
    pub series: BTreeMap<Labels, Series>,
    /// Why it is not all of it.
    pub incomplete: Option<QueryError>,
}

/// Fetches every series of `query`. `on_series` is called for each series that arrives.
///
/// Where an answer stays cut off after all retries, what arrived whole is kept: of one part, the series that came
/// before the cut; of several, the parts after the last one that failed.
pub fn fetch(
    client: &Client,
    query: &str,
    window: &Window,
    on_series: &(dyn Fn() + Sync),
) -> Result<Ranges, QueryError> {
    let chunks = window.chunks();
    let mut ranges = Ranges::default();
    for chunk in &chunks {
        let (arrived, result) = fetch_chunk(client, query, window, chunk, on_series);
        match result {
            Ok(()) => ranges.join(arrived),
            Err(error) if !error.is_temporary() && !matches!(error, QueryError::Slow(_)) => {
                return Err(error);
            }
            Err(error) => {
                ranges = Ranges {
                    series: BTreeMap::new(),
                    incomplete: Some(error),
                };
                if chunks.len() == 1 {
                    ranges.join(arrived);
                }
            }
        }
    }
    match ranges {
        Ranges {
            series,
            incomplete: Some(error),
        } if series.is_empty() => Err(error),
        ranges => Ok(ranges),
    }
}

type Arrived = Vec<(Labels, Series)>;

fn fetch_chunk(
    client: &Client,
    query: &str,
    window: &Window,
    chunk: &Chunk,
    on_series: &(dyn Fn() + Sync),
) -> (Arrived, Result<(), QueryError>) {
    let arrived: RefCell<(Arrived, u64)> = RefCell::default();
    let [start, end, step] =
        [chunk.start, chunk.end, window.step().0].map(|time| format!("{time:.3}"));
    let form = [
        ("query", query),
        ("start", &*start),
        ("end", &*end),
        ("step", &*step),
    ];
    let result = client.ask(
        "query_range",
        &form,
        &mut || *arrived.borrow_mut() = Default::default(),
        &mut |answer: SeriesResponse| {
            let mut arrived = arrived.borrow_mut();
            let mut series = Series::default();
            series.extend(&answer.values, window);
            arrived.1 += series.len() as u64;
            arrived.0.push((answer.metric, series));
            on_series();
            match arrived.1 > MOST_POINTS {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
    );
    let (arrived, points) = arrived.into_inner();
    let result = match result {
        Err(_) if points > MOST_POINTS => Err(too_much(arrived.len() as u64, window)),
        result => result,
    };
    (arrived, result)
}

/// What to say of so many series, or of more.
pub fn too_much(series: u64, window: &Window) -> QueryError {
    let all = series * u64::from(window.places());
    let wider = (all as f64 / MOST_POINTS as f64 * window.step().0 / 60.0)
        .ceil()
        .max(1.0);
    QueryError::TooMuch(format!(
        "{} series of {} points each, or more; at most {} points are kept at once. Narrow it with --job \
         or --query, shorten --since, or take every {wider:.0} min with --step {wider:.0}m",
        thousands(series),
        thousands(u64::from(window.places())),
        thousands(MOST_POINTS),
    ))
}

impl Ranges {
    fn join(&mut self, arrived: Arrived) {
        for (labels, series) in arrived {
            self.series.entry(labels).or_default().append(&series);
        }
    }
}
