//! The `corpora-worker` program: builds as durable workflows, whose steps run `corpora` as child processes.

mod activities;
mod cli;
mod closing;
mod control;
mod ending;
mod environment;
mod failure;
mod files;
mod find;
mod key;
mod labels;
mod logging;
mod message;
mod output;
mod plan;
#[cfg(test)]
mod replay;
mod report;
mod runner;
mod service;
mod spec;
mod start;
mod status;
mod wait;
mod worker;
mod workflow;

use std::process;

use clap::Parser as _;
use corpora_contracts::outcome::ExitCode;

use crate::cli::{Cli, Command};
use crate::control::Request;
use crate::output::Output;

fn main() -> process::ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => run(&cli),
        Err(error) => usage(&error),
    };
    process::ExitCode::from(exit.code())
}

/// Prints help, the version or what is wrong with the arguments.
fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if printed.is_ok() && error.exit_code() == 0 { ExitCode::Success } else { ExitCode::Usage }
}

fn run(cli: &Cli) -> ExitCode {
    logging::start(&cli.verbosity, matches!(cli.command, Command::Run(_)));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!("start the runtime: {error}");
            return ExitCode::Retry;
        }
    };
    let output = Output::new(cli.output);
    match &cli.command {
        Command::Run(arguments) => runtime.block_on(worker::run(arguments, cli.verbosity.log_format)),
        Command::Start(arguments) => runtime.block_on(start::run(arguments, output)),
        Command::Status(build) => runtime.block_on(status::run(&build.id, output)),
        Command::Pause(build) => runtime.block_on(control::run(Request::Pause, &build.id, output)),
        Command::Resume(build) => runtime.block_on(control::run(Request::Resume, &build.id, output)),
        Command::Cancel(build) => runtime.block_on(control::run(Request::Cancel, &build.id, output)),
    }
}
