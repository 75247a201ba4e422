//! Sends a plan to a Ballista cluster, whose executors read the files.
//!
//! The query is planned here, over the files that this process found to be intact, so the same
//! files are read as without a cluster. The plan goes to the scheduler, which splits it into stages
//! for its executors. They read the files by the same names as this process.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{anyhow, bail};
use ballista_core::BALLISTA_VERSION;
use ballista_core::execution_plans::execute_physical_plan;
use ballista_core::extension::SessionConfigExt;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::StreamExt;
use futures::future::{Either, select};
use tokio::time::{Instant, timeout_at};
use url::Url;

use super::{NoAnswer, PlanOutcome};
use crate::root::Root;

/// The port of a scheduler if its address has none.
const PORT: u16 = 50050;
/// Maximum time for a scheduler to answer the readiness request.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);
/// Maximum number of bytes read of an answer: a list of executors may be long.
const ANSWER_BYTES: u64 = 4 << 20;
/// An executor that the scheduler has not heard of for so long may be gone. Idle ones report once a
/// minute by default.
const SILENT_FOR: Duration = Duration::from_secs(90);
/// Maximum size of a message that this process sends or receives. Scheduler and executors have
/// limits of their own.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// Time between two looks at the number of executors.
const COUNT_INTERVAL: Duration = Duration::from_secs(2);

/// A cluster, given by the address of its scheduler.
#[derive(Debug, Clone)]
pub struct Cluster {
    host: String,
    port: u16,
    timeout: Duration,
}

impl Cluster {
    /// The cluster of the scheduler at `address`, such as `df://host:50050`, for a lake at `root`.
    /// A query fails if it has no answer within `timeout`.
    ///
    /// # Errors
    /// The address is wrong, the scheduler does not answer or has no executors, or the executors
    /// cannot read such a lake.
    pub fn open(address: &str, root: &Root, timeout: Duration) -> anyhow::Result<Cluster> {
        let url = Url::parse(address).ok().filter(|url| url.scheme() == "df");
        let host = url
            .as_ref()
            .and_then(Url::host_str)
            .filter(|host| !host.is_empty());
        let (Some(url), Some(host)) = (&url, host) else {
            bail!(
                "--cluster {address}: expected the address of a scheduler, as df://localhost:50050"
            );
        };
        if !matches!(root.top.scheme(), "file" | "s3") {
            bail!(
                "{}: executors of Ballista read folders and s3:// alone; without --cluster this process reads it",
                root.name
            );
        }
        let cluster = Cluster {
            host: host.to_owned(),
            port: url.port().unwrap_or(PORT),
            timeout,
        };
        cluster.must_be_ready()?;
        Ok(cluster)
    }

    /// Asks the scheduler whether it has executors. A query to a scheduler without executors would
    /// wait until there are some.
    fn must_be_ready(&self) -> anyhow::Result<()> {
        // The error becomes text, so that a closed connection is not mistaken for closed stdout.
        let answer = self.asked("/readyz").map_err(|error| {
            anyhow!(
                "df://{}:{}: no scheduler answers there ({error}); `ballista-scheduler --bind-port {}` starts one",
                self.host,
                self.port,
                self.port
            )
        })?;
        match answer.split_whitespace().nth(1) {
            Some("503") => bail!(
                "df://{}:{}: the scheduler has no executors; `ballista-executor --scheduler-host {} --scheduler-port {}` starts one",
                self.host,
                self.port,
                self.host,
                self.port
            ),
            Some(_) if answer.starts_with("HTTP/") => Ok(()),
            _ => bail!(
                "df://{}:{}: what answers there is not a scheduler of Ballista",
                self.host,
                self.port
            ),
        }
    }

