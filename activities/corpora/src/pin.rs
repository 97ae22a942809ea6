//! `corpora pin URL…`: size, digest, format and a config block to review.

use corpora_contracts::config::{Auth, Format};
use corpora_contracts::outcome::ExitCode;
use corpora_fetch::Options;
use corpora_fetch::pin::{self, Pin};
use corpora_stage::chain;
use corpora_stage::{Clock, Context, Progress, signals};
use serde::Serialize;

use crate::bars::Bars;
use crate::cli::PinArguments;
use crate::environment;
use crate::output::{self, Output};

/// What the command prints.
#[derive(Debug, Serialize)]
struct Pins {
    pins: Vec<Described>,
}

/// A file and its config block.
#[derive(Debug, Serialize)]
struct Described {
    #[serde(flatten)]
    pin: Pin,
    /// TOML to append to a config, once reviewed.
    config: String,
}

pub(crate) async fn run(arguments: &PinArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    let cancel = match signals::cancel_on_signals() {
        Ok(cancel) => cancel,
        Err(error) => return failed(ExitCode::Retry, &error),
    };
    let scratch = match tempfile::tempdir() {
        Ok(scratch) => scratch,
        Err(error) => return failed(ExitCode::Retry, &error),
    };
    let progress =
        bars.as_ref().map_or_else(Progress::default, |bars| Progress::default().observed_by(bars.observer()));
    let context = Context { layout: environment::layout(None), clock: Clock::System, cancel, progress };
    let options = Options { attempts: arguments.attempts, timeout: arguments.timeout, ..Options::default() };
    let auth = arguments.bearer_env.clone().map(|bearer_env| Auth { bearer_env });
    let mut pins = Vec::new();
    let mut exit = ExitCode::Success;
    for url in &arguments.urls {
        match pin::pin(url, auth.as_ref(), scratch.path(), &options, &context).await {
            Ok(pin) => pins.push(Described { config: block(&pin), pin }),
            Err(error) => exit = exit.worse(failed(error.disposition().into(), &error)),
        }
    }
    if let Some(bars) = bars {
        bars.clear();
    }
    let text = pins.iter().map(|pin| pin.config.as_str()).collect::<Vec<_>>().join("\n");
    exit.worse(output.result(&Pins { pins }, || text))
}

fn failed(exit: ExitCode, error: &dyn std::error::Error) -> ExitCode {
    tracing::error!("pin: {}", chain(error));
    exit
}

/// A `[[sources]]` table whose licence is left for the reviewer: the config check refuses it until it is filled in.
fn block(pin: &Pin) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let format = quoted(serde_json::to_value(pin.format).unwrap_or_default().as_str().unwrap_or_default());
    let built = pin.format != Format::Parquet;
    let note = if built { "guessed" } else { "guessed; not built yet" };
    let size = output::size(pin.bytes);
    [
        "[[sources]]".to_owned(),
        format!("id = {}", quoted(&id(&pin.name))),
        format!("url = {}", quoted(&pin.url)),
        format!("sha256 = \"{}\"  # {} bytes ({size})", pin.sha256, pin.bytes),
        "license_spdx = \"\"  # the SPDX expression that you reviewed".to_owned(),
        format!("format = {format}  # {note}"),
        String::new(),
    ]
    .join("\n")
}

/// A source id made of the file's name: lower case, without its suffixes.
fn id(name: &str) -> String {
    let stem = name.trim_start_matches('.').split('.').next().unwrap_or_default().to_lowercase();
    let safe = stem.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '-' });
    let id: String = safe.skip_while(|c| !c.is_ascii_alphanumeric()).collect();
    if id.is_empty() { "source".to_owned() } else { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_names() {
        for (name, expected) in
            [("Tiny.jsonl.gz", "tiny"), ("a b(1).txt", "a-b-1-"), ("_x", "x"), ("é", "source"), ("...", "source")]
        {
            assert_eq!(id(name), expected);
            assert!(expected.parse::<corpora_contracts::ids::Name>().is_ok());
        }
    }
}
