//! A Prometheus that is none: it answers from closures, and badly where a test asks for that.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the real one allows.
const MOST_POINTS: f64 = 11_000.0;

/// A request of the client.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    pub form: BTreeMap<String, String>,
    pub authorization: Option<String>,
}

/// What is sent back, to the byte.
pub type Reply = Vec<u8>;

type Values = Box<dyn Fn(f64) -> Option<f64> + Send + Sync>;

/// A series: its metric's name, its labels, and its value at a time (seconds since 1970).
pub struct Series {
    pub metric: &'static str,
    pub labels: &'static [(&'static str, &'static str)],
    pub value: Values,
}

/// A server on loopback; it goes on until the test ends.
pub struct Prometheus {
    pub address: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Prometheus {
    /// One that has these series, and answers as the real one does.
    pub fn of(series: Vec<Series>) -> Prometheus {
        Prometheus::answering(move |request, _| answer(request, &series))
    }

    /// One that answers like this; the second argument counts the requests before it.
    pub fn answering(
        reply: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static,
    ) -> Prometheus {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (log, reply) = (Arc::clone(&requests), Arc::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, reply) = (Arc::clone(&log), Arc::clone(&reply));
                thread::spawn(move || serve(&stream.unwrap(), &log, &*reply));
            }
        });
        Prometheus { address, requests }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    stream: &TcpStream,
    requests: &Mutex<Vec<Request>>,
    reply: &dyn Fn(&Request, usize) -> Reply,
) {
    let mut reader = BufReader::new(stream);
    let Some(request) = read(&mut reader) else {
        return;
    };
    let before = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    let _ = (&*stream).write_all(&reply(&request, before));
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let target = line.split(' ').nth(1)?.to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else {
            break;
        };
        match &*name.to_lowercase() {
            "content-length" => length = value.parse().unwrap(),
            "authorization" => authorization = Some(value.to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = format!("{query}&{}", String::from_utf8(body).unwrap());
    let mut form: BTreeMap<String, String> = BTreeMap::new();
    for (key, value) in pairs.split('&').filter_map(|pair| pair.split_once('=')) {
        let values = form.entry(decoded(key)).or_default();
        *values += &(decoded(value)
            + "
");
    }
    // A field that occurs several times has a line for each value.
    form.values_mut()
        .for_each(|values| *values = values.trim_end().to_owned());
    Some(Request {
        path: path.to_owned(),
        form,
        authorization,
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

/// An answer with this status and body, and the time on the server's clock.
pub fn reply(status: &str, kind: &str, date: f64, body: &str) -> Reply {
    let date = jiff::Timestamp::from_second(date as i64).unwrap();
    let date = date.strftime("%a, %d %b %Y %H:%M:%S GMT");
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nDate: {date}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    (head + body).into_bytes()
}

pub fn now() -> f64 {
    jiff::Timestamp::now().as_second() as f64
}

/// An answer of the API.
pub fn success(data: &str) -> Reply {
    let body = format!(r#"{{"status":"success","data":{data}}}"#);
    reply("200 OK", "application/json", now(), &body)
}

/// An error of the API.
pub fn error(status: &str, words: &str) -> Reply {
    let body = format!(r#"{{"status":"error","errorType":"x","error":"{words}"}}"#);
    reply(status, "application/json", now(), &body)
}

/// What the real one would say.
pub fn answer(request: &Request, series: &[Series]) -> Reply {
    let form = |name: &str| request.form.get(name).map_or("", |value| &**value);
    let query = form("query").to_owned() + form("match[]");
    let found: Vec<&Series> = series
        .iter()
        .filter(|series| query.lines().any(|line| selects(line, series)))
        .collect();
    match request.path.strip_prefix("/api/v1/").unwrap() {
        "query" if query.starts_with("count(") && !found.is_empty() => success(&format!(
            r#"{{"resultType":"vector","result":[{{"metric":{{}},"value":[1,"{}"]}}]}}"#,
            found.len()
        )),
        "query" => success(r#"{"resultType":"vector","result":[]}"#),
        "series" => {
            let labels: Vec<String> = found.iter().map(|series| labels(series)).collect();
            success(&format!("[{}]", labels.join(",")))
        }
        "query_range" => {
            let number = |name: &str| form(name).parse::<f64>().unwrap();
            let (start, end, step) = (number("start"), number("end"), number("step"));
            if (end - start) / step + 1.0 > MOST_POINTS {
                return error(
                    "400 Bad Request",
                    "exceeded maximum resolution of 11,000 points per timeseries",
                );
            }
            let all: Vec<String> = found
                .iter()
                .map(|series| range(series, start, end, step))
                .collect();
            success(&format!(
                r#"{{"resultType":"matrix","result":[{}]}}"#,
                all.join(",")
            ))
        }
        path if path.starts_with("label/") => {
            let label = path.split('/').nth(1).unwrap();
            let values: Vec<String> = series
                .iter()
                .filter_map(|series| match label {
                    "__name__" => Some(series.metric),
                    label => series
                        .labels
                        .iter()
                        .find(|(name, _)| *name == label)
                        .map(|(_, value)| *value),
                })
                .map(|value| format!("\"{value}\""))
                .collect();
            success(&format!("[{}]", values.join(",")))
        }
        other => panic!("unexpected request for {other}"),
    }
}

/// By the metric's name, and by the matchers of the job that are in the query.
fn selects(query: &str, series: &Series) -> bool {
    let job = |label: &str| {
        series
            .labels
            .iter()
            .find(|(name, _)| *name == label)
            .map_or("", |(_, value)| *value)
    };
    let matches = |label: &str| {
        let matchers = ["{", ","].map(|before| format!("{before}{label}=\""));
        let value = matchers
            .iter()
            .find_map(|matcher| query.split_once(matcher));
        let value = value.and_then(|(_, rest)| rest.split_once('"'));
        value.is_none_or(|(value, _)| value == job(label))
    };
    query.contains(series.metric) && matches("job") && matches("exported_job")
}

fn labels(series: &Series) -> String {
    let labels: Vec<String> = series
        .labels
        .iter()
        .map(|(name, value)| format!("\"{name}\":\"{value}\""))
        .collect();
    format!("{{{}}}", labels.join(","))
}

fn range(series: &Series, start: f64, end: f64, step: f64) -> String {
    let places = ((end - start) / step).round() as u32;
    let times = (0..=places).map(|place| start + f64::from(place) * step);
    let values: Vec<String> = times
        .filter_map(|time| Some(format!("[{time},\"{}\"]", (series.value)(time)?)))
        .collect();
    format!(
        "{{\"metric\":{},\"values\":[{}]}}",
        labels(series),
        values.join(",")
    )
}
