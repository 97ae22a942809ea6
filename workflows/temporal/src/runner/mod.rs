//! A step as a child process: one attempt, from its spec to what the orchestrator is told. Every stage runs this way.

mod capture;
mod child;
mod progress;
mod turn;
mod verdict;
mod watch;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use corpora_contracts::outcome::ExitCode;
use corpora_plan::Step;
use serde_json::Value;
use temporalio_sdk::activities::ActivityContext;
use tokio::runtime::Handle;

pub(crate) use self::verdict::code_of;

use self::child::{Launcher, Running};
use self::progress::Tail;
use self::turn::{Turn, TurnError};
use self::verdict::{Ended, Verdict};
use self::watch::{End, Patience};
use crate::cli::Format;
use crate::environment;
use crate::failure::{self, Failure};
use crate::key::ActivityKey;
use crate::message::{StepFailure, StepInput, StepOutput};
use crate::plan;

/// Runs steps as children of this worker.
#[derive(Debug)]
pub(crate) struct Runner {
    program: PathBuf,
    logs: Format,
    grace: Duration,
    launcher: Launcher,
}

impl Runner {
    /// A runner of `program`, a name to be found on the `PATH` or a path, which logs as `logs` says. `grace` is what a
    /// child has between SIGTERM and SIGKILL. No child outlives the runner.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(crate) fn new(program: PathBuf, logs: Format, grace: Duration) -> io::Result<Self> {
        Ok(Self { program, logs, grace, launcher: Launcher::start(Handle::current())? })
    }

    /// One attempt of the step whose activity has this key.
    ///
    /// # Errors
    /// [`Failure`], with the child's own message.
    pub(crate) async fn run(
        &self,
        key: &ActivityKey,
        input: &StepInput,
        context: &ActivityContext,
    ) -> Result<StepOutput, Failure> {
        let number = context.info().attempt;
        let step = plan::step(input, key);
        let step = step.map_err(|error| Failure::without_child(error.disposition().into(), number, &error))?;
        let attempt = Attempt { key, step, number };
        let mut last = last_words(context);
        tracing::info!(%key, attempt = number, previous = %last, "starting");
        let patience = Patience::new(context.info().heartbeat_timeout, self.grace);
        let folder = key.folder(&input.artifacts);
        let turn = Turn::take(&folder, number, self.grace);
        let turn = watch::heard(turn, patience, context.cancelled(), || report(context.clone(), last.clone())).await;
        let turn = turn.ok_or_else(|| attempt.cancelled())?.map_err(|error| attempt.not_begun(&error))?;
        let mut tail = Tail::behind(&folder.join("progress.jsonl"));
        let mut running = self.start(&attempt, input, turn).await.map_err(|error| attempt.not_started(&error))?;
        let beat = || {
            last = tail.newest().unwrap_or_else(|| last.take());
            report(context.clone(), last.clone())
        };
        let end = watch::watch(&mut running, patience, context.cancelled(), beat).await;
        let end = end.map_err(|error| attempt.not_started(&error))?;
        tracing::info!(%key, attempt = number, end = end.ended.type_name(), asked = end.asked, "ended");
        attempt.outcome(end, &running.said().await)
    }

    async fn start(&self, attempt: &Attempt<'_>, input: &StepInput, turn: Turn) -> io::Result<Running> {
        let StepInput { artifacts, traceparent, .. } = input;
        let (inherited, traceparent) = (environment::inherited(), traceparent.as_deref());
        let environment = environment::of_child(inherited, artifacts, attempt.key, attempt.number, traceparent);
        let mut arguments = attempt.step.arguments();
        if self.logs == Format::Json {
            // The children's lines stand between the worker's own.
            arguments.extend(["--log-format", "json"].map(str::to_owned));
        }
        let folder = attempt.key.folder(artifacts);
        let order = child::order(&self.program, &arguments, &folder, artifacts, environment);
        self.launcher.launch(&order, Some(turn)).await
    }
}

/// One attempt of a step.
#[derive(Debug)]
struct Attempt<'a> {
    key: &'a ActivityKey,
    step: Step,
    /// From 1.
    number: u32,
}

/// What a child printed.
#[derive(Debug, Default)]
struct Said {
    /// The object on the last line of stdout.
    result: Value,
    /// The end of stderr.
    stderr: Vec<u8>,
}

