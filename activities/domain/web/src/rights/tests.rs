use proptest::prelude::*;

use super::*;

const TRAIN: Purpose = Purpose { trains: true, respects_rights: true };

fn header(values: &[(&str, &str)]) -> Signals {
    let mut signals = Signals::default();
    values.iter().for_each(|(name, value)| signals.read_header(name, value, "corpora"));
    signals
}

fn robots(value: &str) -> Vec<String> {
    header(&[("X-Robots-Tag", value)]).robots
}

#[test]
fn a_refusal_has_its_word() {
    let all = [Refusal::Noindex, Refusal::Noai, Refusal::TdmReservation, Refusal::ContentSignal, Refusal::ContentUsage];
    let words = ["noindex", "noai", "tdm-reservation", "content-signal", "content-usage"];
    assert_eq!(all.map(Refusal::as_str), words);
}

#[test]
fn a_policy_stands_beside_a_reservation_and_other_headers_say_nothing() {
    let mut signals = Signals::default();
    signals.read_header("Server", "noindex", "corpora");
    assert!(signals.is_silent());
    signals.read_header("TDM-Policy", " https://h.example/header ", "corpora");
    assert_eq!(signals.tdm_policy.as_deref(), Some("https://h.example/header"));
    signals.read_meta("tdm-policy", " https://h.example/page ", "corpora");
    assert_eq!(signals.tdm_policy.as_deref(), Some("https://h.example/page"));
}

#[test]
fn a_directive_behind_another_agents_name_is_not_ours() {
    assert_eq!(robots("noindex, NOFOLLOW"), ["noindex", "nofollow"]);
    assert_eq!(robots("otherbot: noindex, nofollow"), [""; 0]);
    assert_eq!(robots("Corpora: noai, nofollow"), ["noai", "nofollow"]);
    assert_eq!(robots("noarchive, otherbot: noindex, corpora: noai"), ["noarchive", "noai"]);
    assert_eq!(robots("*: none"), ["none"]);
    assert_eq!(robots("max-snippet: 20, noindex"), ["max-snippet: 20", "noindex"]);
    let date = "unavailable_after: Fri, 25 Jun 2027 15:00:00 PST, noai";
    assert_eq!(robots(date), ["unavailable_after: fri", "25 jun 2027 15:00:00 pst", "noai"]);
    let two = header(&[("x-robots-tag", "otherbot: noindex"), ("X-Robots-Tag", "noai")]);
    assert_eq!(two.robots, ["noai"]);
}

#[test]
fn a_page_may_address_us_by_name() {
    let mut signals = Signals::default();
    signals.read_meta(" Robots ", "NoIndex,, nofollow", "corpora");
    signals.read_meta("googlebot", "noai", "corpora");
    signals.read_meta("CORPORA", "noimageai", "corpora");
    signals.read_meta("", "noai", "");
    assert_eq!(signals.robots, ["noindex", "nofollow", "noimageai"]);
}

#[test]
fn none_is_both_and_nofollow_alone_is_stored() {
    let decision = |value: &str| header(&[("X-Robots-Tag", value)]).decide(TRAIN);
    let all = Decision { refusal: None, follows: true };
    assert_eq!(decision(""), all);
    assert_eq!(decision("noimageai, noarchive"), all);
    assert_eq!(decision("noindex"), Decision { refusal: Some(Refusal::Noindex), follows: true });
    assert_eq!(decision("nofollow"), Decision { refusal: None, follows: false });
    assert_eq!(decision("none"), Decision { refusal: Some(Refusal::Noindex), follows: false });
    assert_eq!(decision("noai"), Decision { refusal: Some(Refusal::Noai), follows: true });
}

#[test]
fn a_refusal_of_training_counts_for_one_who_trains_and_respects_it() {
    let table = [
        ("X-Robots-Tag", "noai", Refusal::Noai),
        ("TDM-Reservation", "1", Refusal::TdmReservation),
        ("Content-Signal", "search=yes, ai-input=no, AI-Train=No", Refusal::ContentSignal),
        ("Content-Usage", "search=y, train-ai=n;x=1", Refusal::ContentUsage),
    ];
    for (name, value, refusal) in table {
        let signals = header(&[(name, value)]);
        assert_eq!(signals.decide(TRAIN).refusal, Some(refusal), "{name}");
        assert!(signals.decide(TRAIN).follows, "{name}");
        for purpose in [Purpose { trains: false, ..TRAIN }, Purpose { respects_rights: false, ..TRAIN }] {
            assert_eq!(signals.decide(purpose).refusal, None, "{name}");
        }
    }
    let harmless = [
        ("TDM-Reservation", "0"),
        ("TDM-Reservation", "yes"),
        ("Content-Signal", "ai-input=no, ai-train=yes"),
        ("Content-Usage", "train-ai=y, search=n"),
        ("Content-Usage", "train-ai"),
        ("Link", "</rsl.xml>; rel=\"license\""),
    ];
    assert_eq!(header(&harmless).decide(TRAIN), Decision { refusal: None, follows: true });
    let still = header(&[("X-Robots-Tag", "noindex")]);
    assert_eq!(still.decide(Purpose { trains: false, respects_rights: false }).refusal, Some(Refusal::Noindex));
}

