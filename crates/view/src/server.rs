//! The server. It answers on this machine only, and only to those who know the address.
//!
//! It binds 127.0.0.1 and nothing else. The address has a random token as its first segment, so no
//! other user's program and no page in the browser can send requests without knowing it. The `Host`
//! header must name this machine, so a foreign name that was pointed here (DNS rebinding) gets no
//! answer either. The page never requests anything from elsewhere; its policy enforces that.

mod browser;
mod headers;
mod respond;
mod status;
mod token;

use std::io::{Error, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tower_http::compression::{CompressionLayer, CompressionLevel};

use crate::session::Session;
pub use browser::{AddressFile, open_browser};
pub use token::Key;

/// The port that is tried first if the user names none; if it is taken, any other port is used.
const USUAL_PORT: u16 = 8417;

/// Time for the remaining answers after a signal to end.
const GRACE: Duration = Duration::from_millis(500);

/// A server that is bound but does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// State that every answer needs.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) session: Arc<Session>,
    pub(crate) token: String,
}

impl Server {
    /// Binds `port`; without it, the usual port or any free one. Its address contains `key`.
    ///
    /// # Errors
    /// The requested port is taken or may not be used.
    pub fn bind(session: Arc<Session>, port: Option<u16>, key: Key) -> Result<Server, Error> {
        let on = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = match port {
            Some(port) => on(port).map_err(|e| taken(port, e))?,
            None => on(USUAL_PORT).or_else(|_| on(0))?,
        };
        listener.set_nonblocking(true)?;
        Ok(Server {
            address: listener.local_addr()?,
            listener,
            shared: Arc::new(Shared {
                session,
                token: key.into_text(),
            }),
        })
    }

    /// The address of the page: `http://127.0.0.1:PORT/TOKEN/`.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.shared.token)
    }

    /// The bound port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Loads the runs in the background, and answers requests until the process receives Ctrl-C or
    /// SIGTERM.
    ///
    /// # Errors
    /// The system can't create threads, or refuses the socket.
    pub fn run(self) -> Result<(), Error> {
        self.run_until(ended())
    }

    /// Loads and answers like [`Server::run`], until `end` completes.
    ///
    /// # Errors
    /// The same as those of [`Server::run`].
    pub fn run_until(self, end: impl Future<Output = ()> + Send + 'static) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(8)
            .enable_all()
            .build()?;
        let session = self.shared.session.clone();
        let load = std::thread::Builder::new().name("load".into());
        load.spawn(move || session.load())?;
        let served = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let compression = CompressionLayer::new()
                .gzip(true)
                .quality(CompressionLevel::Fastest);
            let app = Router::new()
                .fallback(respond::respond)
                .with_state(self.shared)
                .layer(compression);
            let (told, wait) = tokio::sync::oneshot::channel::<()>();
            let ending = async move {
                end.await;
                // If serving has failed, there is no receiver any more.
                let _ = told.send(());
            };
            let serving = axum::serve(listener, app).with_graceful_shutdown(ending);
            tokio::select! {
                served = serving.into_future() => served,
                // The event streams of an open page must not delay the end.
                _ = async { let _ = wait.await; tokio::time::sleep(GRACE).await } => Ok(()),
            }
        });
        // Does not wait for a run that is still loading.
        runtime.shutdown_background();
        served
    }
}

fn taken(port: u16, error: Error) -> Error {
    let why = match error.kind() {
        ErrorKind::AddrInUse => {
            "another program has it; choose another one with --port, or leave --port out"
        }
        ErrorKind::PermissionDenied => {
            "it may not be used without privileges; choose one above 1023"
        }
        _ => return error,
    };
    Error::new(error.kind(), format!("port {port}: {why}"))
}

/// Completes at Ctrl-C or SIGTERM.
async fn ended() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without the signal handler there is nothing to wait for; the default action ends the
            // process.
            std::future::pending::<()>().await;
        }
    };
    let terminate = tokio::signal::unix::SignalKind::terminate();
    let terminated = async {
        match tokio::signal::unix::signal(terminate) {
            Ok(mut signal) => {
                signal.recv().await;
            }
            Err(_) => std::future::pending::<()>().await,
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated => {}
    }
}
