//! `status`: the progress of loading, as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use futures_util::stream;
use serde::Serialize;

use super::{Shared, headers};
use crate::run::Run;

/// Interval at which the progress is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct Status<'a> {
    run: &'a str,
    stage: &'static str,
    done: u32,
    of: u32,
    stopped: bool,
    ready: Ready,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct Ready {
    overview: bool,
    timeline: bool,
    rest: bool,
}

fn event(run: &Run, stopped: bool) -> String {
    let stage = run.stage();
    let status = Status {
        run: &run.id,
        stage: stage.name,
        done: stage.done,
        of: stage.of,
        stopped: stopped && !run.is_settled(),
        ready: Ready {
            overview: run.overview().is_some(),
            // The preview stands in for the timeline until it is removed.
            timeline: run.model.get().is_some() && run.overview().is_none(),
            rest: run.analyses.get().is_some(),
        },
        error: run.failed.get().map(String::as_str),
    };
    // All values are strings or numbers, so serialization can't fail.
    let json = serde_json::to_string(&status).unwrap_or_default();
    format!("data: {json}\n\n")
}

/// Sends an event for every run and every change, until all runs are loaded or have failed.
pub(super) fn stream(shared: Arc<Shared>) -> Response {
    let told: Vec<String> = vec![String::new(); shared.session.runs.len()];
    let events = stream::unfold(
        (shared, told, false),
        |(shared, mut told, over)| async move {
            if over {
                return None;
            }
            loop {
                let over = shared.session.runs.iter().all(Run::is_settled);
                let mut news = String::new();
                for (run, told) in shared.session.runs.iter().zip(&mut told) {
                    let now = event(run, shared.session.is_stopped());
                    if *told != now {
                        news.push_str(&now);
                        *told = now;
                    }
                }
                if over || !news.is_empty() {
                    let bytes = Ok::<_, std::convert::Infallible>(news);
                    return Some((bytes, (shared, told, over)));
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        },
    );
    let mut response = Response::new(Body::from_stream(events));
    let kind = "text/event-stream";
    headers::set(
        response.headers_mut(),
        kind,
        headers::NO_CONTENT_POLICY,
        "no-store",
    );
    response
}