impl Attempt<'_> {
    fn outcome(&self, end: End, said: &Said) -> Result<StepOutput, Failure> {
        let details = StepFailure::told(self.number, &said.result);
        match end.ended.verdict(end.asked, &self.step.retry.final_exit_codes) {
            Verdict::Completed => Ok(StepOutput { attempt: self.number, result: details.result }),
            Verdict::Cancelled => Err(Failure::Cancelled(details)),
            Verdict::Failed => Err(self.failed(end.ended, false, said, details)),
            Verdict::FailedForGood => Err(self.failed(end.ended, true, said, details)),
        }
    }

    fn failed(&self, ended: Ended, for_good: bool, said: &Said, details: Box<StepFailure>) -> Failure {
        let type_name = ended.type_name();
        let message = failure::message(&self.step.id, &type_name, &said.stderr);
        let retry_after = failure::retry_after(&said.result);
        Failure::Failed { type_name, for_good, message, retry_after, details }
    }

    /// It was asked to stop before it had a child.
    fn cancelled(&self) -> Failure {
        Failure::Cancelled(StepFailure::told(self.number, &Value::Null))
    }

    /// It has no turn; that passes.
    fn not_begun(&self, error: &TurnError) -> Failure {
        Failure::without_child(ExitCode::Retry, self.number, error)
    }

    /// A child that could not be started, or not be waited for; another worker may have better luck.
    fn not_started(&self, error: &io::Error) -> Failure {
        let ended = Ended::Code(child::code_of_failed_start(error));
        tracing::error!(key = %self.key, attempt = self.number, "start the child: {error}");
        let stderr = format!("failed to start the child of step `{}`: {error}", self.step.id).into_bytes();
        let details = StepFailure::told(self.number, &Value::Null);
        self.failed(ended, false, &Said { result: Value::Null, stderr }, details)
    }
}

impl Running {
    async fn said(mut self) -> Said {
        let stdout = match self.stdout.take() {
            Some(stdout) => stdout.finish().await,
            None => Vec::new(),
        };
        let stderr = match self.stderr.take() {
            Some(stderr) => stderr.finish().await,
            None => Vec::new(),
        };
        Said { result: failure::result_of(&stdout), stderr }
    }
}

/// A sign of life, with the child's last event.
async fn report(context: ActivityContext, last: Value) {
    if let Err(error) = context.record_heartbeat(last).await {
        tracing::warn!("failed to report progress: {error}");
    }
}

/// The last event of the previous attempt: for the log alone, since stages resume from disk.
fn last_words(context: &ActivityContext) -> Value {
    context.heartbeat_details().deserialize().ok().flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use corpora_plan::{RetryPolicy, Runs, Scope, Stage, Timeouts};

    use super::*;

    fn step() -> Step {
        Step {
            id: "fetch-a".to_owned(),
            stage: Stage::Fetch,
            scope: Scope::Sources(vec!["a".parse().unwrap()]),
            runs: Runs::AfterSuccess,
            reads: Vec::new(),
            writes: Vec::new(),
            timeouts: Timeouts::DEFAULT,
            retry: RetryPolicy::default(),
        }
    }

    fn outcome(code: i32, asked: bool, result: &str, stderr: &str) -> Result<StepOutput, Failure> {
        let key = ActivityKey::new("w", "r", "fetch-a").unwrap();
        let said = Said { result: failure::result_of(result.as_bytes()), stderr: stderr.into() };
        Attempt { key: &key, step: step(), number: 3 }.outcome(End { ended: Ended::Code(code), asked }, &said)
    }

    #[test]
    fn a_child_is_told_where_its_files_are() {
        let (artifacts, folder) = (Path::new("/a"), Path::new("/a/activities/w/r/fetch-a"));
        let order = child::order(Path::new("corpora"), &step().arguments(), folder, artifacts, Vec::new());
        assert_eq!(order.program, Path::new("corpora"));
        let words: Vec<&str> = order.arguments.iter().map(|word| word.to_str().unwrap()).collect();
        let expected = "fetch --no-commit --source a --spec /a/activities/w/r/fetch-a/spec.json \
                        --progress /a/activities/w/r/fetch-a/progress.jsonl --artifacts /a";
        assert_eq!(words.join(" "), expected);
    }

    #[test]
    fn an_attempt_is_told_as_the_child_ended() {
        let done = outcome(0, true, "{\"stage\":\"fetch\"}\n", "").unwrap();
        assert_eq!((done.attempt, done.result["stage"].as_str()), (3, Some("fetch")));

        let Err(Failure::Failed { type_name, for_good, message, retry_after, details }) =
            outcome(75, false, r#"{"entries":[{"status":"failed","error":{"retry_after_s":600}}]}"#, "error: 503\n")
        else {
            panic!("75 fails")
        };
        assert_eq!((type_name.as_str(), for_good, message.as_str()), ("ExitCode75", false, "error: 503"));
        assert_eq!((retry_after, details.attempt), (Some(Duration::from_secs(600)), 3));

        for code in [2, 65] {
            let Err(Failure::Failed { for_good, .. }) = outcome(code, true, "", "") else { panic!("{code} fails") };
            assert!(for_good, "{code}");
        }
        assert!(matches!(outcome(130, true, "", ""), Err(Failure::Cancelled(_))));
        assert!(matches!(outcome(130, false, "", ""), Err(Failure::Failed { for_good: false, .. })));
    }
}
