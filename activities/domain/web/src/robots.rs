//! robots.txt (RFC 9309): what a host asks of us, and what its answer means when it is none.
//!
//! [`Robots::parse`] reads any bytes in linear time, [`Robots::policy`] is what they mean for one agent, and [`meaning`]
//! judges the status of the answer before. What people write wrongly is read as Google's parser reads it, which is what
//! they try their files with: misspelt names, a blank in the place of a colon, a byte order mark. Where that differs from the
//! RFC, the RFC counts: octets are compared in one spelling (section 2.2.2).

use std::borrow::Cow;
use std::ops::Range;

use crate::rights::Stated;

mod answer;
mod line;
mod pattern;

pub use answer::{LONGEST_AGE, MOST_REDIRECTS, Meaning, meaning};
use line::{Field, lines};
pub(crate) use pattern::Pattern;

/// So many bytes are read; what stands behind is told by [`Robots::bytes_cut`]. At least 500 KiB (RFC 9309 section 2.5).
pub const MOST_BYTES: usize = 1 << 20;

/// The longest Crawl-delay that is waited, in seconds: who asks for more is asked for one page at most.
pub const LONGEST_DELAY: f64 = 120.0;

/// The one path that no rule is about (RFC 9309 section 2.2.2).
const OWN_PATH: &str = "/robots.txt";

/// A robots.txt that was read. Empty, it allows everything.
#[derive(Debug, Clone, Default)]
pub struct Robots {
    /// The values of all `User-agent` lines.
    agents: Vec<String>,
    groups: Vec<Group>,
    rules: Vec<Rule>,
    usages: Vec<Usage>,
    delays: Vec<Delay>,
    sitemaps: Vec<String>,
    licenses: Vec<String>,
    bytes_cut: usize,
}

/// Lines that belong together (RFC 9309 section 2.1): where its agents, rules and statements stand.
#[derive(Debug, Clone)]
struct Group {
    agents: Range<usize>,
    rules: Range<usize>,
    usages: Range<usize>,
}

#[derive(Debug, Clone)]
struct Rule {
    pattern: Pattern,
    is_allowed: bool,
    /// The line's value as written.
    text: String,
}

/// A line about the use of what is read.
#[derive(Debug, Clone)]
struct Usage {
    is_signal: bool,
    /// The part of the host it is about; all of it, if none is named.
    pattern: Option<Pattern>,
    value: String,
}

/// A Crawl-delay and whose it is. It ends the list of its agents, unlike in a [`Group`]: files are written that way.
#[derive(Debug, Clone)]
struct Delay {
    agents: Range<usize>,
    seconds: f64,
}

/// What a robots.txt means for one agent.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    rules: Vec<Rule>,
    usages: Vec<Usage>,
    licenses: Vec<String>,
    crawl_delay: Option<f64>,
}

impl Robots {
    /// Reads a file. No bytes are an error: lines that say nothing we know are passed over (RFC 9309 section 2.2).
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let (kept, bytes_cut) = within_limit(bytes);
        let mut robots = Self { bytes_cut, ..Self::default() };
        let mut open = Open::default();
        for line in lines(kept) {
            robots.read(&mut open, line.field, line.value);
        }
        if robots.agents.is_empty() {
            robots.agents.push("*".to_owned()); // A file that names nobody is meant for everybody.
        }
        robots.close(&open);
        robots
    }

    /// What the file means for the agent of this product token, such as `corpora` (see [`product_token`]): the rules of all
    /// groups that name it, in any case, else those for `*` (RFC 9309 section 2.2.1).
    #[must_use]
    pub fn policy(&self, agent: &str) -> Policy {
        let named: Vec<bool> = self.agents.iter().map(|line| names(line, agent)).collect();
        let is_named = named.contains(&true);
        let holds = |agents: &Range<usize>| match is_named {
            true => named[agents.clone()].contains(&true),
            false => self.agents[agents.clone()].iter().any(|line| is_everyone(line)),
        };
        let mut policy = Policy { licenses: self.licenses.clone(), ..Policy::default() };
        for group in self.groups.iter().filter(|group| holds(&group.agents)) {
            policy.rules.extend_from_slice(&self.rules[group.rules.clone()]);
            policy.usages.extend_from_slice(&self.usages[group.usages.clone()]);
        }
        // A delay above all agents is one of the rules for everyone, if there are any.
        let is_everyones = !is_named && self.agents.iter().any(|line| is_everyone(line));
        let is_ours = |delay: &&Delay| holds(&delay.agents) || (is_everyones && delay.agents.is_empty());
        policy.crawl_delay = self.delays.iter().filter(is_ours).map(|delay| delay.seconds).reduce(f64::max);
        policy
    }

    /// Whether the agent may ask for a path with its query. Who asks often keeps the [`Policy`].
    #[must_use]
    pub fn allows(&self, agent: &str, path_and_query: &str) -> bool {
        self.policy(agent).allows(path_and_query)
    }

    /// See [`Policy::crawl_delay`].
    #[must_use]
    pub fn crawl_delay(&self, agent: &str) -> Option<f64> {
        self.policy(agent).crawl_delay()
    }

    /// The values of all `Sitemap` lines, as written; they belong to no group (RFC 9309 section 2.2.4).
    #[must_use]
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// How many bytes were not read because the file is longer than [`MOST_BYTES`].
    #[must_use]
    pub fn bytes_cut(&self) -> usize {
        self.bytes_cut
    }
}

