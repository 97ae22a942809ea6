//! Checked tables into typed values. None means that a problem stands in the way, which the walk has reported.

use super::check::Row;
use super::policy::{LicensePolicy, PolicyEntry};
use super::{Auth, Config, Crawl, Extract, Format, Source, Split, Store};
use crate::ids::Digest;

pub(super) fn config(mut row: Row, policy: &[PolicyEntry]) -> Option<Config> {
    let sources: Vec<Row> = row.take("sources")?;
    let crawls: Vec<Row> = row.take("crawls")?;
    Some(Config {
        dataset: row.take("dataset")?,
        version: row.take("version")?,
        keep_downloads: row.take("keep_downloads")?,
        sources: sources.into_iter().map(source).collect::<Option<_>>()?,
        crawls: crawls.into_iter().map(crawl).collect::<Option<_>>()?,
        extract: extract(row.take("extract")?)?,
        store: store(row.take("store")?)?,
        licenses: licenses(policy),
        crawled: Vec::new(),
    })
}

fn source(mut row: Row) -> Option<Source> {
    let format: Format = row.take("format")?;
    let page_bytes = row.take("page_bytes").filter(|_| format.has_pages());
    Some(Source {
        id: row.take("id")?,
        url: row.take("url")?,
        sha256: row.take("sha256")?,
        license_spdx: row.take("license_spdx")?,
        license_url: row.take("license_url"),
        allowed_uses: row.take("allowed_uses")?,
        pii_policy: row.take("pii_policy")?,
        mirrors: row.take("mirrors")?,
        auth: row.take("auth").and_then(|mut auth: Row| Some(Auth { bearer_env: auth.take("bearer_env")? })),
        split: Split {
            format,
            text_field: row.take("text_field")?,
            meta_fields: row.take("meta_fields")?,
            on_bad_document: row.take("on_bad_document")?,
            max_line_bytes: row.take("max_line_bytes")?,
            page_bytes,
            crawl: None,
        },
    })
}

fn crawl(mut row: Row) -> Option<Crawl> {
    let crawl = Crawl {
        id: row.take("id")?,
        seed_urls: row.take("seed_urls")?,
        allowed_domains: row.take("allowed_domains")?,
        max_depth: row.take("max_depth")?,
        user_agent: row.take("user_agent")?,
        license_spdx: row.take("license_spdx")?,
        allowed_uses: row.take("allowed_uses")?,
        pii_policy: row.take("pii_policy")?,
        max_pages: row.take("max_pages")?,
        max_pages_per_host: row.take("max_pages_per_host"),
        max_pages_per_pattern: row.take("max_pages_per_pattern"),
        max_bytes: row.take("max_bytes")?,
        max_duration: row.take("max_duration")?,
        page_timeout: row.take("page_timeout")?,
        page_bytes: row.take("page_bytes")?,
        delay: row.take("delay")?,
        concurrency: row.take("concurrency")?,
        per_host: row.take("per_host")?,
        include: row.take("include")?,
        exclude: row.take("exclude")?,
        content_types: row.take("content_types")?,
        sitemaps: row.take("sitemaps")?,
        redirects: row.take("redirects")?,
        respect_rights: row.take("respect_rights")?,
        allow_private_networks: row.take("allow_private_networks")?,
        engine: row.take("engine")?,
        key: Digest::of(b""),
    };
    crawl.keyed().ok()
}

fn extract(mut row: Row) -> Option<Extract> {
    Some(Extract {
        format: row.take("format")?,
        favor: row.take("favor")?,
        page_bytes: row.take("page_bytes")?,
        max_depth: row.take("max_depth")?,
        max_nodes: row.take("max_nodes")?,
        attribute_bytes: row.take("attribute_bytes")?,
        time_budget: row.take("time_budget")?,
    })
}

fn store(mut row: Row) -> Option<Store> {
    Some(Store {
        shard_rows: row.take("shard_rows")?,
        val_permille: row.take("val_permille")?,
        formats: row.take("formats")?,
        target: row.take("target")?,
        metadata: row.take("metadata")?,
    })
}

fn licenses(policy: &[PolicyEntry]) -> LicensePolicy {
    policy.iter().map(|entry| (entry.license.clone(), entry.allowed_uses.clone())).collect()
}
