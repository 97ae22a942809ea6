//! SIGTERM and SIGINT become one cancellation.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A token that SIGTERM or SIGINT cancels; what was done by then is kept.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn cancel_on_signals() -> io::Result<CancellationToken> {
    let token = CancellationToken::new();
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let cancelled = token.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => tracing::warn!("SIGTERM: stopping; what was done is kept"),
            _ = interrupt.recv() => tracing::warn!("SIGINT: stopping; what was done is kept"),
        }
        cancelled.cancel();
    });
    Ok(token)
}