impl Policy {
    /// Whether the agent may ask for a path with its query.
    #[must_use]
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.refused_by(path_and_query).is_none()
    }

    /// The rule that refuses a path with its query, as written; nothing where it is allowed.
    ///
    /// The rule of the most octets counts, of two alike the one that allows, and without one all is allowed (RFC 9309
    /// section 2.2.2).
    #[must_use]
    pub fn refused_by(&self, path_and_query: &str) -> Option<&str> {
        if path_and_query == OWN_PATH {
            return None;
        }
        let path = comparable(path_and_query);
        let mut best: Option<&Rule> = None;
        for rule in &self.rules {
            let is_better = best.is_none_or(|best| rule.weight() > best.weight());
            if is_better && rule.pattern.matches(&path) {
                best = Some(rule);
            }
        }
        best.filter(|rule| !rule.is_allowed).map(|rule| rule.text.as_str())
    }

    /// The seconds to wait between two requests, where a number that is finite and not negative is stated; the longest of
    /// several. Who asks for more than [`LONGEST_DELAY`] is not asked faster.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<f64> {
        self.crawl_delay
    }

    /// What is said of the use of a path: the `Content-Signal` and `Content-Usage` lines whose part of the host is the
    /// smallest that holds it, and all `License` lines.
    #[must_use]
    pub fn stated(&self, path_and_query: &str) -> Stated {
        let path = comparable(path_and_query);
        let of = |is_signal| self.closest(&path, is_signal);
        Stated { content_signal: of(true), content_usage: of(false), licenses: self.licenses.clone() }
    }

    fn closest(&self, path: &[u8], is_signal: bool) -> Vec<String> {
        let holds = |usage: &&Usage| {
            usage.is_signal == is_signal && usage.pattern.as_ref().is_none_or(|pattern| pattern.matches(path))
        };
        let size = |usage: &Usage| usage.pattern.as_ref().map_or(0, Pattern::octets);
        let closest = self.usages.iter().filter(holds).map(size).max();
        let is_closest = |usage: &&Usage| Some(size(usage)) == closest;
        self.usages.iter().filter(holds).filter(is_closest).map(|usage| usage.value.clone()).collect()
    }
}

impl Rule {
    /// By what rules are chosen: octets, and then that it allows.
    fn weight(&self) -> (usize, bool) {
        (self.pattern.octets(), self.is_allowed)
    }
}

/// A path as patterns see it.
pub(crate) fn comparable(path_and_query: &str) -> Cow<'_, [u8]> {
    pattern::comparable(path_and_query.as_bytes())
}

/// The product token at the start of a User-Agent header (RFC 9110 section 10.1.5): `corpora` of `corpora/0.1 (+https://…)`.
#[must_use]
pub fn product_token(user_agent: &str) -> &str {
    let ends = |character: char| character.is_whitespace() || matches!(character, '/' | '(' | ')' | ',' | ';');
    user_agent.trim_start().split(ends).next().unwrap_or_default()
}

/// What is under way while lines are read.
#[derive(Debug, Default)]
struct Open {
    /// Where the group's agents, rules and statements begin.
    agents: usize,
    rules: usize,
    usages: usize,
    /// Whether a rule was there since: the next `User-agent` opens another group.
    has_rule: bool,
    /// The same for delays.
    delayed_agents: usize,
    is_delay_over: bool,
}

