//! Turns a request into a response.

use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{ALLOW, ETAG, IF_NONE_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;

use super::{Shared, headers, status, token};
use crate::answer::{Reply, answer};
use crate::api_error::ApiError;
use crate::page;
use crate::session::Session;

/// Browsers must not store any data of a run on the disk.
const NO_STORE: &str = "no-store";
/// Browsers may keep the answer, but must revalidate it by its entity tag at each request.
const REVALIDATE: &str = "private, no-cache";

/// Answers a request of any kind.
pub(super) async fn respond(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    if !headers::host_is_here(request.headers()) {
        let why = "This server answers on this machine's own names only (127.0.0.1, localhost).";
        return failed(&ApiError::new(403, why));
    }
    let asks = request.method() == Method::GET || request.method() == Method::HEAD;
    if !asks && request.method() != Method::POST {
        return not_allowed("GET, HEAD, POST");
    }
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path.as_str(), None),
    };
    if !token::same(first, &shared.token) {
        let why = "There is nothing here without the key that is part of the address.";
        let remedy = "Use the whole address that `workspan view` printed.";
        return failed(&ApiError::not_found(why).remedy(remedy));
    }
    if !asks {
        return match rest {
            Some("api/v1/stop") => told(&shared, Session::stop),
            Some("api/v1/go") => told(&shared, Session::go),
            _ => not_allowed("GET, HEAD"),
        };
    }
    match rest {
        None => moved(&shared.token),
        Some("" | "index.html") => the_page(),
        Some("api/v1/status") => status::stream(shared),
        Some(name) => {
            let url = match request.uri().query() {
                Some(query) => format!("{name}?{query}"),
                None => name.to_owned(),
            };
            let asked = request.headers().get(IF_NONE_MATCH).cloned();
            api(shared, url, asked).await
        }
    }
}

/// Applies a notification of a page; the response has no content.
fn told(shared: &Shared, what: impl Fn(&Session)) -> Response {
    what(&shared.session);
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    plain(response.headers_mut());
    response
}

fn not_allowed(allowed: &'static str) -> Response {
    let why = "Only GET is answered here, and POST where a page stops loading.";
    let mut response = failed(&ApiError::new(405, why));
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(ALLOW, allowed);
    response
}

async fn api(shared: Arc<Shared>, url: String, asked: Option<HeaderValue>) -> Response {
    // Computing an answer takes time, so it must not block the threads that serve connections.
    let answered = tokio::task::spawn_blocking(move || answer(&shared.session, &url)).await;
    let reply = match answered {
        Ok(Ok(reply)) => reply,
        Ok(Err(failure)) => return failed(&failure),
        Err(_) => {
            let what = "The answer could not be made: this is a defect of workspan.";
            return failed(&ApiError::new(500, what));
        }
    };
    let mark = mark(&reply);
    let mut response = if asked.is_some_and(|asked| knows(&asked, &mark)) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        Response::new(Body::from(reply.bytes().to_vec()))
    };
    let head = response.headers_mut();
    headers::set(
        head,
        reply.media_type(),
        headers::NO_CONTENT_POLICY,
        REVALIDATE,
    );
    if let Ok(mark) = HeaderValue::from_str(&mark) {
        head.insert(ETAG, mark);
    }
    response
}

/// A weak entity tag, as the transmitted bytes may be compressed.
fn mark(reply: &Reply) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(reply.bytes());
    format!("W/\"{:016x}-{}\"", hasher.finish(), reply.bytes().len())
}

fn knows(asked: &HeaderValue, mark: &str) -> bool {
    let asked = asked.to_str().unwrap_or_default();
    asked.split(',').any(|one| one.trim() == mark)
}

fn the_page() -> Response {
    let Ok(nonce) = token::random() else {
        return failed(&ApiError::new(500, "The system has no random numbers."));
    };
    let html = page::with_nonce(page::page(), &nonce);
    let mut response = Response::new(Body::from(html));
    let (kind, policy) = ("text/html; charset=utf-8", headers::policy(&nonce));
    headers::set(response.headers_mut(), kind, &policy, NO_STORE);
    response
}

fn moved(token: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    plain(response.headers_mut());
    if let Ok(to) = HeaderValue::from_str(&format!("/{token}/")) {
        response.headers_mut().insert(LOCATION, to);
    }
    response
}

fn failed(failure: &ApiError) -> Response {
    let mut response = Response::new(Body::from(failure.body()));
    *response.status_mut() =
        StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    plain(response.headers_mut());
    response
}

fn plain(head: &mut HeaderMap) {
    headers::set(
        head,
        "application/json",
        headers::NO_CONTENT_POLICY,
        NO_STORE,
    );
}
