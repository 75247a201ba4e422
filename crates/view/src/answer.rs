//! Parses every request of the page and calls the module that answers it.

use serde::Serialize;

use crate::api_error::ApiError;
use crate::planes::Planes;
use crate::run::Run;
use crate::session::Session;
use crate::timeline::{self, Tile};
use crate::{answers, dag_view, detail, inside};

/// The body of a successful answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// JSON, in UTF-8.
    Json(Vec<u8>),
    /// Binary columns (see [`crate::planes`]).
    Planes(Vec<u8>),
}

impl Reply {
    /// A reply with `value` as JSON.
    ///
    /// # Errors
    /// `value` can't be written as JSON (a defect of this program).
    pub fn json(value: &impl Serialize) -> Result<Reply, ApiError> {
        let json = serde_json::to_vec(value);
        json.map(Reply::Json)
            .map_err(|e| ApiError::new(500, format!("The answer can't be written: {e}.")))
    }

    /// A reply with the columns of `planes`.
    pub fn planes(planes: Planes) -> Reply {
        Reply::Planes(planes.finish())
    }

    /// The bytes of the reply.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Reply::Json(bytes) | Reply::Planes(bytes) => bytes,
        }
    }

    /// The media type of the reply.
    pub fn media_type(&self) -> &'static str {
        match self {
            Reply::Json(_) => "application/json",
            Reply::Planes(_) => "application/octet-stream",
        }
    }
}

/// The first part of every request's path.
const PREFIX: &str = "api/v1/";

/// Maximum length of a request, in bytes: 64 node ids of the DAG with their commas are shorter.
const MAX_REQUEST_BYTES: usize = 8192;

/// Maximum number of node ids in one request for the contents of DAG nodes.
const MAX_NODES: usize = 64;

