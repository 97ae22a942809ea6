//! The extract stage: raw documents in, normalised documents with their language out.
