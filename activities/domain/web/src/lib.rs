//! Pure HTTP decisions: what to do with a ranged answer, Retry-After, redirects, safe names.
