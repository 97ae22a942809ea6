//! What a crawl may use up, and what it has.

use std::time::Duration;

/// The bounds of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Pages asked for; each URL counts once.
    pub max_pages: u64,
    /// Unpacked bytes of bodies.
    pub max_bytes: u64,
    /// Running time, over kills.
    pub max_duration: Duration,
}

/// What was used up so far, over kills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Pages asked for.
    pub pages: u64,
    /// Unpacked bytes of bodies.
    pub bytes: u64,
    /// Running time.
    pub duration: Duration,
}

impl Budget {
    /// The key of the bound that ends the crawl, if one does. What is under way may still finish.
    #[must_use]
    pub fn exhausted_by(&self, spent: &Spent) -> Option<&'static str> {
        let bounds = [
            ("max_pages", spent.pages >= self.max_pages),
            ("max_bytes", spent.bytes >= self.max_bytes),
            ("max_duration", spent.duration >= self.max_duration),
        ];
        bounds.into_iter().find(|(_, reached)| *reached).map(|(key, _)| key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_has_its_name() {
        let budget = Budget { max_pages: 10, max_bytes: 1000, max_duration: Duration::from_secs(5) };
        let spent = Spent { pages: 9, bytes: 999, duration: Duration::from_millis(4999) };
        assert_eq!(budget.exhausted_by(&spent), None);
        assert_eq!(budget.exhausted_by(&Spent { pages: 10, ..spent }), Some("max_pages"));
        assert_eq!(budget.exhausted_by(&Spent { bytes: 1000, ..spent }), Some("max_bytes"));
        assert_eq!(budget.exhausted_by(&Spent { duration: Duration::from_secs(5), ..spent }), Some("max_duration"));
    }
}