/// Answers the request `url` (relative, as `requests.ts` writes it; a path begins at `api/`).
///
/// # Errors
/// The text is not a request, its run does not exist or is not yet loaded, or the requested object
/// does not exist.
pub fn answer(session: &Session, url: &str) -> Result<Reply, ApiError> {
    if url.len() > MAX_REQUEST_BYTES {
        return Err(ApiError::new(414, "The request is too long."));
    }
    let request = url
        .strip_prefix(PREFIX)
        .ok_or_else(|| ApiError::not_found("There is no such request."))?;
    let (name, query) = request.split_once('?').unwrap_or((request, ""));
    let query = Query::parse(query)?;
    let run = || session.run(query.text("run")?);
    match name {
        "meta" => answers::meta::answer(session),
        "only" => answers::meta::part(session, run()?),
        "report" => answers::report::answer(run()?),
        "summary" => answers::summary::answer(run()?),
        "profile" => timeline::profile(run()?, query.level_and_index()?).map(Reply::planes),
        "rows" => timeline::rows(run()?, query.level_and_index()?).map(Reply::planes),
        "strands" => timeline::strands(run()?, query.tile(run()?)?).map(Reply::planes),
        "inside" => {
            let run = run()?;
            inside::strands(session, run, query.tile(run)?).map(Reply::planes)
        }
        "arcs" => timeline::arcs(run()?, query.tile(run()?)?).map(Reply::planes),
        "waits" => timeline::waits(run()?, query.tile(run()?)?).map(Reply::planes),
        "path" => {
            let kind = match query.text("kind")? {
                "critical" => timeline::PathKind::Critical,
                "ready" => timeline::PathKind::Ready,
                _ => return Err(ApiError::bad_request("A path is `critical` or `ready`.")),
            };
            timeline::path(run()?, kind, query.tile(run()?)?).map(Reply::planes)
        }
        "critical" => detail::critical(run()?),
        "regions" => detail::regions(run()?),
        "dag" => {
            let ids: Vec<&str> = query.text("ids")?.split(',').collect();
            if ids.len() > MAX_NODES {
                return Err(ApiError::bad_request(format!(
                    "At most {MAX_NODES} nodes can be asked for at once."
                )));
            }
            dag_view::dag(session, run()?, &ids, query.has("sections"))
        }
        "ancestors" => detail::ancestors(run()?, query.number("task")?, query.has("sections")),
        "way" => {
            let at = query.has("at").then(|| query.number("at")).transpose()?;
            let node = query.has("node").then(|| query.text("node")).transpose()?;
            let inside = dag_view::PathTarget::new(at, node)?;
            dag_view::way(
                session,
                run()?,
                query.number("id")?,
                inside,
                query.has("sections"),
            )
        }
        "spawned" => {
            let (row, level, bin) = ("row", "level", "bin");
            let number = |name| query.number(name);
            detail::spawned(run()?, number(row)?, number(level)?, number(bin)?)
        }
        "strand" => detail::strand(run()?, query.number("id")?),
        "inside_strand" => {
            inside::detail(session, run()?, query.number("id")?, query.number("at")?)
        }
        "inside_task" => inside::task(session, run()?, query.text("id")?),
        "task" => detail::task(run()?, query.number("id")?),
        "sites" => answers::sites::answer(session, run()?),
        "flame" => {
            let part = match query.has("t0") {
                true => Some((query.number("t0")?, query.number("t1")?)),
                false => None,
            };
            answers::flame::answer(run()?, query.text("of")?, part, query.has("recursion"))
        }
        "tasks" => {
            let of = match query.has("site") {
                true => answers::tasks::TaskSelection::Site(query.number("site")?),
                false => answers::tasks::TaskSelection::Subtree(query.number("task")?),
            };
            answers::tasks::answer(run()?, of)
        }
        "sql" => answers::sql::answer(run()?, query.text("query")?),
        "queries" => answers::sql::queries(),
        "source" => answers::source::answer(session, run()?, query.text("file")?),
        "scalability" => match query.has("run") {
            true => answers::scalability::of_part(run()?),
            false => answers::scalability::answer(session),
        },
        "compare" => {
            let of = |name: &str| session.run(query.text(name)?);
            answers::compare::answer(of("a")?, of("b")?)
        }
        "whatif" => answers::whatif::answer(run()?, query.text("what")?, query.text("factors")?),
        _ => Err(ApiError::not_found("There is no such request.")),
    }
}

/// The decoded parameters of a request.
struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    fn parse(text: &str) -> Result<Query, ApiError> {
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            pairs.push((decode(name)?, decode(value)?));
        }
        Ok(Query { pairs })
    }

    fn text(&self, name: &str) -> Result<&str, ApiError> {
        let found = self.pairs.iter().find(|(n, _)| n == name);
        found
            .map(|(_, value)| value.as_str())
            .ok_or_else(|| ApiError::bad_request(format!("The request lacks `{name}`.")))
    }

    fn has(&self, name: &str) -> bool {
        self.pairs.iter().any(|(n, _)| n == name)
    }

    fn number<N: std::str::FromStr>(&self, name: &str) -> Result<N, ApiError> {
        let text = self.text(name)?;
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = digits.then(|| text.parse().ok()).flatten();
        number.ok_or_else(|| ApiError::bad_request(format!("`{name}` is not a number in range.")))
    }

    fn tile(&self, run: &Run) -> Result<Tile, ApiError> {
        let (level, index) = self.level_and_index()?;
        Tile::new(run.model()?, level, index)
    }

    fn level_and_index(&self) -> Result<(u32, u64), ApiError> {
        Ok((self.number("level")?, self.number("index")?))
    }
}

/// Decodes percent escapes.
fn decode(text: &str) -> Result<String, ApiError> {
    let wrong = || ApiError::bad_request("The request has a broken escape.");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            let digit = rest.next().and_then(|b| char::from(b).to_digit(16));
            digit.map(|d| d as u8).ok_or_else(wrong)
        };
        bytes.push(digit()? << 4 | digit()?);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}
