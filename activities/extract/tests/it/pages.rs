//! Sources of pages: their main text, what is left out, what limits cut, and what makes them anew.

use std::collections::BTreeMap;
use std::fs;

use corpora_contracts::config::{Extract, Favor, Format, Seconds, TextFormat};
use corpora_contracts::ids::Digest;
use corpora_contracts::record::StageRecord;
use corpora_contracts::summary::StageStatus;
use corpora_stage::forecast::Forecast;
use corpora_stage::{ledger, record};
use tokio_util::sync::CancellationToken;

use super::world::{World, options, raw_page};

const EMPTY: &str = "<html><body><script>fill()</script></body></html>";

/// Sets a limit low.
type Set = fn(&mut Extract);

/// A page with so many paragraphs.
fn page(number: usize, paragraphs: usize) -> String {
    let paragraph = |at: usize| {
        format!(
            "<p>Paragraph {at} of page {number} tells of the <b>sea</b>, which rises twice a day, and of the moon.</p>"
        )
    };
    let text: String = (0..paragraphs).map(paragraph).collect();
    format!(
        "<html lang=en><title>Page {number}</title><nav><a href=/>Home</a></nav><main><h1>Page {number}</h1>{text}</main></html>"
    )
}

/// A world with these pages, in parts of so many.
fn fetched(sources: &[String], part: usize) -> World {
    let world = World::of_pages("site");
    let lines: Vec<String> = sources.iter().enumerate().map(|(at, source)| raw_page(at, source)).collect();
    world.fetched_lines("site", &lines.chunks(part).map(<[String]>::to_vec).collect::<Vec<_>>());
    world.row("site", |_| {});
    world
}

fn record(world: &World) -> StageRecord {
    record::read(&world.folder("site")).unwrap().unwrap()
}

fn texts(world: &World) -> Vec<String> {
    world.documents("site").into_iter().map(|document| document.text).collect()
}

#[tokio::test]
async fn pages_without_text_are_counted_and_the_others_keep_their_numbers() {
    let world = fetched(&[page(0, 2), EMPTY.to_owned(), page(2, 2), String::new(), EMPTY.to_owned()], 2);
    world.expect(&[StageStatus::Done]).await;
    let documents = world.documents("site");
    let ids: Vec<_> = documents.iter().map(|document| (document.id.as_str(), document.url.as_str())).collect();
    assert_eq!(ids, [("site:0", "https://pages.example/0"), ("site:2", "https://pages.example/2")]);
    assert_eq!((documents[1].title.as_str(), documents[1].lang.as_str()), ("Page 2", "en"));
    assert_eq!(documents[1].meta["status"], 200);
    let StageRecord { kept, dropped, outputs, cut, .. } = record(&world);
    assert_eq!((kept, dropped), (2, BTreeMap::from([("empty_page".to_owned(), 3)])));
    assert_eq!(outputs.iter().map(|part| part.n_docs).collect::<Vec<_>>(), [1, 1, 0]);
    assert!(cut.is_empty());
    let outcome = world.run().await;
    let entry = &outcome.summary.entries[0];
    assert_eq!((entry.status, entry.n_docs, entry.dropped["empty_page"]), (StageStatus::Cached, 2, 3));
}

#[tokio::test]
async fn the_number_of_jobs_changes_no_byte_of_pages() {
    let sources: Vec<String> =
        (0..300).map(|at| if at % 7 == 0 { EMPTY.to_owned() } else { page(at, 1 + at * at % 90) }).collect();
    let mut expected = None;
    for jobs in [1, 2, 5] {
        let world = fetched(&sources, 120);
        let outcome = world.run_with(&options(jobs), &CancellationToken::new()).await;
        assert!(outcome.summary.ok, "{:?}", outcome.summary);
        let extracted = world.extracted();
        assert!(*expected.get_or_insert_with(|| extracted.clone()) == extracted, "{jobs} jobs");
    }
}

#[tokio::test]
async fn another_way_to_read_pages_makes_them_anew_from_what_is_stored() {
    let mut world = fetched(&[page(0, 3), page(1, 3)], 10);
    world.expect(&[StageStatus::Done]).await;
    let plain = texts(&world);
    assert!(plain[0].starts_with("Page 0\n\nParagraph 0 of page 0 tells of the sea,"), "{}", plain[0]);
    world.config.extract.format = TextFormat::Markdown;
    world.expect(&[StageStatus::Done]).await;
    let markdown = texts(&world);
    assert!(markdown[0].starts_with("# Page 0\n\nParagraph 0 of page 0 tells of the sea,"), "{}", markdown[0]);
    world.expect(&[StageStatus::Cached]).await;
    world.config.extract.format = TextFormat::Text;
    world.config.extract.favor = Favor::Recall;
    world.expect(&[StageStatus::Done]).await;
    world.config.extract.favor = Favor::Balanced;
    world.expect(&[StageStatus::Done]).await;
    assert_eq!(texts(&world), plain, "as it was");
}

