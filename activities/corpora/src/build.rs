//! `corpora build`: every stage of the plan, here, in this process; no services needed.

use std::fs;
use std::path::Path;

use corpora_contracts::ids::Name;
use corpora_contracts::manifest::Manifest;
use corpora_contracts::outcome::ExitCode;
use corpora_contracts::summary::{BuildSummary, FetchSummary, StageResult, StageSummary};
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
    let mut build = Build { loaded: &loaded, arguments, context: &context, stages: Vec::new() };
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
    async fn level(&mut self, steps: &[Step]) -> Ended;
}

/// How a level ended.
struct Ended {
    exit: ExitCode,
    /// Sources that could not be done: their next stages do not try them, so that their own exit code stands.
    failed: Vec<Name>,
}

impl From<ExitCode> for Ended {
    fn from(exit: ExitCode) -> Self {
        Self { exit, failed: Vec::new() }
    }
}

/// Walks the levels in order. After a failure only the steps that always run still do; with `keep_going` a failed
/// source stops neither the other sources nor their next stages, but the dataset as a whole is not made without it.
///
/// `workflows/plan/tests/order.json` is how every driver does so.
async fn walk(levels: &[Vec<Step>], until: Option<Stage>, keep_going: bool, driver: &mut impl Driver) -> ExitCode {
    let (mut exit, mut failed) = (ExitCode::Success, Vec::new());
    for steps in levels {
        let steps: Vec<Step> = steps.iter().filter_map(|step| without(step, &failed)).collect();
        let Some(first) = steps.first() else { continue };
        if until.is_some_and(|until| first.stage > until) {
            break;
        }
        let is_due = exit == ExitCode::Success
            || first.runs == Runs::Always
            || (keep_going && exit != ExitCode::Cancelled && matches!(first.scope, Scope::Sources(_)));
        if is_due {
            let ended = driver.level(&steps).await;
            exit = exit.worse(ended.exit);
            failed.extend(ended.failed);
        }
    }
    exit
}

/// A step without the sources that failed; none when it would be left with none.
fn without(step: &Step, failed: &[Name]) -> Option<Step> {
    let Scope::Sources(sources) = &step.scope else { return Some(step.clone()) };
    let left: Vec<Name> = sources.iter().filter(|id| !failed.contains(id)).cloned().collect();
    (!left.is_empty()).then(|| Step { scope: Scope::Sources(left), ..step.clone() })
}

/// The local driver: a level is one call of its stage, which bounds what it does at a time by itself.
struct Build<'a> {
    loaded: &'a Loaded,
    arguments: &'a BuildArguments,
    context: &'a Context,
    stages: Vec<StageResult>,
}

