//! The default policy, id by id; expressions; overrides; and what a refused claim says.

use std::collections::BTreeSet;

use corpora_contracts::config::{LicenseClaim, LicensePolicy, PolicyEntry, Use};
use corpora_license::{Class, Policy, lists};
use proptest::prelude::*;

const BOTH: &[Use] = &[Use::Train, Use::Eval];
const EVAL: &[Use] = &[Use::Eval];
const NONE: &[Use] = &[];

#[test]
fn the_default_policy() {
    #[rustfmt::skip]
    let table: &[(&[&str], &[Use])] = &[
        // Public domain.
        (&["CC0-1.0", "PDDL-1.0", "CC-PDM-1.0", "CC-PDDC", "Unlicense", "NIST-PD", "blessing", "DL-DE-ZERO-2.0"], BOTH),
        // Permissive software licences.
        (&["MIT", "MIT-0", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "Zlib", "X11", "HPND-sell-variant",
           "WTFPL", "BSL-1.0", "Unicode-3.0", "PSF-2.0", "Apache-2.0+"], BOTH),
        // Attribution: content and data.
        (&["CC-BY-4.0", "CC-BY-3.0", "CC-BY-2.5-AU", "CC-BY-1.0", "ODC-By-1.0", "CDLA-Permissive-1.0", "CDLA-Permissive-2.0",
           "OGL-UK-3.0", "OGL-Canada-2.0", "DL-DE-BY-2.0", "etalab-2.0", "NLOD-2.0", "O-UDA-1.0", "C-UDA-1.0", "OGDL-Taiwan-1.0"], BOTH),
        // Share-alike and copyleft.
        (&["CC-BY-SA-4.0", "CC-BY-SA-2.1-JP", "CC-SA-1.0", "ODbL-1.0", "CDLA-Sharing-1.0", "GFDL-1.3-or-later", "LAL-1.3",
           "GPL-2.0-only", "GPL-3.0-or-later", "LGPL-2.1-only", "AGPL-3.0-only", "MPL-2.0", "EUPL-1.2", "OSL-3.0"], BOTH),
        // Non-commercial.
        (&["CC-BY-NC-4.0", "CC-BY-NC-1.0", "CC-BY-NC-SA-4.0", "CC-BY-NC-SA-2.0-FR", "NCGL-UK-2.0", "PolyForm-Noncommercial-1.0.0",
           "CC-BY-NC-4.0+"], EVAL),
        // No derivatives.
        (&["CC-BY-ND-4.0", "CC-BY-ND-3.0-DE", "CC-BY-NC-ND-4.0", "CC-BY-NC-ND-1.0"], NONE),
        // Unreviewed: restricted, one-off, references.
        (&["BUSL-1.1", "SSPL-1.0", "Elastic-2.0", "PolyForm-Small-Business-1.0.0", "JSON", "Hippocratic-2.1", "Aladdin", "NOASSERTION",
           "BSD-3-Clause-No-Nuclear-License", "LicenseRef-x", "LicenseRef-scancode-public-domain", "DocumentRef-a:LicenseRef-b"], NONE),
        // Exceptions, also those in deprecated ids.
        (&["GPL-2.0-only WITH Classpath-exception-2.0", "Apache-2.0 WITH LLVM-exception", "GPL-2.0-with-classpath-exception",
           "MIT WITH AdditionRef-x"], NONE),
        // Deprecated ids.
        (&["GPL-2.0", "GPL-3.0+", "LGPL-2.1", "GFDL-1.3", "AGPL-3.0", "BSD-2-Clause-FreeBSD", "bzip2-1.0.5"], BOTH),
    ];
    for (ids, uses) in table {
        for id in *ids {
            assert_eq!(Policy::default().permits(id).as_deref(), Ok(*uses), "{id}");
        }
    }
}

