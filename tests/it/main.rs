//! The one integration-test binary: what Corpora promises, asked of the real program.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should stop where it is")]

mod architecture;
mod build_changes;
mod build_crash;
mod build_forecast;
mod build_gc;
mod build_order;
mod build_reads;
mod build_run;
mod build_together;
mod crash;
mod fetch_activity;
mod fetch_bodies;
mod fetch_cached;
mod fetch_cancel;
mod fetch_credentials;
mod fetch_disk;
mod fetch_formats;
mod fetch_jsonl;
mod fetch_ledger;
mod fetch_local;
mod fetch_mirrors;
mod fetch_network;
mod fetch_output;
mod fetch_redirects;
mod fetch_resume;
mod fetch_retry;
mod fetch_run;
mod fetch_text;
mod pitfalls;
mod seed;
mod servers;
mod temporal;
