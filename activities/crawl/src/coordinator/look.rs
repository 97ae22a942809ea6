//! What a crawl would ask for, and why not: judged as a crawl judges, with robots.txt and the seeds asked for alone.

use corpora_ports::frontier::{State, UrlId, UrlRecord};
use corpora_web::frontier::LONGEST_CRAWL_DELAY;
use corpora_web::robots::Policy;
use serde::Serialize;

use super::hosts::{Access, ELSEWHERE, Host};
use super::{Coordinator, CoordinatorError, reason};

/// URLs that are read from the state at once.
const AT_ONCE: usize = 1000;

/// What a crawl would do, as far as its seeds show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Look {
    /// The hosts that were met.
    pub hosts: Vec<HostLook>,
    /// What would be asked for: the seeds, and what they lead to.
    pub would_fetch: Vec<String>,
    /// What would not, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// A host, and how it would be treated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostLook {
    /// Scheme, name and port.
    pub host: String,
    /// `rules`, or why there are none to go by.
    pub robots: String,
    /// Its Crawl-delay in seconds, if it states one.
    pub crawl_delay_s: Option<f64>,
    /// From request start to request start, in seconds; None for a host that gets one page because it asks for more than the cap.
    pub delay_s: Option<f64>,
}

/// A URL that would not be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The URL.
    pub url: String,
    /// Why.
    pub reason: String,
}

impl Coordinator {
    /// What was seen of the crawl.
    ///
    /// # Errors
    /// When the state cannot be read.
    pub fn look(&mut self) -> Result<Look, CoordinatorError> {
        let (mut would_fetch, mut left_out) = (Vec::new(), Vec::new());
        let mut after: Option<UrlId> = None;
        loop {
            let urls = self.store.list(after, AT_ONCE)?;
            let Some(last) = urls.last() else { break };
            after = Some(last.id);
            for url in urls {
                match self.why_not(&url) {
                    None => would_fetch.push(url.key),
                    Some(reason) => left_out.push(LeftOut { url: url.key, reason }),
                }
            }
        }
        let delay = self.settings.crawl.delay.as_f64();
        let hosts = self.hosts.iter().filter(|host| host.record.name != ELSEWHERE);
        Ok(Look { hosts: hosts.map(|host| of_host(host, delay)).collect(), would_fetch, left_out })
    }

    /// Why a URL would not be asked for. A seed that was asked for and gave no page says so, too.
    fn why_not(&mut self, url: &UrlRecord) -> Option<String> {
        let aside = match self.hosts.get_mut(url.host).map(|host| &host.access) {
            Some(Access::Aside(why)) => Some(why.clone()),
            _ => None,
        };
        match url.state {
            State::Queued | State::InFlight => aside,
            State::Stored => None,
            State::Left if url.reason == reason::NOT_ASKED => None,
            State::Left | State::Failed => Some(url.reason.clone()),
        }
    }

    /// Whether this is a look, and the URL neither a seed nor what a seed redirects to.
    pub(super) fn is_only_looked_at(&mut self, url: &UrlRecord) -> Result<bool, CoordinatorError> {
        if !self.only_seeds {
            return Ok(false);
        }
        let is_seed = self
            .settings
            .crawl
            .seed_urls
            .iter()
            .any(|seed| corpora_web::url::CanonicalUrl::parse(seed).is_ok_and(|seed| seed.as_str() == url.key));
        Ok(!(is_seed || url.depth == 0 && url.parent.is_some()))
    }
}

fn of_host(host: &Host, delay: f64) -> HostLook {
    let crawl_delay = host.policy.as_ref().and_then(Policy::crawl_delay);
    let is_too_slow = crawl_delay.is_some_and(|seconds| seconds > LONGEST_CRAWL_DELAY.as_secs_f64());
    let robots = match (&host.access, &host.policy) {
        (Access::Aside(why), _) => why.clone(),
        (_, Some(_)) => "rules".to_owned(),
        (_, None) => "not asked".to_owned(),
    };
    HostLook {
        host: host.record.name.clone(),
        robots,
        crawl_delay_s: crawl_delay,
        delay_s: (!is_too_slow).then(|| crawl_delay.unwrap_or(0.0).max(delay)),
    }
}