#[test]
fn expressions_join_what_their_terms_permit() {
    for (expression, uses) in [
        ("MIT OR CC-BY-NC-4.0", BOTH),
        ("CC-BY-NC-4.0 OR MIT", BOTH),
        ("MIT AND CC-BY-NC-4.0", EVAL),
        ("CC-BY-ND-4.0 OR CC-BY-NC-4.0", EVAL),
        ("CC-BY-ND-4.0 AND MIT", NONE),
        ("LicenseRef-x OR MIT", BOTH),
        ("LicenseRef-x AND MIT", NONE),
        // AND binds tighter than OR.
        ("MIT OR CC-BY-NC-4.0 AND CC-BY-ND-4.0", BOTH),
        ("CC-BY-ND-4.0 AND CC-BY-NC-4.0 OR MIT", BOTH),
        ("(MIT OR CC-BY-NC-4.0) AND CC-BY-ND-4.0", NONE),
        ("(MIT OR CC-BY-NC-4.0) AND (CC-BY-NC-4.0 OR LicenseRef-x)", EVAL),
        ("((MIT))", BOTH),
        ("MIT AND (Apache-2.0 AND (ISC OR (CC-BY-ND-4.0 AND 0BSD)))", BOTH),
        ("MIT or CC-BY-NC-4.0", BOTH),
        ("MIT and CC-BY-NC-4.0", EVAL),
        ("GPL-2.0-only WITH Classpath-exception-2.0 OR CC-BY-NC-4.0", EVAL),
        ("GPL-2.0-only WITH Classpath-exception-2.0 AND MIT", NONE),
    ] {
        assert_eq!(Policy::default().permits(expression).as_deref(), Ok(uses), "{expression}");
    }
}

#[test]
fn what_is_not_spdx_is_told_with_the_parsers_reason_and_the_right_spelling() {
    for (text, reason, suggestion) in [
        ("", "empty expression", None),
        (" ", "empty expression", None),
        ("Public Domain", "unknown term (`Public`)", None),
        ("proprietary", "unknown term (`proprietary`)", None),
        ("NONE", "unknown term (`NONE`)", None),
        ("mit", "unknown term (`mit`)", Some("MIT")),
        ("apache-2.0", "unknown term (`apache-2.0`)", Some("Apache-2.0")),
        ("cc-by-4.0", "unknown term (`cc-by-4.0`)", Some("CC-BY-4.0")),
        ("CC-by-nc-4.0 or mit", "unknown term (`CC-by-nc-4.0`)", Some("CC-BY-NC-4.0 or MIT")),
        ("(mit AND isc)", "unknown term (`mit`)", Some("(MIT AND ISC)")),
        (
            "gpl-2.0-only with classpath-exception-2.0",
            "unknown term (`gpl-2.0-only`)",
            Some("GPL-2.0-only with Classpath-exception-2.0"),
        ),
        ("CC BY 4.0", "unknown term (`CC`)", None),
        ("MIT/Apache-2.0", "invalid character(s) (`/Apache-2.0`)", Some("MIT OR Apache-2.0")),
        ("MIT AND", "expected one of `<license>`, `(` here", None),
        ("AND MIT", "expected one of `<license>`, `(` here (`AND`)", None),
        ("MIT Apache-2.0", "expected one of `AND`, `OR`, `WITH`, `)`, `+` here (`Apache-2.0`)", None),
        ("(MIT", "unclosed parens (`(`)", None),
        ("MIT)", "unopened parens (`)`)", None),
        ("()", "expected one of `<license>`, `(` here (`)`)", None),
        ("MIT WITH Apache-2.0", "expected a `<addition>` here (`Apache-2.0`)", None),
        ("MIT WITH nothing", "unknown term (`nothing`)", None),
        ("MIT +", "`+` must not follow whitespace", None),
        (
            "GPL-2.0-or-later+",
            "a GNU license was followed by a `+` even though it ended in `-only` or `-or-later` (`+`)",
            None,
        ),
        ("LicenseRef-", "`LicenseRef-` names nothing", None),
        ("MIT OR LicenseRef-", "`LicenseRef-` names nothing", None),
        ("DocumentRef-:LicenseRef-x", "`DocumentRef-:LicenseRef-x` names nothing", None),
        ("DocumentRef-x", "unknown term (`DocumentRef-x`)", None),
        ("LicenseRef-a_b", "invalid character(s) (`_b`)", None),
        ("https://creativecommons.org/licenses/by/4.0/", "unknown term (`https:`)", None),
    ] {
        let message = Policy::default().permits(text).expect_err(text).to_string();
        let suggestion = suggestion.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        assert_eq!(message, format!("not an SPDX expression: {reason}{suggestion}"), "{text:?}");
    }
}

