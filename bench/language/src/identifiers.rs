//! The candidates behind one face.

use std::collections::BTreeSet;

/// A language identifier.
pub struct Identifier {
    pub name: &'static str,
    /// The codes that it can answer, ISO 639-1 where there is one.
    pub knows: BTreeSet<String>,
    /// The code and the confidence, 0 to 1; `und` and 0 when it has no answer.
    pub identify: Box<dyn Fn(&str) -> (String, f64)>,
}

pub fn all() -> Vec<Identifier> {
    let mut all: Vec<Identifier> = Vec::new();
    #[cfg(feature = "whatlang")]
    all.push(whatlang());
    #[cfg(feature = "corpora")]
    all.push(corpora(all[0].knows.clone()));
    #[cfg(feature = "whichlang")]
    all.push(whichlang());
    #[cfg(feature = "lingua")]
    {
        all.push(lingua(true));
        all.push(lingua(false));
    }
    all
}

#[cfg(feature = "whatlang")]
fn whatlang() -> Identifier {
    let knows = ::whatlang::Lang::all().iter().map(|lang| two(lang.code()).to_owned()).collect();
    let identify = |text: &str| match ::whatlang::detect(text) {
        Some(info) => (two(info.lang().code()).to_owned(), info.confidence()),
        None => ("und".to_owned(), 0.0),
    };
    Identifier { name: "whatlang", knows, identify: Box::new(identify) }
}

#[cfg(feature = "whichlang")]
fn whichlang() -> Identifier {
    let knows = ::whichlang::LANGUAGES.iter().map(|lang| two(lang.three_letter_code()).to_owned()).collect();
    let identify = |text: &str| (two(::whichlang::detect_language(text).three_letter_code()).to_owned(), 1.0);
    Identifier { name: "whichlang", knows, identify: Box::new(identify) }
}

/// What the extract stage answers: it has its own threshold, and looks at a sample of long texts.
#[cfg(feature = "corpora")]
fn corpora(knows: BTreeSet<String>) -> Identifier {
    let identify = |text: &str| (corpora_text::language::language(text).as_str().to_owned(), 1.0);
    Identifier { name: "corpora", knows, identify: Box::new(identify) }
}

#[cfg(feature = "lingua")]
fn lingua(low: bool) -> Identifier {
    let mut builder = ::lingua::LanguageDetectorBuilder::from_all_languages();
    builder.with_preloaded_language_models();
    if low {
        builder.with_low_accuracy_mode();
    }
    let detector = builder.build();
    let code = |language: ::lingua::Language| language.iso_code_639_1().to_string();
    let identify = move |text: &str| {
        let best = detector.compute_language_confidence_values(text).into_iter().next();
        best.map_or(("und".to_owned(), 0.0), |(language, confidence)| (code(language), confidence))
    };
    let knows = ::lingua::Language::all().into_iter().map(code).collect();
    Identifier { name: if low { "lingua low" } else { "lingua high" }, knows, identify: Box::new(identify) }
}

/// ISO 639-1 of the codes that whatlang and whichlang answer.
#[cfg(any(feature = "whatlang", feature = "whichlang"))]
fn two(three: &str) -> &str {
    const CODES: &str = "afr:af aka:ak amh:am ara:ar aze:az bel:be ben:bn bul:bg cat:ca ces:cs cmn:zh cym:cy dan:da deu:de \
        ell:el eng:en epo:eo est:et fin:fi fra:fr guj:gu heb:he hin:hi hrv:hr hun:hu hye:hy ind:id ita:it jav:jv \
        jpn:ja kan:kn kat:ka khm:km kor:ko lat:la lav:lv lit:lt mal:ml mar:mr mkd:mk mya:my nep:ne nld:nl nob:nb \
        ori:or pan:pa pes:fa pol:pl por:pt ron:ro rus:ru sin:si slk:sk slv:sl sna:sn spa:es srp:sr swe:sv tam:ta \
        tel:te tgl:tl tha:th tuk:tk tur:tr ukr:uk urd:ur uzb:uz vie:vi yid:yi zul:zu";
    let found = CODES.split_whitespace().find_map(|pair| pair.strip_prefix(three)?.strip_prefix(':'));
    found.unwrap_or(three)
}