#[test]
fn what_is_closer_to_the_page_says_whether_it_is_reserved() {
    let file = Reservations::parse(
        br#"[{"location":"/","tdm-reservation":1,"tdm-policy":"https://h.example/p"},{"location":"/free/*.html$","tdm-reservation":0}]"#,
    );
    let reserved = file.of("/a").unwrap().clone();
    assert!(reserved.is_reserved);
    assert!(!file.of("/free/a.html").unwrap().is_reserved);
    assert!(file.of("/free/a.html?x").unwrap().is_reserved);

    let mut silent = Signals::default();
    silent.add_reservation(&reserved);
    assert_eq!((silent.tdm_reservation, silent.tdm_policy.as_deref()), (Some(true), Some("https://h.example/p")));
    let mut freed = header(&[("tdm-reservation", "0")]);
    freed.add_reservation(&reserved);
    assert_eq!((freed.tdm_reservation, &freed.tdm_policy), (Some(false), &None));
    freed.read_meta("tdm-reservation", "1", "corpora");
    assert_eq!(freed.decide(TRAIN).refusal, Some(Refusal::TdmReservation));
}

#[test]
fn what_is_no_reservation_says_nothing() {
    for text in
        ["", "null", "<html>", "[1, {}]", r#"[{"location":"/"}]"#, r#"[{"location":"/","tdm-reservation":true}]"#]
    {
        assert_eq!(Reservations::parse(text.as_bytes()).of("/"), None, "{text}");
    }
    let mixed = Reservations::parse(br#"[{"location":1},{"location":"/a","tdm-reservation":"1"}]"#);
    assert!(mixed.of("/a/b").unwrap().is_reserved && mixed.of("/b").is_none());
    let one = Reservations::parse("\u{feff}{\"location\":\"/\",\"tdm-reservation\":1}".as_bytes());
    assert!(one.of("/").unwrap().is_reserved);
}

#[test]
fn licences_are_kept_and_nothing_more() {
    let link =
        r#"</style.css>; rel=stylesheet, <https://h.example/license.xml>; rel="license"; type="application/rsl+xml""#;
    let mut signals = header(&[("Link", link)]);
    signals.add_stated(&Stated { licenses: vec!["https://h.example/rsl.xml".into()], ..Stated::default() });
    signals.add_license("https://h.example/license.xml");
    assert_eq!(signals.licenses, ["https://h.example/license.xml", "https://h.example/rsl.xml"]);
    assert_eq!(signals.decide(TRAIN).refusal, None);
}

#[test]
fn as_json_only_what_is_stated_is_said() {
    assert_eq!(serde_json::to_string(&Signals::default()).unwrap(), "{}");
    assert!(Signals::default().is_silent());
    let signals = header(&[("X-Robots-Tag", "noai"), ("tdm-reservation", "1")]);
    let text = serde_json::to_string(&signals).unwrap();
    assert_eq!(text, r#"{"robots":["noai"],"tdm_reservation":true}"#);
    assert_eq!(serde_json::from_str::<Signals>(&text).unwrap(), signals);
}

proptest! {
    #[test]
    fn any_text_is_read_and_bounded(values in prop::collection::vec((0_usize..6, ".*"), 0..20), file: Vec<u8>) {
        const NAMES: [&str; 6] = ["x-robots-tag", "tdm-reservation", "tdm-policy", "content-signal", "content-usage", "link"];
        let mut signals = Signals::default();
        for (name, value) in &values {
            signals.read_header(NAMES[*name], value, "corpora");
            signals.read_meta("robots", value, "corpora");
        }
        prop_assert!(signals.robots.len() <= MOST_STATED && signals.robots.iter().all(|stated| !stated.is_empty()));
        let _ = Reservations::parse(&file).of("/");
    }
}
