use super::*;

fn rights(source: &str) -> Rights {
    let hints = Hints { url: Some("https://mill.example/a"), agent: Some("millbot"), ..Hints::default() };
    extract_str(source, &hints, &Options::default()).rights
}

#[test]
fn directives_for_robots_are_kept() {
    let found = rights(
        "<meta name=ROBOTS content='NoIndex, noai ,noimageai,,max-snippet:0'><meta name=millbot content='noarchive, noindex'>\
         <meta name=otherbot content=nofollow><p>x",
    );
    assert_eq!(found.robots, ["noindex", "noai", "noimageai", "max-snippet:0", "noarchive"]);
    assert!(found.has("noai") && found.has("noindex") && !found.has("nofollow"));
    let none = rights("<meta name=robots content=none>");
    assert!(none.has("noindex") && none.has("nofollow") && !none.has("noai"));
    assert!(rights("<p>x").is_silent());
}

#[test]
fn reservations_are_kept() {
    let found = rights("<meta name=tdm-reservation content=1><meta name=TDM-Policy content=/policy.json>");
    assert_eq!(
        (found.tdm_reservation, found.tdm_policy.as_deref()),
        (Some(true), Some("https://mill.example/policy.json"))
    );
    assert_eq!(rights("<meta name=tdm-reservation content=0>").tdm_reservation, Some(false));
    assert_eq!(rights("<meta name=tdm-reservation content=maybe>").tdm_reservation, None);
}

#[test]
fn licences_are_kept_once() {
    let found = rights(
        "<link rel=license href=/terms><a rel='nofollow license' href='https://creativecommons.org/licenses/by-sa/4.0/'>CC</a>\
         <p>Under <a href='https://creativecommons.org/licenses/by-sa/4.0/'>this licence</a>, the pictures under \
         <a href='http://www.creativecommons.org/publicdomain/zero/1.0/'>that</a>; see <a href='https://creativecommons.org/about'>about</a>.",
    );
    assert_eq!(
        found.licenses,
        [
            "https://mill.example/terms",
            "https://creativecommons.org/licenses/by-sa/4.0/",
            "http://www.creativecommons.org/publicdomain/zero/1.0/"
        ]
    );
}
