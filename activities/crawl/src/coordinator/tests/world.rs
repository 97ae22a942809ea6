//! A Web in memory, and a driver that asks it what the coordinator hands out.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use corpora_contracts::config::{Crawl, parse_toml, validate};
use corpora_contracts::message::{CrawlJob, DiscoveryMessage, Document, Outcome, StorageMessage};
use corpora_contracts::time::Timestamp;
use corpora_ports::frontier::{FrontierStore, MemoryFrontier};
use corpora_web::frontier::{Moment, Retries};

use super::super::*;
use crate::role::{Answer, Visit};

/// What an address answers with.
#[derive(Debug, Clone, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
    pub(super) links: Vec<String>,
    pub(super) location: Option<String>,
    pub(super) retry_after: Option<u64>,
    pub(super) error: Option<&'static str>,
    /// Where a worker that follows redirects came to.
    pub(super) answered_by: Option<String>,
}

/// A page with these links.
pub(super) fn page(links: &[&str]) -> Reply {
    Reply { status: 200, links: links.iter().map(|link| (*link).to_owned()).collect(), ..Reply::default() }
}

pub(super) fn file(body: &str) -> Reply {
    Reply { status: 200, body: body.to_owned(), ..Reply::default() }
}

pub(super) fn status(status: u16) -> Reply {
    Reply { status, ..Reply::default() }
}

pub(super) fn redirect(to: &str) -> Reply {
    Reply { status: 301, location: Some(to.to_owned()), ..Reply::default() }
}

pub(super) fn error(error: &'static str) -> Reply {
    Reply { error: Some(error), ..Reply::default() }
}

pub(super) fn patience(status: u16, seconds: Option<u64>) -> Reply {
    Reply { status, retry_after: seconds, ..Reply::default() }
}

/// One request, as the Web saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) at: u64,
    pub(super) url: String,
}

pub(super) struct World {
    replies: HashMap<String, VecDeque<Reply>>,
    pub(super) log: Vec<Request>,
    pub(super) jobs: Vec<CrawlJob>,
    pub(super) kept: BTreeMap<String, StorageMessage>,
    crawl: Crawl,
    pub(super) now: Moment,
}

impl World {
    /// A world for a crawl of `h` (with its subdomains) from `http://h/`, with further keys.
    pub(super) fn new(keys: &str) -> Self {
        Self::seeded(&["http://h/"], keys)
    }

    pub(super) fn seeded(seeds: &[&str], keys: &str) -> Self {
        let given = |key: &str| keys.lines().any(|line| line.trim_start().starts_with(&format!("{key} =")));
        let defaults = [("max_depth", "5"), ("delay", "0"), ("respect_rights", "false")];
        let defaults = defaults.iter().filter(|(key, _)| !given(key));
        let defaults: String = defaults.map(|(key, value)| format!("{key} = {value}\n")).collect();
        let text = format!(
            "dataset = \"d\"\nversion = \"v\"\n[[crawls]]\nid = \"c\"\nseed_urls = {seeds:?}\nallowed_domains = [\"h\", \"o\"]\n\
             user_agent = \"corpora/0.1 (+http://h/)\"\nlicense_spdx = \"CC-BY-4.0\"\n{defaults}{keys}\n"
        );
        let reading = validate(&parse_toml(&text).unwrap());
        let problems = format!("{:?}", reading.problems);
        let crawl = reading.config.expect(&problems).crawls.remove(0);
        let now = Moment::from_millis(1_800_000_000_000);
        Self { replies: HashMap::new(), log: Vec::new(), jobs: Vec::new(), kept: BTreeMap::new(), crawl, now }
    }

    /// What an address answers with, one after the other; the last answer repeats. Others are not there: 404.
    pub(super) fn on(mut self, url: &str, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.replies.insert(url.to_owned(), replies.into_iter().collect());
        self
    }

    pub(super) fn serve(self, url: &str, reply: Reply) -> Self {
        self.on(url, [reply])
    }

    pub(super) fn coordinator(&self, store: Box<dyn FrontierStore>) -> Coordinator {
        let retries = Retries { attempts: 3, base_delay: Duration::from_millis(500) };
        Coordinator::open(store, Settings { crawl: self.crawl.clone(), retries }, self.now).unwrap()
    }

    /// Crawls to the end with an empty state.
    pub(super) fn run(&mut self) -> Ended {
        let coordinator = self.coordinator(Box::new(MemoryFrontier::new()));
        self.run_on(coordinator)
    }