#[tokio::test]
async fn another_release_of_the_extractor_makes_pages_anew() {
    let world = fetched(&[page(0, 3)], 10);
    world.expect(&[StageStatus::Done]).await;
    let first = world.extracted();
    let mut older = record(&world);
    older.keys.insert("extractor".to_owned(), Digest::of(b"an older one"));
    record::write(&world.folder("site"), &older, None).unwrap();
    let ledger = ledger::read(&world.layout).unwrap();
    let forecast = corpora_extract::forecast(&world.config, &ledger, &world.layout).unwrap();
    assert_eq!(forecast[0].1, Forecast::due("extractor changed"));
    world.expect(&[StageStatus::Done]).await;
    assert!(world.extracted() == first);
    assert!(!World::new(&["lines"]).config.sources[0].split.format.has_pages());
    let lines = World::new(&["lines"]);
    lines.fetched("lines", &[&["A text."]]);
    lines.expect(&[StageStatus::Done]).await;
    let keys = record::read(&lines.folder("lines")).unwrap().unwrap().keys;
    assert!(!keys.contains_key("extractor"), "a text is no page: {keys:?}");
}

#[tokio::test]
async fn what_limits_cut_is_counted_in_the_record_and_said_in_the_document() {
    let mut world = fetched(&[page(0, 3), page(1, 2000), page(2, 3)], 10);
    let long = raw_page(1, &page(1, 2000)).len();
    let limits: [(Set, &str); 4] = [
        (|extract| extract.page_bytes = 5000, "page_bytes"),
        (|extract| extract.max_depth = 3, "max_depth"),
        (|extract| extract.max_nodes = 400, "max_nodes"),
        (|extract| extract.time_budget = Seconds::new(1e-9).unwrap(), "time_budget"),
    ];
    for (set, limit) in limits {
        world.config.extract = Extract::DEFAULT;
        set(&mut world.config.extract);
        world.expect(&[StageStatus::Done]).await;
        let (record, documents) = (record(&world), world.documents("site"));
        let of_all = u64::from(limit == "max_depth") * 2 + 1;
        assert_eq!(record.cut, BTreeMap::from([(limit.to_owned(), of_all)]), "{limit}");
        assert!(!documents[1].meta["cut"][limit].is_null(), "{limit}: {:?}", documents[1].meta);
        assert_eq!(documents[0].meta.contains_key("cut"), limit == "max_depth");
        assert!(documents[1].text.len() < long && !documents[1].text.is_empty());
        let again = world.run().await;
        assert_eq!(again.summary.entries[0].status, StageStatus::Cached, "{limit}");
    }
}

#[tokio::test]
async fn no_page_makes_the_stage_fail() {
    let hostile = [
        "<".repeat(50_000),
        "<div>".repeat(20_000),
        "<b><p>".repeat(5_000),
        "<table>".repeat(3_000) + "x",
        format!("<a href=\"{}\">x</a>", "y".repeat(200_000)),
        "<!--".to_owned(),
        "<svg><math><mtext><style>".repeat(500),
        "\u{0}\u{fffd}\u{feff}&#0;&#x110000;".to_owned(),
        "<script>".to_owned(),
        "<title>".to_owned(),
        "<plaintext>".to_owned() + &"words ".repeat(100),
        "\u{202e}".repeat(1000),
    ];
    let world = fetched(&hostile, 4);
    world.expect(&[StageStatus::Done]).await;
    let record = record(&world);
    assert_eq!(record.kept + record.dropped.values().sum::<u64>(), hostile.len() as u64);
    assert_eq!(fs::read_dir(world.folder("site")).unwrap().count(), 4);
    world.expect(&[StageStatus::Cached]).await;
}

#[tokio::test]
async fn pages_have_their_own_addresses_and_a_source_of_one_page_has_its_own() {
    let urls = |world: World| async move {
        world.expect(&[StageStatus::Done]).await;
        world.documents("site").into_iter().map(|document| document.url).collect::<Vec<_>>()
    };
    let of = |format, crawl| {
        let mut world = World::of_pages("site");
        let split = &mut world.config.sources[0].split;
        (split.format, split.crawl) = (format, crawl);
        world.fetched_lines("site", &[vec![raw_page(0, &page(0, 2))]]);
        world.row("site", |row| row.url = "https://h.example/moved".to_owned());
        world
    };
    assert_eq!(urls(of(Format::Html, None)).await, ["https://h.example/moved"], "that of the ledger");
    assert_eq!(urls(of(Format::Html, Some(Digest::of(b"a crawl")))).await, ["https://pages.example/0"]);
    assert_eq!(urls(of(Format::Warc, None)).await, ["https://pages.example/0"]);
}