impl Driver for Build<'_> {
    async fn level(&mut self, steps: &[Step]) -> Ended {
        let Some(first) = steps.first() else { return ExitCode::Success.into() };
        let sources: Vec<Name> = steps.iter().flat_map(sources_of).cloned().collect();
        match (first.stage, &first.scope) {
            (Stage::Fetch, Scope::Commit) => self.commit().await.into(),
            (Stage::Fetch, _) => {
                let outcome = self.fetch(sources, CommitMode::Never).await;
                let failed = outcome.summary.entries.iter().filter(|entry| !entry.status.is_ok());
                let failed = failed.map(|entry| entry.source_id.clone()).collect();
                self.stages.push(StageResult::Fetch(outcome.summary));
                Ended { exit: outcome.exit, failed }
            }
            (Stage::Extract, _) => {
                let options = corpora_extract::Options {
                    only: sources,
                    keep_going: self.arguments.keep_going,
                    jobs: self.arguments.jobs.count(),
                    lock_timeout: self.arguments.lock_timeout,
                };
                let outcome = corpora_extract::run(&self.loaded.config, &options, self.context).await;
                self.keep(outcome)
            }
            (Stage::Store, _) => {
                let options = corpora_store::Options {
                    jobs: self.arguments.jobs.count(),
                    lock_timeout: self.arguments.lock_timeout,
                };
                let outcome = corpora_store::run(&self.loaded.config, &options, self.context).await;
                self.keep(outcome)
            }
            (Stage::VerifyLedger, _) => {
                let options = corpora_verify_ledger::Options { lock_timeout: self.arguments.lock_timeout };
                let outcome = corpora_verify_ledger::run(&self.loaded.config, &options, self.context).await;
                self.keep(outcome)
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

    fn keep(&mut self, outcome: Outcome<StageSummary>) -> Ended {
        self.stages.push(StageResult::Documents(outcome.summary));
        outcome.exit.into()
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
    use std::collections::BTreeMap;

    use corpora_contracts::config::{parse_json, validate};
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    /// How drivers walk a plan; the Temporal workflow is held to the same file.
    const ORDER: &str = include_str!("../../../workflows/plan/tests/order.json");

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Order {
        #[serde(rename = "about")]
        _about: String,
        config: Value,
        walks: Vec<Walk>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Walk {
        until: Option<Stage>,
        keep_going: bool,
        failing: BTreeMap<String, u8>,
        levels: Vec<Vec<String>>,
        code: u8,
    }

    /// A driver whose stages do nothing but remember, and fail where they are told to.
    struct Fake<'a> {
        failing: &'a BTreeMap<String, u8>,
        walked: Vec<Vec<String>>,
    }

    impl Driver for Fake<'_> {
        async fn level(&mut self, steps: &[Step]) -> Ended {
            self.walked.push(steps.iter().map(|step| step.id.clone()).collect());
            let failed = steps.iter().filter_map(|step| Some((step, exit(*self.failing.get(&step.id)?))));
            let nothing = Ended::from(ExitCode::Success);
            failed.fold(nothing, |Ended { exit, failed }, (step, other)| Ended {
                exit: exit.worse(other),
                failed: [&failed, sources_of(step)].concat(),
            })
        }
    }

    fn exit(code: u8) -> ExitCode {
        let all = [ExitCode::Success, ExitCode::Usage, ExitCode::Data, ExitCode::Retry, ExitCode::Cancelled];
        all.into_iter().find(|exit| exit.code() == code).unwrap()
    }

    #[tokio::test]
    async fn the_plan_is_walked_in_order_as_far_as_it_goes() {
        let order: Order = serde_json::from_str(ORDER).unwrap();
        let config = validate(&parse_json(order.config.to_string().as_bytes()).unwrap()).config.unwrap();
        let plan = corpora_plan::steps(&config);
        let cancelled = Walk {
            until: None,
            keep_going: true,
            failing: [("fetch-a".to_owned(), 130)].into(),
            levels: order.walks[1].levels.clone(),
            code: 130,
        };
        for expected in order.walks.iter().chain([&cancelled]) {
            let Walk { until, keep_going, failing, levels, code } = expected;
            let mut fake = Fake { failing, walked: Vec::new() };
            let exit = walk(&plan.levels, *until, *keep_going, &mut fake).await;
            assert_eq!((&fake.walked, exit.code()), (levels, *code), "{expected:?}");
        }
    }

    #[test]
    fn a_step_of_many_goes_on_without_those_that_failed() {
        let [a, b] = ["a", "b"].map(|id| id.parse::<Name>().unwrap());
        let order: Order = serde_json::from_str(ORDER).unwrap();
        let config = validate(&parse_json(order.config.to_string().as_bytes()).unwrap()).config.unwrap();
        let step = corpora_plan::steps(&config).levels.swap_remove(2).swap_remove(0);
        let shared = Step { scope: Scope::Sources(vec![a.clone(), b.clone()]), ..step };
        let left = without(&shared, std::slice::from_ref(&a)).map(|step| step.scope);
        assert_eq!(left, Some(Scope::Sources(vec![b.clone()])));
        assert_eq!(without(&shared, &[a, b]), None);
    }
}