#[test]
fn overrides_replace_what_single_terms_permit() {
    let policy = |overrides: &[(&str, &[Use])]| {
        let overrides: LicensePolicy = overrides.iter().map(|(id, uses)| ((*id).to_owned(), uses.to_vec())).collect();
        Policy::new(&overrides).unwrap()
    };
    for (overrides, expression, uses) in [
        (("LicenseRef-x", EVAL), "LicenseRef-x", EVAL),
        (("LicenseRef-x", BOTH), "LicenseRef-x AND MIT", BOTH),
        (("LicenseRef-x", BOTH), "LicenseRef-y", NONE),
        (("DocumentRef-a:LicenseRef-b", BOTH), "DocumentRef-a:LicenseRef-b", BOTH),
        (("LicenseRef-b", BOTH), "DocumentRef-a:LicenseRef-b", NONE),
        (("CC-BY-NC-4.0", BOTH), "CC-BY-NC-4.0", BOTH),
        (("CC-BY-NC-4.0", BOTH), "CC-BY-NC-3.0", EVAL),
        (("GPL-3.0-only", NONE), "GPL-3.0-only", NONE),
        (("GPL-3.0-only", NONE), "GPL-3.0-or-later", BOTH),
        (("MIT", NONE), "MIT OR CC-BY-NC-4.0", EVAL),
        (("GPL-2.0-only WITH Classpath-exception-2.0", BOTH), "GPL-2.0-only WITH Classpath-exception-2.0", BOTH),
        (("GPL-2.0-only WITH Classpath-exception-2.0", BOTH), "GPL-2.0-only WITH GCC-exception-2.0", NONE),
        (("GPL-2.0-only", NONE), "GPL-2.0", NONE),
        (("GPL-2.0", NONE), "GPL-2.0-only", NONE),
        (("GPL-2.0+", NONE), "GPL-2.0-or-later", NONE),
        (("GPL-2.0-only", NONE), "GPL-2.0-only WITH Classpath-exception-2.0", NONE),
        (("Apache-2.0", NONE), "Apache-2.0+", NONE),
        (("Apache-2.0+", NONE), "Apache-2.0+", NONE),
        (("Apache-2.0+", NONE), "Apache-2.0", BOTH),
        (("NOASSERTION", EVAL), "NOASSERTION", EVAL),
        (("BUSL-1.1", BOTH), "BUSL-1.1", BOTH),
    ] {
        assert_eq!(policy(&[overrides]).permits(expression).as_deref(), Ok(uses), "{overrides:?} {expression}");
    }
}

#[test]
fn keys_of_the_policy_are_single_terms() {
    let entry = |license: &str| PolicyEntry {
        line: Some(9),
        key: format!("licenses.\"{license}\""),
        license: license.to_owned(),
        allowed_uses: vec![Use::Eval],
    };
    let add = |licenses: &[&str]| {
        let mut policy = Policy::default();
        let problems = policy.add(&licenses.iter().map(|license| entry(license)).collect::<Vec<_>>());
        problems.iter().map(|problem| problem.at("l.toml")).collect::<Vec<_>>()
    };
    assert_eq!(
        add(&["MIT", "LicenseRef-x", "GPL-2.0-only WITH Classpath-exception-2.0", "Apache-2.0", "Apache-2.0+"]),
        [""; 0]
    );
    for (license, why) in [
        ("MIT OR ISC", "an expression; expected one SPDX id, `LicenseRef-…` or `ID WITH exception`"),
        ("mit", "not an SPDX expression: unknown term (`mit`); did you mean `MIT`?"),
        ("my licence", "not an SPDX expression: unknown term (`my`)"),
        ("", "not an SPDX expression: empty expression"),
    ] {
        assert_eq!(add(&[license]), [format!("l.toml:9: `licenses.\"{license}\"` is `{license}`: {why}")]);
        assert_eq!(Policy::new(&[(license.to_owned(), vec![])].into()).unwrap_err().to_string(), why);
    }
    for twice in [["MIT", "(MIT)"], ["GPL-2.0", "GPL-2.0-only"], ["GPL-3.0+", "GPL-3.0-or-later"]] {
        assert_eq!(add(&twice).len(), 1, "{twice:?}");
        assert!(add(&twice)[0].contains("was named before"));
    }
}

