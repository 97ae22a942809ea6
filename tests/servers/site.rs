//! A generated site on an address of its own, with a log of who asked what and when.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::answer::Answer;
use super::faulty::FaultyServer;
use super::request::Logged;

/// Pages `/p/0` to `/p/<n - 1>`, each of which links to two more, to the first one, to itself in other spellings, and to
/// `/private/<i>`, which robots.txt does not allow. `/` is page 0.
///
/// Whatever else is served by [`Site::server`] wins over the generated pages.
#[derive(Debug)]
pub struct Site {
    /// What answers, for more pages and for answers that misbehave.
    pub server: FaultyServer,
    pages: usize,
    slow: Arc<Mutex<Duration>>,
}

/// The robots.txt of a generated site.
const ROBOTS: &str = "User-agent: *\nDisallow: /private/\n";

impl Site {
    /// A site on `127.0.0.<number>`. Page 0 links to these addresses, too.
    #[must_use]
    pub fn start(number: u8, pages: usize, neighbours: &[String]) -> Self {
        let server = FaultyServer::start_at(Ipv4Addr::new(127, 0, 0, number));
        let slow = Arc::new(Mutex::new(Duration::ZERO));
        let (neighbours, pause) = (neighbours.to_vec(), Arc::clone(&slow));
        server.serve("/robots.txt", Answer::object(ROBOTS).header("Content-Type", "text/plain"));
        server.handle("*", move |request, _| {
            let number = match request.path() {
                "/" => Some(0),
                path => path.strip_prefix("/p/").and_then(|number| number.parse().ok()),
            };
            match number.filter(|number| *number < pages) {
                Some(number) => html(&page(number, pages, &neighbours)).head_after(*pause.lock().unwrap()),
                None => Answer::status(404),
            }
        });
        Self { server, pages, slow }
    }

    /// Each page takes so long from now on.
    pub fn be_slow(&self, pause: Duration) {
        *self.slow.lock().unwrap() = pause;
    }

    /// The address of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// The addresses of all pages, by which they are known, sorted. Page 0 is known by two.
    #[must_use]
    pub fn addresses(&self) -> Vec<String> {
        let numbered = (0..self.pages).map(|number| self.url(&format!("/p/{number}")));
        let mut all: Vec<String> = std::iter::once(self.url("/")).chain(numbered).collect();
        all.sort();
        all
    }

    /// The targets that were asked for, in order, without robots.txt and what is well known.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        let targets = self.server.log().into_iter().map(|logged| logged.request.target);
        targets.filter(|target| target != "/robots.txt" && !target.starts_with("/.well-known/")).collect()
    }

    /// How often `target` was asked for.
    #[must_use]
    pub fn count(&self, target: &str) -> usize {
        self.server.log().iter().filter(|logged| logged.request.target == target).count()
    }

    /// The shortest time from the start of a request to the start of the next one.
    #[must_use]
    pub fn shortest_gap(&self) -> Option<Duration> {
        let starts: Vec<Instant> = self.server.log().iter().map(|logged: &Logged| logged.request.at).collect();
        starts.windows(2).map(|pair| pair[1] - pair[0]).min()
    }
}

/// A page with a content type.
#[must_use]
pub fn html(text: &str) -> Answer {
    Answer::object(text).header("Content-Type", "text/html; charset=utf-8")
}

fn page(number: usize, pages: usize, neighbours: &[String]) -> String {
    let next = [2 * number + 1, 2 * number + 2].into_iter().filter(|next| *next < pages);
    let mut links: Vec<String> = next.map(|next| format!("/p/{next}")).collect();
    links.extend(["/", "#top"].map(str::to_owned));
    links.push(format!("/p/{number}?utm_source=menu#part"));
    links.push(format!("/private/{number}"));
    if number == 0 {
        links.extend_from_slice(neighbours);
    }
    let links: String = links.iter().map(|link| format!("<li><a href=\"{link}\">{link}</a></li>")).collect();
    format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>Page {number}</title></head><body><ul>{links}</ul><main>\
         <h1>Page {number}</h1><p>The garden of page {number} lies behind the house, and nobody who walks through it at \
         noon finds the gate of the day before. It has {number} paths and a bench beside each of them.</p>\
         <p>In the evening the gardener counts the paths of page {number} once more and writes them down.</p>\
         </main></body></html>\n"
    )
}
