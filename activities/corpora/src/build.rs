//! `corpora build`: every stage of the plan, here, in this process; no services needed.

use std::fs;
use std::path::Path;

use corpora_contracts::ids::Name;
use corpora_contracts::manifest::Manifest;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::{BuildSummary, FetchSummary, StageResult};
use corpora_fetch::CommitMode;
use corpora_plan::{Runs, Scope, Stage, Step};
use corpora_stage::{Context, Outcome};

use crate::bars::Bars;
use crate::check;
use crate::cli::BuildArguments;
use crate::config::Loaded;
use crate::documents;
use crate::fetch;
use crate::output::Output;
use crate::stage::{self, Failure};
use crate::status;

pub(crate) async fn run(arguments: &BuildArguments, output: Output, bars: Option<Bars>) -> ExitCode {
    let result =
        if arguments.dry_run { status::dry_run(arguments, output) } else { build(arguments, output, bars).await };
    result.unwrap_or_else(|failure| failure.report())
}

async fn build(arguments: &BuildArguments, output: Output, bars: Option<Bars>) -> Result<ExitCode, Failure> {
    let loaded = check::load(&arguments.config)?;
    let context = stage::context(arguments.artifacts.as_ref(), None, bars.as_ref())?;
    let mut build = Build { loaded: &loaded, arguments, context: &context, stages: Vec::new(), failed: Vec::new() };
    let plan = corpora_plan::steps(&loaded.config);
    let exit = walk(&plan.levels, arguments.until.map(Stage::from), arguments.keep_going, &mut build).await;
    if let Some(bars) = bars {
        bars.clear();
    }
    let summary = build.summary(exit);
    let printed = output.result(&summary, || for_people(&summary, &context));
    Ok(exit.worse(printed))
}

/// Something that runs the steps of a level.
trait Driver {
    /// Runs steps of one stage and scope kind, all of one level.
    async fn level(&mut self, steps: &[Step]) -> ExitCode;
}

/// Walks the levels in order. After a failure only the steps that always run still do; with `keep_going` a failed
/// source stops neither the other sources nor their next stages, but the dataset as a whole is not made without it.
async fn walk(levels: &[Vec<Step>], until: Option<Stage>, keep_going: bool, driver: &mut impl Driver) -> ExitCode {
    let mut exit = ExitCode::Success;
    for steps in levels {
        let Some(first) = steps.first() else { continue };
        if until.is_some_and(|until| first.stage > until) {
            break;
        }
        let is_due = exit == ExitCode::Success
            || first.runs == Runs::Always
            || (keep_going && exit != ExitCode::Cancelled && matches!(first.scope, Scope::Sources(_)));
        if is_due {
            exit = exit.worse(driver.level(steps).await);
        }
    }
    exit
}

/// The local driver: a level is one call of its stage, which bounds what it does at a time by itself.
struct Build<'a> {
    loaded: &'a Loaded,
    arguments: &'a BuildArguments,
    context: &'a Context,
    stages: Vec<StageResult>,
    /// Sources that a stage could not do: the next one does not try them, so that their own exit code stands.
    failed: Vec<Name>,
}

impl Driver for Build<'_> {
    async fn level(&mut self, steps: &[Step]) -> ExitCode {
        let Some(first) = steps.first() else { return ExitCode::Success };
        let wanted = steps.iter().flat_map(sources_of);
        let sources: Vec<Name> = wanted.filter(|id| !self.failed.contains(id)).cloned().collect();
        if sources.is_empty() && matches!(first.scope, Scope::Sources(_)) {
            return ExitCode::Success;
        }
        match (first.stage, &first.scope) {
            (Stage::Fetch, Scope::Commit) => self.commit().await,
            (Stage::Fetch, _) => {
                let outcome = self.fetch(sources, CommitMode::Never).await;
                let failed = outcome.summary.entries.iter().filter(|entry| !entry.status.is_ok());
                self.failed.extend(failed.map(|entry| entry.source_id.clone()));
                self.keep(StageResult::Fetch(outcome.summary), outcome.exit)
            }
            (Stage::Extract, _) => {
                let options = corpora_extract::Options {
                    only: sources,
                    keep_going: self.arguments.keep_going,
                    jobs: self.arguments.jobs.count(),
                    lock_timeout: self.arguments.lock_timeout,
                };
                let outcome = corpora_extract::run(&self.loaded.config, &options, self.context).await;
                self.keep(StageResult::Documents(outcome.summary), outcome.exit)
            }
            (Stage::Store, _) => {
                let options = corpora_store::Options {
                    jobs: self.arguments.jobs.count(),
                    lock_timeout: self.arguments.lock_timeout,
                };
                let outcome = corpora_store::run(&self.loaded.config, &options, self.context).await;
                self.keep(StageResult::Documents(outcome.summary), outcome.exit)
            }
            (Stage::VerifyLedger, _) => {
                let options = corpora_verify_ledger::Options { lock_timeout: self.arguments.lock_timeout };
                let outcome = corpora_verify_ledger::run(&self.loaded.config, &options, self.context).await;
                self.keep(StageResult::Documents(outcome.summary), outcome.exit)
            }
        }
    }
}

