//! The server: a listener, a script per path, a log.

use std::collections::HashMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::answer::Answer;
use super::gate::Gauge;
use super::request::{Logged, Request};
use super::stream::Stream;
use super::tls::Identity;
use super::wire::{self, After};

/// An HTTP/1.1 server on a free port of loopback that does what its scripts say.
///
/// A path without a script is a 404. It stops listening when it is dropped.
#[derive(Debug)]
pub struct FaultyServer {
    address: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
}

/// The key of the rule for targets without one; no target is spelled so.
const ANYTHING: &str = "*";

type Rule = dyn Fn(&Request, usize) -> Answer + Send + Sync;

struct Shared {
    rules: Mutex<HashMap<String, (Arc<Rule>, usize)>>,
    log: Mutex<Vec<Logged>>,
    gauge: Gauge,
    identity: Option<Identity>,
    stopped: AtomicBool,
}

impl FaultyServer {
    /// A plain server.
    #[must_use]
    pub fn start() -> Self {
        Self::start_at(Ipv4Addr::LOCALHOST)
    }

    /// A plain server on another address of this machine, `127.0.0.2` and so on.
    #[must_use]
    pub fn start_at(address: Ipv4Addr) -> Self {
        Self::listen("http", address, None)
    }

    /// A server that speaks TLS with this certificate.
    #[must_use]
    pub fn start_tls(identity: Identity) -> Self {
        Self::listen("https", Ipv4Addr::LOCALHOST, Some(identity))
    }

    fn listen(scheme: &'static str, address: Ipv4Addr, identity: Option<Identity>) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            rules: Mutex::default(),
            log: Mutex::default(),
            gauge: Gauge::default(),
            identity,
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accepting.accept(&listener));
        Self { address, scheme, shared }
    }

    /// The port on its address.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The URL of a path, with the address as its host.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.address)
    }

    /// The same place under another host name.
    #[must_use]
    pub fn localhost_url(&self, path: &str) -> String {
        format!("{}://localhost:{}{path}", self.scheme, self.port())
    }

    /// Answers every request to `target` (with or without its query) the same way.
    pub fn serve(&self, target: &str, answer: Answer) {
        self.handle(target, move |_, _| answer.clone());
    }

    /// Answers the requests to `target` one after the other; the last answer repeats.
    pub fn script(&self, target: &str, answers: impl Into<Vec<Answer>>) {
        let answers = answers.into();
        self.handle(target, move |_, nth| answers[nth.min(answers.len() - 1)].clone());
    }

    /// Answers by a rule that sees the request and how many came to `target` before it.
    pub fn handle(&self, target: &str, rule: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) {
        self.shared.rules.lock().unwrap().insert(target.to_owned(), (Arc::new(rule), 0));
    }

    /// Answers every request that has no rule of its own the same way, instead of with 404.
    pub fn serve_the_rest(&self, answer: Answer) {
        self.serve(ANYTHING, answer);
    }

    /// Every request so far, in order of arrival.
    #[must_use]
    pub fn log(&self) -> Vec<Logged> {
        self.shared.log.lock().unwrap().clone()
    }

    /// Empties the log, so that it shows what comes from now on.
    pub fn forget(&self) {
        self.shared.log.lock().unwrap().clear();
    }

    /// The requests to one path, whatever their query.
    #[must_use]
    pub fn requests(&self, path: &str) -> Vec<Logged> {
        self.log().into_iter().filter(|logged| logged.request.path() == path).collect()
    }

    /// The values of `Range` that were asked of one path; empty text where there was none.
    #[must_use]
    pub fn ranges(&self, path: &str) -> Vec<String> {
        let range = |logged: Logged| logged.request.header("range").unwrap_or_default().to_owned();
        self.requests(path).into_iter().map(range).collect()
    }

    /// Who is in flight.
    #[must_use]
    pub fn gauge(&self) -> &Gauge {
        &self.shared.gauge
    }
}

impl Drop for FaultyServer {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // The listener sleeps in accept; one more connection wakes it up to see the flag.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for socket in listener.incoming().flatten() {
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            let serving = Arc::clone(self);
            thread::spawn(move || serving.converse(socket));
        }
    }

    /// One connection, request after request.
    fn converse(&self, socket: TcpStream) {
        let _ = socket.set_nodelay(true);
        let _ = socket.set_read_timeout(Some(wire::IDLE));
        let Some(mut stream) = self.open(socket) else { return };
        let mut rest = Vec::new();
        while let Ok(Some(request)) = Request::read(&mut stream, &mut rest) {
            let mut in_flight = self.gauge.enter();
            let (logged, answer) = self.decide(request);
            match wire::send(&mut stream, &logged, &answer, &mut in_flight) {
                Ok(After::Keep) => {}
                Ok(After::Reset) => return stream.reset(),
                Ok(After::Close) | Err(_) => break,
            }
        }
        stream.close();
    }

    fn open(&self, socket: TcpStream) -> Option<Stream> {
        match &self.identity {
            None => Some(Stream::Plain(socket)),
            Some(identity) => identity.accept(socket),
        }
    }

    /// Logs a request and finds its answer.
    fn decide(&self, request: Request) -> (Logged, Answer) {
        let logged = Logged::new(request);
        self.log.lock().unwrap().push(logged.clone());
        let request = &logged.request;
        let (rule, nth) = {
            let mut rules = self.rules.lock().unwrap();
            let keys = [request.target.as_str(), request.path(), ANYTHING];
            let key = keys.into_iter().find(|&key| rules.contains_key(key));
            let Some((rule, asked)) = key.and_then(|key| rules.get_mut(key)) else {
                return (logged, Answer::status(404));
            };
            *asked += 1;
            (Arc::clone(rule), *asked - 1)
        };
        let answer = rule(request, nth);
        (logged, answer)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("log", &self.log).finish_non_exhaustive()
    }
}
