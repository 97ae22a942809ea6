//! What holds for every answer, however odd.

use proptest::prelude::*;

use super::*;

/// Values that are often equal, so that the interesting paths are reached.
fn size() -> impl Strategy<Value = u64> {
    prop_oneof![0..6_u64, Just(u64::MAX), any::<u64>()]
}

fn header() -> impl Strategy<Value = Option<String>> {
    let dates = ["Sun, 06 Nov 1994 08:49:37 GMT", "Mon, 07 Nov 1994 08:49:37 GMT"];
    let known = ["\"a\"", "\"b\"", "W/\"a\"", "gzip", "identity", "", "multipart/byteranges; boundary=x"];
    let known = prop::sample::select([&known[..], &dates[..]].concat());
    prop::option::of(prop_oneof![4 => known.prop_map(str::to_owned), 1 => ".*"])
}

fn content_range() -> impl Strategy<Value = Option<String>> {
    let total = prop_oneof![size().prop_map(|total| total.to_string()), Just("*".to_owned())];
    let satisfied = (size(), size(), total).prop_map(|(first, last, total)| format!("bytes {first}-{last}/{total}"));
    let unsatisfied = size().prop_map(|total| format!("bytes */{total}"));
    prop::option::of(prop_oneof![6 => satisfied, 2 => unsatisfied, 1 => ".*"])
}

prop_compose! {
    fn part()(bytes in size(), total in prop::option::of(size()), etag in header(), date in header(), coding in header()) -> Part {
        Part { bytes, total, validator: Validator::from_answer(etag.as_deref(), date.as_deref()), coding }
    }
}

prop_compose! {
    fn answer()(
        status in prop_oneof![4 => Just(206), 2 => Just(416), 1 => Just(200), 1 => any::<u16>()],
        content_range in content_range(),
        length in prop::option::of(size()),
        headers in prop::array::uniform6(header()),
    ) -> Answer {
        let [etag, last_modified, content_encoding, content_type, retry_after, location] = headers;
        let content_length = length.map(|length| length.to_string());
        Answer {
            status, content_range, content_length, etag, last_modified, content_encoding, content_type, retry_after, location,
        }
    }
}

/// What the caller sends: on from where the part ends, or everything.
fn asked(part: Option<&Part>, ranged: bool) -> Asked {
    Asked { offset: part.filter(|_| ranged).map_or(0, |part| part.bytes) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn nothing_panics(part in prop::option::of(part()), offset in size(), answer in answer()) {
        let _ = decide(part.as_ref(), Asked { offset }, &answer);
    }

    #[test]
    fn bytes_are_appended_only_where_the_part_ends(
        part in prop::option::of(part()), offset in size(), answer in answer(),
    ) {
        if let Decision::Append { total, end } = decide(part.as_ref(), Asked { offset }, &answer) {
            let bytes = part.map_or(0, |part| part.bytes);
            prop_assert_eq!(answer.status, 206);
            let range: ContentRange = answer.content_range.as_deref().unwrap().parse().unwrap();
            let ContentRange::Satisfied { first, last, .. } = range else { panic!("{range:?}") };
            prop_assert_eq!((first, last), (bytes, end - 1));
            prop_assert!(total.is_none_or(|total| end <= total));
        }
    }

    #[test]
    fn bytes_of_two_versions_are_never_mixed(part in part(), ranged: bool, answer in answer()) {
        if let Decision::Append { total, .. } = decide(Some(&part), asked(Some(&part), ranged), &answer)
            && part.bytes > 0
        {
            match &part.validator {
                Some(Validator::StrongEtag(kept)) => prop_assert!(answer.etag.is_none_or(|etag| etag.trim() == kept)),
                Some(Validator::LastModified(kept)) => {
                    prop_assert!(answer.last_modified.is_none_or(|date| date.trim() == kept));
                }
                None => {}
            }
            prop_assert!(part.total.is_none_or(|known| total == Some(known)));
            prop_assert!(same_coding(part.coding.as_deref(), answer.content_encoding.as_deref()));
        }
    }

    #[test]
    fn without_a_range_nothing_is_asked_again(part in prop::option::of(part()), answer in answer()) {
        let decision = decide(part.as_ref(), Asked { offset: 0 }, &answer);
        let again = matches!(decision, Decision::FromZero { .. } | Decision::WithoutRange { .. } | Decision::Whole);
        prop_assert!(!again, "{:?}", decision);
    }

    #[test]
    fn a_part_is_whole_only_when_a_size_says_so(part in part(), answer in answer()) {
        if decide(Some(&part), asked(Some(&part), true), &answer) == Decision::Whole {
            let told = answer.content_range.as_deref().and_then(|value| value.parse().ok());
            let told = matches!(told, Some(ContentRange::Unsatisfied { total }) if total == part.bytes);
            prop_assert!(told || part.total == Some(part.bytes));
        }
    }
}
