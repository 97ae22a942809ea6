//! Progress events: one JSON object a line in `progress.jsonl`, read by the orchestrator while the stage runs.

use serde::{Deserialize, Serialize};

/// One line of `progress.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Unix time in seconds.
    pub ts: f64,
    /// The attempt that wrote it, from 1.
    pub attempt: u32,
    /// What happened.
    #[serde(flatten)]
    pub kind: Kind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Kind {
    /// Work moved on.
    Step {
        /// The stage.
        stage: String,
        /// The source, or empty for the whole stage.
        source: String,
        /// How much is done.
        done: u64,
        /// Of how much, where that is known.
        total: Option<u64>,
        /// Of what: `bytes`, `docs`, `sources`.
        unit: String,
    },
    /// A figure.
    Metric {
        /// Its name, with the unit at the end: `retry_after_s`.
        name: String,
        /// Its value.
        value: f64,
        /// The source it is about, or empty.
        source: String,
    },
    /// Something durable was reached; a killed stage goes on from here.
    Ckpt {
        /// The stage.
        stage: String,
        /// The source.
        source: String,
        /// What was published, relative to the artifacts root.
        path: String,
    },
    /// The stage is done and `DONE.json` stands.
    Done {
        /// What it wrote, relative to the artifacts root.
        outputs: Vec<String>,
    },
}

/// `DONE.json`: the last act of a stage that succeeded.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Done {
    /// What the stage wrote, relative to the artifacts root.
    pub outputs: Vec<String>,
    /// The digest of the bytes of `spec.json`.
    pub spec_sha256: crate::ids::Digest,
    /// The object that the stage printed, to the byte.
    pub result: Box<serde_json::value::RawValue>,
}

impl PartialEq for Done {
    fn eq(&self, other: &Self) -> bool {
        (&self.outputs, &self.spec_sha256, self.result.get())
            == (&other.outputs, &other.spec_sha256, other.result.get())
    }
}
