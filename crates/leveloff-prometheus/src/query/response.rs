//! What Prometheus answers, read as it arrives: one series is held at a time, however many there are.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::ops::ControlFlow;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The labels of a series.
pub type Labels = BTreeMap<String, String>;

/// One item of an answer: a series with its samples, or the labels of one.
pub trait Item: for<'de> Deserialize<'de> {}

/// A series of a range, with its samples in the order of time.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct SeriesResponse {
    /// Which series.
    #[serde(default)]
    pub metric: Labels,
    /// Its samples. Native histograms have none.
    #[serde(default)]
    pub values: Vec<Sample>,
    /// Its only sample, of an instant.
    #[serde(default)]
    pub value: Option<Sample>,
}

/// When, in seconds since 1970, and what; what is no number is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Sample(pub f64, #[serde(deserialize_with = "number")] pub f64);

impl Item for SeriesResponse {}
impl Item for Labels {}
impl Item for String {}

/// What stood around the items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Envelope {
    /// What went wrong, in the server's words.
    pub error: Option<String>,
    /// What the server is not sure of: a store that did not answer, a query that looks wrong.
    pub warnings: Vec<String>,
}

/// Reads an answer; `take` gets one item after the other, and may have enough.
pub fn read<I: Item>(
    reader: impl Read,
    take: &mut dyn FnMut(I) -> ControlFlow<()>,
) -> Result<Envelope, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_reader(reader);
    let envelope = deserializer.deserialize_map(Outside { take })?;
    deserializer.end()?;
    Ok(envelope)
}

/// `{"status": …, "data": …, "warnings": […]}`
struct Outside<'t, I> {
    take: &'t mut dyn FnMut(I) -> ControlFlow<()>,
}

impl<'de, I: Item> Visitor<'de> for Outside<'_, I> {
    type Value = Envelope;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an answer of Prometheus")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope, A::Error> {
        let mut envelope = Envelope::default();
        let mut status = String::new();
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "status" => status = map.next_value()?,
                "error" => envelope.error = Some(map.next_value()?),
                "warnings" => {
                    envelope.warnings = map.next_value::<Option<_>>()?.unwrap_or_default();
                }
                "data" => map.next_value_seed(Data { take: self.take })?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        match &*status {
            "success" => Ok(envelope),
            "error" => Ok(Envelope {
                error: Some(envelope.error.unwrap_or_default()),
                ..envelope
            }),
            _ => Err(A::Error::custom("it has no status")),
        }
    }
}

/// The items, or an object that has them as its `result`.
struct Data<'t, I> {
    take: &'t mut dyn FnMut(I) -> ControlFlow<()>,
}

impl<'de, I: Item> DeserializeSeed<'de> for Data<'_, I> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, I: Item> Visitor<'de> for Data<'_, I> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("series")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "result" => map.next_value_seed(Data { take: self.take })?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            if (self.take)(item).is_break() {
                return Err(A::Error::custom(ENOUGH));
            }
        }
        Ok(())
    }
}

/// How reading ends when the caller has enough.
const ENOUGH: &str = "enough";

/// Numbers are written as text, since JSON has no NaN.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    struct Number;
    impl Visitor<'_> for Number {
        type Value = f64;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number in quotes")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<f64, E> {
            Ok(text.parse().unwrap_or(f64::NAN))
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<f64, E> {
            Ok(number)
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<f64, E> {
            Ok(number as f64)
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<f64, E> {
            Ok(number as f64)
        }
    }
    deserializer.deserialize_any(Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<I: Item>(text: &str) -> Result<(Vec<I>, Envelope), serde_json::Error> {
        let mut items = Vec::new();
        let envelope = read(text.as_bytes(), &mut |item| {
            items.push(item);
            ControlFlow::Continue(())
        })?;
        Ok((items, envelope))
    }

    #[test]
    fn a_range_is_read_series_by_series() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"rank":"0"},"values":[[1.5,"12"],[16.5,"NaN"],[31.5,"+Inf"]]},
            {"metric":{"rank":"1"},"histograms":[[1,{"count":"1"}]]}]},"infos":["x"]}"#;
        let (series, envelope) = all::<SeriesResponse>(text).unwrap();
        assert_eq!(envelope, Envelope::default());
        assert_eq!(series[0].metric["rank"], "0");
        assert_eq!(series[0].values[0], Sample(1.5, 12.0));
        assert!(series[0].values[1].1.is_nan() && series[0].values[2].1.is_infinite());
        assert!(series[1].values.is_empty());
    }

    #[test]
    fn labels_and_their_values_are_lists() {
        let (labels, _) =
            all::<Labels>(r#"{"status":"success","data":[{"job":"a"},{"job":"b"}]}"#).unwrap();
        assert_eq!(labels[1]["job"], "b");
        let (none, _) = all::<String>(r#"{"status":"success","data":null}"#).unwrap();
        assert!(none.is_empty());
    }

    #[test]
    fn errors_and_warnings_are_the_servers_own_words() {
        let text = r#"{"status":"error","errorType":"bad_data","error":"parse error"}"#;
        let (_, envelope) = all::<String>(text).unwrap();
        assert_eq!(envelope.error.as_deref(), Some("parse error"));
        let text = r#"{"status":"success","data":[],"warnings":["store is gone"]}"#;
        assert_eq!(all::<String>(text).unwrap().1.warnings, ["store is gone"]);
    }

    #[test]
    fn what_is_incomplete_ends_early_and_what_is_something_else_is_no_answer() {
        let incomplete =
            r#"{"status":"success","data":{"result":[{"metric":{},"values":[[1,"2"],[3,"#;
        assert!(all::<SeriesResponse>(incomplete).unwrap_err().is_eof());
        for other in ["[]", "{}", "\"hello\"", "<html>", r#"{"status":"ok"}"#] {
            assert!(all::<SeriesResponse>(other).is_err(), "{other}");
        }
    }
}