impl Build<'_> {
    async fn fetch(&self, only: Vec<Name>, commit: CommitMode) -> Outcome<FetchSummary> {
        let options = corpora_fetch::Options {
            only,
            commit,
            keep_going: self.arguments.keep_going,
            lock_timeout: self.arguments.lock_timeout,
            ..self.arguments.tuning.options()
        };
        corpora_fetch::run(&self.loaded.config, &self.loaded.base, &options, self.context).await
    }

    /// The commit has no entry of its own in the result: its error stands in fetch's.
    async fn commit(&mut self) -> ExitCode {
        let outcome = self.fetch(Vec::new(), CommitMode::Only).await;
        if let (Some(error), Some(StageResult::Fetch(fetch))) = (outcome.summary.error, self.stages.first_mut()) {
            (fetch.ok, fetch.error) = (false, Some(error));
        }
        outcome.exit
    }

    fn keep(&mut self, result: StageResult, exit: ExitCode) -> ExitCode {
        self.stages.push(result);
        exit
    }

    fn summary(self, exit: ExitCode) -> BuildSummary {
        let config = &self.loaded.config;
        let folder = self.context.layout.dataset(&config.dataset, &config.version);
        let is_verified = |stage: &StageResult| matches!(stage, StageResult::Documents(summary) if summary.stage == corpora_verify_ledger::STAGE && summary.ok);
        let is_published = self.stages.iter().any(is_verified);
        let manifest = manifest(&folder).filter(|_| is_published);
        BuildSummary {
            stage: "build".to_owned(),
            ok: exit == ExitCode::Success,
            dataset: config.dataset.clone(),
            version: config.version.clone(),
            dataset_dir: manifest.as_ref().map(|_| self.context.layout.relative(&folder)).unwrap_or_default(),
            n_docs: manifest.map_or(0, |manifest| manifest.n_docs),
            stages: self.stages,
            clock: self.context.clock.mark(),
        }
    }
}

fn sources_of(step: &Step) -> &[Name] {
    match &step.scope {
        Scope::Sources(sources) => sources,
        Scope::Commit | Scope::Dataset => &[],
    }
}

fn manifest(folder: &Path) -> Option<Manifest> {
    serde_json::from_slice(&fs::read(folder.join("_MANIFEST.json")).ok()?).ok()
}

/// Each stage's table, then where the dataset is and how to open it.
fn for_people(summary: &BuildSummary, context: &Context) -> String {
    let mut text: Vec<String> = summary.stages.iter().map(stage_for_people).collect();
    if !summary.dataset_dir.is_empty() {
        let folder = context.layout.root().join(&summary.dataset_dir);
        text.push(how_to_open(&folder.display().to_string(), summary));
    }
    text.join("\n\n")
}

fn stage_for_people(stage: &StageResult) -> String {
    match stage {
        StageResult::Fetch(summary) => fetch::table(summary),
        StageResult::Documents(summary) => documents::table(summary),
    }
}

fn how_to_open(folder: &str, summary: &BuildSummary) -> String {
    let BuildSummary { dataset, version, n_docs, .. } = summary;
    format!(
        "{dataset} {version}: {n_docs} documents, verified, in {folder}

    # Polars
    import polars; polars.read_parquet(\"{folder}/*.parquet\")
    # DuckDB
    import duckdb; duckdb.sql(\"SELECT lang, count(*) FROM '{folder}/*.parquet' GROUP BY lang\")
    # Hugging Face datasets
    from datasets import load_dataset; load_dataset(\"{folder}\")"
    )
}

#[cfg(test)]
mod tests {
    use corpora_contracts::config::{parse_toml, validate};

    use super::*;

    /// A driver whose stages do nothing but remember, and fail where they are told to.
    #[derive(Default)]
    struct Fake {
        walked: Vec<String>,
        failing: Vec<(&'static str, ExitCode)>,
    }

    impl Driver for Fake {
        async fn level(&mut self, steps: &[Step]) -> ExitCode {
            let mut exit = ExitCode::Success;
            for step in steps {
                self.walked.push(step.arguments().join(" "));
                let failing = self.failing.iter().find(|(id, _)| *id == step.id);
                exit = exit.worse(failing.map_or(ExitCode::Success, |(_, exit)| *exit));
            }
            exit
        }
    }

    fn levels() -> Vec<Vec<Step>> {
        let source = |id: &str| {
            let sha256 = "0".repeat(64);
            format!("[[sources]]\nid = \"{id}\"\nurl = \"{id}.jsonl\"\nsha256 = \"{sha256}\"\nlicense_spdx = \"MIT\"\n")
        };
        let text = format!("dataset = \"d\"\nversion = \"v1\"\n{}{}", source("a"), source("b"));
        corpora_plan::steps(&validate(&parse_toml(&text).unwrap()).config.unwrap()).levels
    }

    #[tokio::test]
    async fn the_plan_is_walked_in_order_as_far_as_it_goes() {
        let fetched = ["fetch --no-commit --source a", "fetch --no-commit --source b", "fetch --commit"];
        let extracted = ["extract --source a", "extract --source b"];
        let all = [&fetched[..], &extracted[..], &["store", "verify-ledger"][..]].concat();
        let failed = vec![("fetch-a", ExitCode::Retry)];
        for (until, keep_going, failing, expected, exit) in [
            (None, false, vec![], all.clone(), ExitCode::Success),
            (Some(Stage::Fetch), false, vec![], fetched.to_vec(), ExitCode::Success),
            (Some(Stage::Store), false, vec![], all[..6].to_vec(), ExitCode::Success),
            (None, false, failed.clone(), fetched.to_vec(), ExitCode::Retry),
            (None, true, failed, [&fetched[..], &extracted[..]].concat(), ExitCode::Retry),
            (None, true, vec![("fetch-a", ExitCode::Cancelled)], fetched.to_vec(), ExitCode::Cancelled),
            (None, true, vec![("store", ExitCode::Data)], all[..6].to_vec(), ExitCode::Data),
        ] {
            let mut fake = Fake { failing, ..Fake::default() };
            assert_eq!(walk(&levels(), until, keep_going, &mut fake).await, exit);
            assert_eq!(fake.walked, expected, "until {until:?}, keep going {keep_going}");
        }
    }
}