    /// Looks at the seeds.
    pub(super) fn look(&mut self) -> Coordinator {
        let retries = Retries { attempts: 1, base_delay: Duration::ZERO };
        let settings = Settings { crawl: self.crawl.clone(), retries };
        let mut coordinator = Coordinator::open_to_look(Box::new(MemoryFrontier::new()), settings, self.now).unwrap();
        self.drive(&mut coordinator);
        coordinator
    }

    pub(super) fn run_on(&mut self, mut coordinator: Coordinator) -> Ended {
        self.drive(&mut coordinator);
        coordinator.finish(End::Idle, self.now).unwrap()
    }

    fn drive(&mut self, coordinator: &mut Coordinator) {
        for _round in 0..10_000 {
            let due = coordinator.hand_out(self.now).unwrap();
            assert!(due.jobs.len() <= BATCH);
            coordinator.commit(self.now).unwrap();
            let (then, is_quiet) = (due.then, due.jobs.is_empty() && due.errands.is_empty());
            self.answer_all(coordinator, due);
            match then {
                Rest::Until(moment) if is_quiet => self.now = moment,
                Rest::Over => return,
                Rest::More | Rest::OnAnswer | Rest::Until(_) => {}
            }
        }
        panic!("the crawl does not end: {:?}", self.log.last());
    }

    /// Answers what was handed out.
    pub(super) fn answer_all(&mut self, coordinator: &mut Coordinator, due: Due) {
        for job in due.jobs {
            let visit = self.visit(&job);
            let kept = coordinator.on_visit(visit, self.timing()).unwrap();
            self.kept.extend(kept.map(|page| (page.url.clone(), page)));
            self.jobs.push(job);
        }
        self.answer_errands(coordinator, due.errands);
    }

    pub(super) fn answer_errands(&mut self, coordinator: &mut Coordinator, errands: Vec<Errand>) {
        for errand in errands {
            let answer = self.answer(&errand);
            coordinator.on_answer(errand, answer, self.timing()).unwrap();
        }
    }

    /// The addresses that were asked for, in order, without those of robots.txt and the like.
    pub(super) fn asked(&self) -> Vec<&str> {
        self.jobs.iter().map(|job| job.url.as_str()).collect()
    }

    pub(super) fn asked_all(&self) -> Vec<&str> {
        self.log.iter().map(|request| request.url.as_str()).collect()
    }

    pub(super) fn kept(&self) -> Vec<(&str, u32)> {
        self.kept.iter().map(|(url, page)| (url.as_str(), page.depth)).collect()
    }

    fn timing(&self) -> Timing {
        Timing { began: self.now, ended: self.now }
    }

    fn reply(&mut self, url: &str) -> Reply {
        self.log.push(Request { at: self.now.as_millis() - 1_800_000_000_000, url: url.to_owned() });
        let Some(replies) = self.replies.get_mut(url) else { return status(404) };
        if replies.len() > 1 { replies.pop_front().unwrap() } else { replies[0].clone() }
    }

    pub(super) fn visit(&mut self, job: &CrawlJob) -> Visit {
        let reply = self.reply(&job.url);
        let final_url = reply.location.clone().or(reply.answered_by.clone()).unwrap_or_else(|| job.url.clone());
        let is_page = reply.status == 200 && reply.error.is_none();
        let storage = is_page.then(|| StorageMessage {
            v: None,
            crawl_id: job.crawl_id.clone(),
            url: final_url.clone(),
            status_code: reply.status,
            depth: job.depth,
            document: Document { html: reply.body.clone(), ..Document::default() },
            fetched_at: Timestamp::EPOCH,
            processing_time_ms: 0,
        });
        let discovery = DiscoveryMessage {
            v: None,
            job_id: job.job_id.clone(),
            crawl_id: job.crawl_id.clone(),
            requested_url: job.url.clone(),
            final_url,
            parent_depth: job.depth,
            links: reply.links.clone(),
            outcome: Some(Outcome {
                status_code: (reply.status != 0).then_some(reply.status),
                retry_after_s: reply.retry_after,
                error: reply.error.map(str::to_owned),
                bytes: Some(reply.body.len() as u64),
                rights: storage.as_ref().and_then(|page: &StorageMessage| page.document.metadata.rights.clone()),
                took_ms: None,
            }),
        };
        Visit { storage, discovery, took: None }
    }

    fn answer(&mut self, errand: &Errand) -> Answer {
        let reply = self.reply(errand.url.as_str());
        Answer {
            status: (reply.status != 0).then_some(reply.status),
            error: reply.error.map(str::to_owned),
            location: reply.location,
            retry_after_s: reply.retry_after,
            body: reply.body.into_bytes(),
        }
    }
}

/// The reasons of a run as pairs.
pub(super) fn reasons(ended: &Ended) -> Vec<(&str, u64)> {
    ended.reasons.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
}
