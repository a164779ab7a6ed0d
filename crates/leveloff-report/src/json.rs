//! JSON for programs: keys keep their order, what is not known is null, and a whole number has no
//! fraction.

use serde::Serialize;
use serde_json::{Map, Value};

/// An object with these keys, in this order.
macro_rules! object {
    ($($key:ident: $value:expr),* $(,)?) => {
        crate::json::from_pairs([$((stringify!($key), crate::json::value(&$value))),*])
    };
}
pub(crate) use object;

/// An object from keys and values.
pub(crate) fn from_pairs<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    Value::Object(pairs.collect())
}

/// Anything as JSON.
pub(crate) fn value(value: impl Serialize) -> Value {
    let value = serde_json::to_value(value).expect("reports have no keys but text");
    whole_without_fraction(value)
}

/// One object with the keys of all these.
pub(crate) fn merged<const N: usize>(objects: [Value; N]) -> Value {
    let mut all = Map::new();
    for object in objects {
        if let Value::Object(mut object) = object {
            all.append(&mut object);
        }
    }
    Value::Object(all)
}

/// One object for each of the items.
pub(crate) fn list<T>(items: impl IntoIterator<Item = T>, row: impl Fn(T) -> Value) -> Value {
    Value::Array(items.into_iter().map(row).collect())
}

/// A number that is drawn: to the thousandth.
pub(crate) fn to_thousandth(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn whole_without_fraction(value: Value) -> Value {
    /// Whole numbers up to here are exact in a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(n) if n.fract() == 0.0 && n.abs() < EXACT => Value::from(n as i64),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_without_fraction).collect(),
        Value::Object(object) => {
            let pairs = object.into_iter();
            pairs
                .map(|(key, value)| (key, whole_without_fraction(value)))
                .collect()
        }
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_one_would_write_them() {
        let row = object! {
            whole: 3.0,
            fraction: vec![0.5, -2.0],
            missing: f64::NAN,
            unknown: None::<u32>,
        };
        let expected = r#"{"whole":3,"fraction":[0.5,-2],"missing":null,"unknown":null}"#;
        assert_eq!(row.to_string(), expected);
    }

    #[test]
    fn merged_objects_keep_their_order() {
        let row = merged([object! { b: 1 }, object! { a: "x" }]);
        assert_eq!(row.to_string(), r#"{"b":1,"a":"x"}"#);
    }
}
