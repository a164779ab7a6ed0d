//! The response to a request.

use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};

use super::latest::Latest;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";

const POINTER: &str = "leveloff: the metrics are at /metrics\n";

/// The response to a request, by its head alone.
pub fn respond<Body>(request: &Request<Body>, latest: &Latest) -> Response<String> {
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, POINTER);
        let allowed = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(ALLOW, allowed);
        return response;
    }
    match request.uri().path() {
        "/metrics" if prefers_openmetrics(request.headers()) => {
            respond_with(StatusCode::OK, OPENMETRICS, latest.page().openmetrics())
        }
        "/metrics" => respond_with(StatusCode::OK, CLASSIC, latest.page().classic()),
        "/" => plain(StatusCode::OK, POINTER),
        _ => plain(StatusCode::NOT_FOUND, POINTER),
    }
}

/// A client that does not ask for OpenMetrics gets the format that every client reads.
fn prefers_openmetrics(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).into_iter();
    let mut accepted = accepted.filter_map(|value| value.to_str().ok());
    accepted.any(|value| value.contains("application/openmetrics-text"))
}

fn plain(status: StatusCode, text: &str) -> Response<String> {
    respond_with(status, "text/plain; charset=utf-8", text)
}

fn respond_with(status: StatusCode, kind: &'static str, text: &str) -> Response<String> {
    let mut response = Response::new(text.to_owned());
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