    /// The first bytes of the scheduler's answer to an HTTP request.
    fn asked(&self, path: &str) -> std::io::Result<String> {
        let host = self.host.trim_matches(['[', ']']);
        let mut failed = std::io::Error::other("the host has no address");
        for address in (host, self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, ANSWERS_WITHIN) {
                Ok(stream) => return answer(stream, host, path),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    /// The settings for plans that run in a cluster.
    pub fn settings() -> SessionConfig {
        SessionConfig::new_with_ballista()
            .with_ballista_grpc_client_max_message_size(MAX_MESSAGE_BYTES)
    }

    /// Executes `plan` in the cluster. An executor that is lost without a sign answers nothing, so
    /// the whole answer has to be there within the cluster's timeout.
    ///
    /// # Errors
    /// The plan cannot be sent, its execution fails, or there is no answer in time. The stream
    /// fails if the rest of the answer does not come in time.
    pub async fn execute(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        context: &SessionContext,
    ) -> datafusion::error::Result<PlanOutcome> {
        let deadline = Instant::now() + self.timeout;
        let before = self.executors();
        let answer = std::pin::pin!(timeout_at(deadline, self.send(plan, context)));
        let loss = std::pin::pin!(self.loss(before));
        let stream = match select(answer, loss).await {
            Either::Left((answer, _)) => answer.map_err(|_| self.no_answer())??,
            Either::Right(_) => return Ok(PlanOutcome::LostExecutor),
        };
        if self.executors() < before {
            return Ok(PlanOutcome::LostExecutor);
        }
        let schema = stream.schema();
        let cluster = self.clone();
        let bounded = futures::stream::unfold(Some(stream), move |rest| {
            let cluster = cluster.clone();
            async move {
                let mut stream = rest?;
                match timeout_at(deadline, stream.next()).await {
                    Ok(Some(batch)) => Some((batch, Some(stream))),
                    Ok(None) => None,
                    Err(_) => Some((Err(cluster.no_answer()), None)),
                }
            }
        });
        let bounded = RecordBatchStreamAdapter::new(schema, bounded);
        Ok(PlanOutcome::Answer(Box::pin(bounded)))
    }

    /// Ends when the scheduler counts fewer executors than before. The others may then wait for the
    /// lost one's data for ever: their connections to each other have no time limit in Ballista
    /// 55.0.0.
    async fn loss(&self, before: Option<usize>) {
        loop {
            tokio::time::sleep(COUNT_INTERVAL).await;
            let cluster = self.clone();
            let now = tokio::task::spawn_blocking(move || cluster.executors()).await;
            // A scheduler that does not answer is another failure, which the query tells.
            if let Ok(Some(now)) = now
                && Some(now) < before
            {
                return;
            }
        }
    }

    async fn send(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        context: &SessionContext,
    ) -> datafusion::error::Result<SendableRecordBatchStream> {
        let config = context.copied_config();
        let codec = config.ballista_physical_extension_codec();
        execute_physical_plan::<PhysicalPlanNode>(
            format!("http://{}:{}", self.host, self.port),
            &config.ballista_config(),
            plan,
            codec.as_ref(),
            context.session_id(),
            config,
        )
        .await
    }

    /// The error for an answer that does not come in time, with the executors that may be the
    /// reason.
    fn no_answer(&self) -> DataFusionError {
        let silent = match self.asked("/api/executors") {
            Ok(answer) => silent_executors(&answer, unix_ms()),
            Err(_) => Vec::new(),
        };
        let who = match (&silent[..], self.executors()) {
            ([], None) => "the scheduler does not answer either".to_owned(),
            ([], Some(n)) => format!(
                "the scheduler counts {n} executors. One that was stopped, or whose host is gone, counts until the scheduler's \
                --executor-timeout-seconds (180) have passed; others that wait for its data may wait for ever. End the executors, \
                start them again, and ask again"
            ),
            (silent, _) => format!(
                "nothing was heard of {}: end that program, start it again, and ask again; the scheduler gives such an executor \
                up after --executor-timeout-seconds (180)",
                silent.join(" and ")
            ),
        };
        let text = format!(
            "no answer from df://{}:{} within {} s: {who}; --timeout sets the time",
            self.host,
            self.port,
            self.timeout.as_secs()
        );
        DataFusionError::External(Box::new(NoAnswer(text)))
    }

    /// The number of executors that the scheduler reports, if it does.
    fn executors(&self) -> Option<usize> {
        let answer = self.asked("/readyz").ok()?;
        let told = answer.split("ready: ").nth(1)?;
        told.split([' ', '/']).next()?.parse().ok()
    }

    /// A remedy for a failure, if its text is known.
    pub fn remedy(text: &str, root: &Root) -> Option<String> {
        let has = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        if has(&["cannot be used with"]) {
            return Some(format!(
                "this workspan-lake needs `cargo install ballista-scheduler ballista-executor --version {BALLISTA_VERSION} --locked`"
            ));
        }
        if has(&["No such file or directory", "NotFound", "Permission denied"]) {
            return Some(format!(
                "executors read the files themselves: {} must be there under the same path on each of them",
                root.name
            ));
        }
        if has(&["message length too large", "too large: found"]) {
            return Some(
                "the query reads more files than fit into one message: start the scheduler and the executors with a larger \
                --grpc-server-max-decoding-message-size, or ask for fewer days"
                    .to_owned(),
            );
        }
        if has(&["Resources exhausted"]) {
            return Some(
                "the executors' memory is set by `ballista-executor --memory-pool-size`".to_owned(),
            );
        }
        if has(&[
            "Stream closed without",
            "transport error",
            "error trying to connect",
            "h2 protocol error",
        ]) {
            return Some("the scheduler or an executor went away: ask again".to_owned());
        }
        None
    }
}

fn unix_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_millis() as u64)
}

