//! The store stage: documents in, a staged dataset of shards, manifest and metadata out.
