use corpora_plan::{RetryPolicy, Timeouts};
use serde_json::json;

use super::*;

fn name(id: &str) -> Name {
    id.parse().unwrap()
}

fn head(id: &str, stage: Stage, runs: Runs, first: Option<&str>, sources: u32) -> Head {
    let (timeouts, retry) = (Timeouts::DEFAULT, RetryPolicy::default());
    Head { id: id.to_owned(), stage, runs, first: first.map(name), sources, timeouts, retry }
}

fn fetch(source: &str) -> Due {
    let head = head(&format!("fetch-{source}"), Stage::Fetch, Runs::AfterSuccess, Some(source), 1);
    Due { head, share: Some(name(source)), left_out: Vec::new() }
}

fn shared(stage: Stage, first: &str, sources: u32) -> Head {
    head(&format!("{stage}-{first}"), stage, Runs::AfterSuccess, Some(first), sources)
}

fn done(result: Value) -> Ended {
    Ended::Done { attempt: 1, result }
}

fn failed(code: ExitCode, message: &str) -> Ended {
    let error = StepError { kind: format!("ExitCode{}", code.code()), message: message.to_owned() };
    Ended::Failed { attempt: 2, code, error, stops_others: true, failed: Vec::new(), open: Vec::new() }
}

fn failed_of(code: ExitCode, lost: &[&str], left: &[&str]) -> Ended {
    let names = |ids: &[&str]| ids.iter().map(|id| name(id)).collect::<Vec<_>>();
    match failed(code, "why") {
        Ended::Failed { attempt, code, error, stops_others, .. } => {
            Ended::Failed { attempt, code, error, stops_others, failed: names(lost), open: names(left) }
        }
        other => other,
    }
}

/// A record after these steps.
fn after(ends: impl IntoIterator<Item = (Due, Ended)>) -> Record {
    let mut record = Record::default();
    for (due, ended) in ends {
        record.add(&due.head);
        record.end(&due, ended);
    }
    record
}