/// The executors in the answer of a scheduler with a REST server that it has not heard of for long:
/// `executor 127.0.0.1:50051, last seen 95 s ago`.
fn silent_executors(answer: &str, now_ms: u64) -> Vec<String> {
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let all: Vec<serde_json::Value> = serde_json::from_str(body).unwrap_or_default();
    let silent = all.iter().filter_map(|executor| {
        let seen = executor["last_seen"].as_u64()?;
        let silent = Duration::from_millis(now_ms.saturating_sub(seen));
        let (host, port) = (executor["host"].as_str()?, executor["port"].as_u64()?);
        (silent >= SILENT_FOR).then(|| {
            let seconds = silent.as_secs();
            format!("executor {host}:{port}, last seen {seconds} s ago")
        })
    });
    silent.collect()
}

/// The first bytes of an HTTP answer. If the connection fails, the bytes received before are
/// returned.
fn answer(mut stream: TcpStream, host: &str, path: &str) -> std::io::Result<String> {
    stream.set_read_timeout(Some(ANSWERS_WITHIN))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let asked = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let read = stream.take(ANSWER_BYTES).read_to_end(&mut answer);
    if answer.is_empty() {
        asked.and(read)?;
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executors_of_which_nothing_is_heard_are_named() {
        let body = r#"[{"id":"a","host":"n1","port":50051,"last_seen":1000000,"metrics":[]},
            {"id":"b","host":"n2","port":50051,"last_seen":1094000},
            {"id":"c","host":"n3","port":50051,"last_seen":null}]"#;
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{body}");
        let named = silent_executors(&answer, 1_095_500);
        assert_eq!(named, ["executor n1:50051, last seen 95 s ago"]);
        assert!(silent_executors("HTTP/1.1 404 Not Found\r\n\r\n", 1_095_500).is_empty());
    }

    /// These texts are Ballista's.
    #[test]
    fn failures_have_remedies() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path().to_str().unwrap()).unwrap();
        let version = ballista_core::version::check_compatibility(Some("55.0.0"), Some("54.1.0"));
        let told = [
            (version.unwrap_err(), "--version 55.0.0 --locked"),
            (
                "Object Store error: Object at location /lake/v1/runs/a.parquet not found: No such file or directory".into(),
                "under the same path on each of them",
            ),
            (
                "Status { code: OutOfRange, message: \"Error, decoded message length too large: found 20000000 bytes\" }".into(),
                "--grpc-server-max-decoding-message-size",
            ),
            ("Resources exhausted: Failed to allocate".into(), "--memory-pool-size"),
            ("Stream closed without job completing".into(), "ask again"),
        ];
        for (text, remedy) in told {
            let found = Cluster::remedy(&text, &root).unwrap_or_default();
            assert!(found.contains(remedy), "{text}: {found}");
        }
        assert_eq!(Cluster::remedy("Arrow error: Divide by zero", &root), None);
    }
}
