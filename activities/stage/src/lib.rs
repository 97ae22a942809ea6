//! A stage as a process: clock, durable writes, locks, progress, DONE.json, signals.