#[test]
fn a_digest_changes_with_what_is_said_and_with_nothing_else() {
    let policy = |entries: &[(&str, &[Use])]| {
        let entries = entries.iter().map(|(term, uses)| ((*term).to_owned(), uses.to_vec()));
        Policy::new(&entries.collect::<LicensePolicy>()).unwrap()
    };
    let default = Policy::default().digest();
    assert_eq!(policy(&[]).digest(), default);
    assert_eq!(policy(&[("MIT", BOTH)]).digest(), default, "it says what the default says");
    assert_eq!(policy(&[("MIT", &[Use::Eval, Use::Train])]).digest(), default, "uses have one order");
    let forbids = policy(&[("MIT", NONE)]).digest();
    let names = policy(&[("LicenseRef-x", EVAL)]).digest();
    assert!(forbids != default && names != default && forbids != names);
    assert_eq!(
        policy(&[("GPL-2.0", NONE)]).digest(),
        policy(&[("GPL-2.0-only", NONE)]).digest(),
        "one term, two names"
    );
}

#[test]
fn claims_beyond_the_policy_are_config_errors() {
    let judge = |license: &str, allowed_uses: &[Use]| {
        let key = "sources[0].license_spdx".to_owned();
        let claim =
            LicenseClaim { line: Some(7), key, license_spdx: license.to_owned(), allowed_uses: allowed_uses.to_vec() };
        let problems = Policy::default().judge(&[claim]);
        problems.iter().map(|problem| problem.at("corpus.toml")).collect::<Vec<_>>()
    };
    for (license, uses) in
        [("MIT", BOTH), ("CC-BY-NC-4.0", EVAL), ("CC-BY-ND-4.0", NONE), ("MIT OR CC-BY-ND-4.0", BOTH)]
    {
        assert_eq!(judge(license, uses), [""; 0], "{license}");
    }
    assert_eq!(
        judge("CC-BY-NC-4.0", BOTH),
        [
            "corpus.toml:7: `sources[0].license_spdx` is `CC-BY-NC-4.0`: permits `eval` (`CC-BY-NC-4.0` is non-commercial), \
          claimed in `allowed_uses` are `train`, `eval`; claim what is permitted, or name under `[licenses]` what you have \
          the right to do: `\"CC-BY-NC-4.0\" = [\"train\", \"eval\"]`"
        ]
    );
    for (license, parts) in [
        ("CC-BY-ND-4.0", &["permits no use (`CC-BY-ND-4.0` is no-derivatives)"][..]),
        ("LicenseRef-x", &["permits no use (`LicenseRef-x` is not on the SPDX list)", "`\"LicenseRef-x\" = ["]),
        ("BUSL-1.1", &["`BUSL-1.1` is unreviewed"]),
        ("MIT AND CC-BY-NC-4.0", &["permits `eval` (`CC-BY-NC-4.0` is non-commercial)"]),
        (
            "GPL-2.0-only WITH Classpath-exception-2.0",
            &["has an exception that `[licenses]` does not name", "`\"GPL-2.0-only WITH Classpath-exception-2.0\" = ["],
        ),
        ("mit", &["not an SPDX expression", "did you mean `MIT`?"]),
    ] {
        let found = judge(license, BOTH);
        assert_eq!(found.len(), 1, "{license}");
        for part in parts {
            assert!(found[0].contains(part), "{license}: {found:?}");
        }
    }
    assert_eq!(judge("mit", NONE).len(), 1, "what is no licence is told whatever is claimed");
}

/// Every id of the SPDX list with its class, reviewed; a new version of the list shows up here as a difference.
const CLASSES: &str = include_str!("classes.txt");