#[test]
fn a_build_is_as_good_as_its_worst_step() {
    assert_eq!(Record::default().code(), ExitCode::Success);
    let mut record = after([
        (fetch("a"), done(Value::Null)),
        (fetch("b"), failed(ExitCode::Retry, "503")),
        (fetch("c"), Ended::Cancelled { attempt: 1 }),
        (fetch("d"), failed(ExitCode::Data, "404")),
    ]);
    record.cancel();
    assert_eq!(record.first_failure().map(|error| error.message.as_str()), Some("503"));
    let report = record.report();
    assert_eq!((report.ok, report.code), (false, 65));
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains(r#"{"step":"fetch-a","stage":"fetch","status":"done","attempts":1}"#), "{json}");
    assert_eq!(serde_json::from_str::<WorkflowReport>(&json).unwrap(), report);
    let carried: Record = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
    assert_eq!(carried, record, "it travels to a continued run");
}

#[test]
fn a_build_that_was_stopped_says_so() {
    let mut record = after([(fetch("a"), done(Value::Null))]);
    record.cancel();
    assert_eq!(record.report().code, 130);
    let mut record = Record::default();
    record.without_plan("plan", failed(ExitCode::Data, "no plan"));
    let report = record.report();
    assert_eq!((report.code, report.steps[0].status, report.steps[0].attempts), (65, StepStatus::Failed, 2));
}

#[test]
fn a_step_is_told_as_it_goes_on() {
    let mut record = Record::default();
    let due = fetch("a");
    record.add(&due.head);
    record.add(&shared(Stage::Fetch, "b", 3));
    let status = |record: &Record| record.report().steps.iter().map(|step| step.status).collect::<Vec<_>>();
    assert_eq!(status(&record), [StepStatus::Waiting, StepStatus::Waiting]);
    record.start("fetch-a");
    assert_eq!(status(&record), [StepStatus::Running, StepStatus::Waiting]);
    record.end(&due, done(Value::Null));
    assert_eq!(status(&record), [StepStatus::Done, StepStatus::Waiting]);
    assert_eq!(record.report().steps.iter().map(|step| step.sources).collect::<Vec<_>>(), [None, Some(3)]);
}

#[test]
fn a_build_tells_where_its_dataset_is() {
    let verify = head("verify-ledger", Stage::VerifyLedger, Runs::AfterSuccess, None, 0);
    let entry = json!({"path": "corpus/datasets/d/v1", "n_docs": 7});
    let report = after([
        (fetch("a"), done(json!({"stage": "fetch", "clock": "fixed", "entries": []}))),
        (Due { head: verify, share: None, left_out: Vec::new() }, done(json!({"entries": [entry]}))),
    ])
    .report();
    assert_eq!((report.dataset_dir.as_str(), report.n_docs), ("corpus/datasets/d/v1", 7));
    assert_eq!(report.clock.as_deref(), Some("fixed"));
}

#[test]
fn a_report_holds_the_end_of_a_message_and_few_of_them() {
    let message = format!("{}end", "ü".repeat(MESSAGE));
    let record = after([(fetch("a"), failed(ExitCode::Data, &message))]);
    assert_eq!(record.first_failure().map(|error| error.message.len()), Some(message.len()));
    let kept = record.report().steps[0].error.clone().unwrap().message;
    assert!(kept.len() <= MESSAGE && kept.ends_with("üend"), "{kept}");

    let many = (0..2000).map(|index| (fetch(&format!("s{index}")), failed(ExitCode::Data, &message)));
    let record = after(many);
    let bytes = serde_json::to_vec(&record).unwrap().len();
    assert!(bytes < 1024 * 1024, "a record of 2,000 failures has {bytes} bytes");
    assert!(record.report().steps[1999].error.as_ref().unwrap().message.is_empty());
}

#[test]
fn after_a_failure_the_dataset_is_not_made_and_the_ledger_is_kept() {
    let level = [
        head("x", Stage::Fetch, Runs::AfterSuccess, Some("x"), 1),
        head("commit", Stage::Fetch, Runs::Always, None, 0),
        head("store", Stage::Store, Runs::AfterSuccess, None, 0),
    ];
    for (code, cancelled, keep_going, expected) in [
        (ExitCode::Success, false, false, "x commit store"),
        (ExitCode::Success, false, true, "x commit store"),
        (ExitCode::Data, false, false, "commit"),
        (ExitCode::Data, false, true, "x commit"),
        (ExitCode::Retry, false, true, "x commit"),
        (ExitCode::Cancelled, true, true, "commit"),
        (ExitCode::Success, true, true, "commit"),
        (ExitCode::Data, true, true, "commit"),
    ] {
        let mut record = Record::default();
        record.report.code = code.code();
        let due = record.due(&level, cancelled, keep_going);
        let due: Vec<&str> = due.iter().map(|due| due.head.id.as_str()).collect();
        assert_eq!(due.join(" "), expected, "{code:?}, {cancelled}, {keep_going}");
        assert_eq!(
            cancelled && code == ExitCode::Success,
            record.code() == ExitCode::Cancelled && code != record.code()
        );
    }
}

#[test]
fn a_source_that_failed_is_not_tried_by_its_next_stages() {
    let level = [shared(Stage::Extract, "a", 1), shared(Stage::Extract, "b", 3), shared(Stage::Extract, "c", 2)];
    let due = |record: &mut Record| {
        let due = record.due(&level, false, true).into_iter();
        due.map(|due| (due.head.id, due.left_out.iter().map(Name::to_string).collect::<Vec<_>>())).collect::<Vec<_>>()
    };
    let of = |head: Head, ended| (Due { share: head.first.clone(), head, left_out: Vec::new() }, ended);
    let mut record = after([
        of(shared(Stage::Fetch, "a", 1), failed(ExitCode::Retry, "503")),
        of(shared(Stage::Fetch, "b", 3), failed_of(ExitCode::Retry, &["b2"], &["b2"])),
        // A crash does not tell which of them failed.
        of(shared(Stage::Fetch, "c", 2), failed(ExitCode::Retry, "killed")),
    ]);
    assert_eq!(due(&mut record), [("extract-b".to_owned(), vec!["b2".to_owned()])]);

    let mut record = after([of(shared(Stage::Fetch, "b", 3), failed_of(ExitCode::Retry, &["b", "b2", "b3"], &[]))]);
    let left: Vec<String> = due(&mut record).into_iter().map(|(id, _)| id).collect();
    assert_eq!(left, ["extract-a", "extract-c"], "nothing is left of the share");
}

#[test]
fn what_a_shared_step_left_open_is_done_alone() {
    let share = shared(Stage::Fetch, "a", 4);
    let of_share = Due { share: share.first.clone(), head: share, left_out: Vec::new() };
    let ended = failed_of(ExitCode::Data, &["a", "b", "c"], &["b", "c"]);
    let again = alone(&of_share, &ended);
    let ids: Vec<&str> = again.iter().map(|due| due.head.id.as_str()).collect();
    assert_eq!(ids, ["alone-fetch-b", "alone-fetch-c"], "`a` is quarantined, `d` is done");

    let [b, c] = <[Due; 2]>::try_from(again).unwrap();
    let mut record = after([(of_share.clone(), ended), (b, done(Value::Null)), (c, failed(ExitCode::Data, "404"))]);
    let level = [shared(Stage::Extract, "a", 4)];
    assert_eq!(record.due(&level, false, true)[0].left_out, [name("a"), name("c")]);

    assert_eq!(alone(&of_share, &failed_of(ExitCode::Retry, &["b"], &["b"])), [], "75 is retried as a whole");
    assert_eq!(alone(&fetch("a"), &failed_of(ExitCode::Data, &["a"], &["a"])), [], "it is alone already");
    assert_eq!(alone(&of_share, &failed(ExitCode::Data, "bad spec")), [], "no source is named");
}