impl Robots {
    fn read(&mut self, open: &mut Open, field: Field, value: &[u8]) {
        let text = || String::from_utf8_lossy(value).into_owned();
        match field {
            Field::UserAgent => self.read_agent(open, text()),
            Field::Allow => self.read_rule(open, value, true),
            Field::Disallow => self.read_rule(open, value, false),
            Field::CrawlDelay => self.read_delay(open, &text()),
            Field::ContentSignal => self.read_usage(value, true),
            Field::ContentUsage => self.read_usage(value, false),
            Field::Sitemap => self.sitemaps.push(text()),
            Field::License => self.licenses.push(text()),
        }
    }

    fn read_agent(&mut self, open: &mut Open, agent: String) {
        if self.agents.is_empty() {
            self.rules.clear(); // What stands above the first group is in none (RFC 9309 section 2.1).
            self.usages.clear();
            *open = Open { is_delay_over: open.is_delay_over, ..Open::default() };
        } else if open.has_rule {
            self.close(open);
            (open.agents, open.rules, open.usages) = (self.agents.len(), self.rules.len(), self.usages.len());
            open.has_rule = false;
        }
        if open.is_delay_over {
            open.delayed_agents = self.agents.len();
            open.is_delay_over = false;
        }
        self.agents.push(agent);
    }

    fn read_rule(&mut self, open: &mut Open, value: &[u8], is_allowed: bool) {
        (open.has_rule, open.is_delay_over) = (true, true);
        if value.is_empty() {
            return; // A rule about nothing.
        }
        let mut push = |pattern: &[u8]| {
            let text = String::from_utf8_lossy(value).into_owned();
            self.rules.push(Rule { pattern: Pattern::new(pattern), is_allowed, text });
        };
        match value[0] {
            b'/' | b'*' => push(value),
            // No path starts like this; what was meant to be refused is clear all the same.
            _ if !is_allowed => push(&[b"/", value].concat()),
            _ => push(value),
        }
        if let Some(folder) = pattern::folder_of_index(value).filter(|_| is_allowed) {
            push(&folder);
        }
    }

    fn read_delay(&mut self, open: &mut Open, value: &str) {
        let Ok(seconds) = value.parse::<f64>() else { return };
        if seconds.is_finite() && seconds >= 0.0 {
            open.is_delay_over = true;
            self.delays.push(Delay { agents: open.delayed_agents..self.agents.len(), seconds });
        }
    }

    fn read_usage(&mut self, value: &[u8], is_signal: bool) {
        let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
        let (first, behind) = value.split_at(end);
        let names_a_part = first.starts_with(b"/") || first.starts_with(b"*");
        let (pattern, value) = if names_a_part { (Some(Pattern::new(first)), behind) } else { (None, value) };
        let value = String::from_utf8_lossy(value.trim_ascii()).into_owned();
        self.usages.push(Usage { is_signal, pattern, value });
    }

    fn close(&mut self, open: &Open) {
        let group = Group {
            agents: open.agents..self.agents.len(),
            rules: open.rules..self.rules.len(),
            usages: open.usages..self.usages.len(),
        };
        self.groups.push(group);
    }
}

/// What is read of a file, without the line that the limit cuts.
fn within_limit(bytes: &[u8]) -> (&[u8], usize) {
    let Some(kept) = bytes.get(..MOST_BYTES).filter(|kept| kept.len() < bytes.len()) else { return (bytes, 0) };
    let whole = kept.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |end| end + 1);
    (&kept[..whole], bytes.len() - whole)
}

/// Whether a `User-agent` line names the agent: the token at its start, in any case; what follows it is passed over.
fn names(line: &str, agent: &str) -> bool {
    if agent.is_empty() || agent.contains(char::is_whitespace) {
        return false; // No product token.
    }
    let mut rest = line.chars().flat_map(char::to_lowercase);
    agent.chars().flat_map(char::to_lowercase).all(|wanted| rest.next() == Some(wanted))
        && rest.next().is_none_or(|next| !(next.is_alphabetic() || matches!(next, '-' | '_')))
}

/// Whether a `User-agent` line means everyone: `*`, alone or before a blank.
fn is_everyone(line: &str) -> bool {
    line.strip_prefix('*').is_some_and(|behind| behind.is_empty() || behind.starts_with(char::is_whitespace))
}

#[cfg(test)]
mod tests;