#[test]
fn every_id_of_the_list_has_its_reviewed_class() {
    let line =
        |license: &spdx::License| format!("{} {}", license.name, Class::of(spdx::license_id(license.name).unwrap()));
    // `license_id` ignores a `+` at the end, which two deprecated ids have.
    let now: BTreeSet<_> = spdx::identifiers::LICENSES.iter().map(line).collect();
    let reviewed: BTreeSet<_> = CLASSES.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    assert_eq!(now.difference(&reviewed).collect::<Vec<_>>(), [""; 0], "not reviewed");
    assert_eq!(reviewed.difference(&now).collect::<Vec<_>>(), [""; 0], "no longer so");
}

#[test]
fn lists_hold_ids_of_the_spdx_list_once() {
    let mut seen = BTreeSet::new();
    for (class, ids) in lists::LISTS {
        assert!(ids.is_sorted(), "{class}");
        for id in *ids {
            assert!(spdx::license_id(id).is_some_and(|known| known.name == *id), "{id}");
            assert!(seen.insert(id), "{id} is listed twice");
        }
    }
}

#[test]
fn names_that_say_what_they_are_have_that_class() {
    for license in spdx::identifiers::LICENSES {
        let class = Class::of(spdx::license_id(license.name).unwrap());
        let says = |word: &str| license.full_name.to_lowercase().replace('-', " ").contains(word);
        if says("no derivatives") || license.name.contains("-ND") {
            assert_eq!(class, Class::NoDerivatives, "{}", license.name);
        } else if says("non commercial") || says("noncommercial") {
            assert_eq!(class, Class::NonCommercial, "{}", license.name);
        } else if license.name.starts_with("CC-BY")
            || license.name.starts_with("CDLA")
            || license.name.starts_with("OGL")
        {
            assert!(matches!(class, Class::Attribution | Class::ShareAlike), "{}", license.name);
        }
    }
}

/// An expression with its meaning.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(&'static str, BTreeSet<Use>),
    Or(Box<Self>, Box<Self>),
    And(Box<Self>, Box<Self>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Leaf(id, _) => (*id).to_owned(),
            Self::Or(left, right) => format!("({} OR {})", left.text(), right.text()),
            Self::And(left, right) => format!("({} AND {})", left.text(), right.text()),
        }
    }

    fn uses(&self) -> BTreeSet<Use> {
        match self {
            Self::Leaf(_, uses) => uses.clone(),
            Self::Or(left, right) => left.uses().union(&right.uses()).copied().collect(),
            Self::And(left, right) => left.uses().intersection(&right.uses()).copied().collect(),
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaves = prop::sample::select(vec![
        ("MIT", BOTH),
        ("CC-BY-NC-4.0", EVAL),
        ("CC-BY-ND-4.0", NONE),
        ("LicenseRef-x", NONE),
        ("Apache-2.0+", BOTH),
        ("GPL-2.0-only WITH Classpath-exception-2.0", NONE),
    ]);
    let leaf = leaves.prop_map(|(id, uses)| Tree::Leaf(id, uses.iter().copied().collect()));
    leaf.prop_recursive(5, 24, 2, |inner| {
        let pair = (inner.clone(), inner, any::<bool>());
        pair.prop_map(|(left, right, either)| {
            let (left, right) = (Box::new(left), Box::new(right));
            if either { Tree::Or(left, right) } else { Tree::And(left, right) }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nested_expressions_mean_what_their_parts_mean(tree in trees()) {
        let permitted = Policy::default().permits(&tree.text()).unwrap();
        prop_assert_eq!(permitted, tree.uses().into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn any_text_is_judged_without_a_panic(text in "\\PC{0,60}") {
        let _ = Policy::default().permits(&text);
        let _ = Policy::new(&[(text, vec![])].into());
    }

    #[test]
    fn any_words_of_spdx_are_judged_without_a_panic(
        words in prop::collection::vec(prop::sample::select(vec![
            "MIT", "mit", "GPL-2.0", "GPL-2.0-only", "+", "(", ")", "AND", "OR", "WITH", "and", "/", "LicenseRef-", "LicenseRef-x", "DocumentRef-",
            ":", "AdditionRef-", "Classpath-exception-2.0", "é", " ", "  ", "_",
        ]), 0..10),
        spaced in any::<bool>(),
    ) {
        let text = words.join(if spaced { " " } else { "" });
        if let Ok(permitted) = Policy::default().permits(&text) {
            prop_assert!(permitted.is_sorted());
        }
    }
}
