//! `/.well-known/tdmrep.json`: which parts of a host are reserved (TDM Reservation Protocol, section 6).

use serde::Deserialize;
use serde_json::Value;

use crate::robots::Pattern;

/// Files with more parts than this are read so far.
const MOST_PARTS: usize = 10_000;

/// What a host's file says of its parts; nothing, if it has none.
#[derive(Debug, Clone, Default)]
pub struct Reservations(Vec<(Pattern, Reservation)>);

/// What is said of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    /// Whether rights to text and data mining are reserved.
    pub is_reserved: bool,
    /// The address of the policy under which they may be had.
    pub policy: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    location: String,
    #[serde(rename = "tdm-reservation")]
    reservation: Value,
    #[serde(rename = "tdm-policy")]
    policy: Option<String>,
}

impl Reservations {
    /// Reads a file. What is not of its form says nothing, part by part.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let parts = match serde_json::from_slice(text) {
            Ok(Value::Array(parts)) => parts,
            Ok(part @ Value::Object(_)) => vec![part],
            _ => Vec::new(),
        };
        Self(parts.into_iter().take(MOST_PARTS).filter_map(read).collect())
    }

    /// What is said of a path: by the pattern with the most octets, as in robots.txt; of two alike the one that reserves.
    #[must_use]
    pub fn of(&self, path_and_query: &str) -> Option<&Reservation> {
        let path = crate::robots::comparable(path_and_query);
        let holds = self.0.iter().filter(|(pattern, _)| pattern.matches(&path));
        holds.max_by_key(|(pattern, reservation)| (pattern.octets(), reservation.is_reserved)).map(|(_, of)| of)
    }
}

fn read(part: Value) -> Option<(Pattern, Reservation)> {
    let Part { location, reservation, policy } = serde_json::from_value(part).ok()?;
    let is_reserved = match reservation {
        Value::Number(number) => number.as_u64()? == 1,
        Value::String(text) => text.trim() == "1",
        _ => return None,
    };
    Some((Pattern::new(location.as_bytes()), Reservation { is_reserved, policy }))
}
