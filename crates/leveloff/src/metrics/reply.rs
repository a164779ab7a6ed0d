//! What is answered to a request.

use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::board::Board;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

const POINTER: &str = "leveloff: the metrics are at /metrics\n";

/// The answer to a request, of which only its head is looked at.
pub fn reply<Body>(request: &Request<Body>, board: &Board) -> Response<String> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, POINTER);
        let allowed = HeaderValue::from_static("GET, HEAD");
        answer.headers_mut().insert(ALLOW, allowed);
        return answer;
    }
    match request.uri().path() {
        "/metrics" if prefers_openmetrics(request.headers()) => {
            answer(StatusCode::OK, OPENMETRICS, board.page().openmetrics())
        }
        "/metrics" => answer(StatusCode::OK, CLASSIC, board.page().classic()),
        "/" => plain(StatusCode::OK, POINTER),
        _ => plain(StatusCode::NOT_FOUND, POINTER),
    }
}

/// Whoever does not say that it reads OpenMetrics gets what everything reads.
fn prefers_openmetrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).into_iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.contains("application/openmetrics-text"))
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    answer(status, "text/plain; charset=utf-8", text)
}

fn answer(status: StatusCode, sort: &'static str, text: &str) -> Response<String> {
    let mut answer = Response::new(text.to_owned());
    *answer.status_mut() = status;
    let sort = HeaderValue::from_static(sort);
    answer.headers_mut().insert(CONTENT_TYPE, sort);
    answer
}
