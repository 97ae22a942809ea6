//! The `corpora` program: stages and tools for people.

mod bars;
mod build;
mod check;
mod cli;
mod config;
mod crawl;
mod documents;
mod environment;
mod fetch;
mod gc;
mod ledger;
mod logging;
mod memory;
mod output;
mod page;
mod pin;
mod stage;
mod status;
mod values;
mod verify;

use std::process;

use clap::Parser as _;
use corpora_contracts::outcome::ExitCode;

use crate::cli::{Cli, Command, ConfigCommand};
use crate::output::Output;

fn main() -> process::ExitCode {
    memory::give_back();
    if fetch::listed_kill_points() {
        return process::ExitCode::SUCCESS;
    }
    let exit = match Cli::try_parse_from(cli::with_stage_as_verb(std::env::args_os())) {
        Ok(cli) => start(cli),
        Err(error) => usage(&error),
    };
    process::ExitCode::from(exit.code())
}

/// Prints help, the version or what is wrong with the arguments.
fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if printed.is_ok() && error.exit_code() == 0 { ExitCode::Success } else { ExitCode::Usage }
}

fn start(cli: Cli) -> ExitCode {
    let bars = bars::Bars::for_terminal(&cli.verbosity);
    logging::start(&cli.verbosity, bars.as_ref());
    // Two workers serve every connection; splitting and hashing have threads of their own.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    match runtime {
        Ok(runtime) => runtime.block_on(dispatch(cli, bars)),
        Err(error) => {
            tracing::error!("start the runtime: {error}");
            ExitCode::Retry
        }
    }
}

async fn dispatch(cli: Cli, bars: Option<bars::Bars>) -> ExitCode {
    let output = Output::new(cli.verbosity.output);
    match cli.command {
        Command::Build(arguments) => build::run(&arguments, output, bars).await,
        Command::Extract(arguments) => documents::extract(&arguments, output, bars).await,
        Command::Store(arguments) => documents::store(&arguments, output, bars).await,
        Command::VerifyLedger(arguments) => documents::verify_ledger(&arguments, output, bars).await,
        Command::Status(arguments) => status::run(&arguments, output),
        Command::Verify { folder } => verify::folder(folder, output).await,
        Command::Fetch(arguments) => fetch::run(&arguments, output, bars).await,
        // Every known stage has become the verb before the arguments were parsed.
        Command::Run { stage: _ } => ExitCode::Usage,
        Command::Page(arguments) => page::run(&arguments, output),
        Command::Pin(arguments) => pin::run(&arguments, output, bars).await,
        Command::Crawl { command } => crawl::run(&command, output, bars).await,
        Command::Ledger { command } => ledger::run(&command, output).await,
        Command::Gc(arguments) => gc::run(&arguments, output).await,
        Command::Config { command: ConfigCommand::Check { config } } => check::run(&config, output),
        Command::Config { command: ConfigCommand::Schema { config: _ } } => output.text(config::schema()),
    }
}
