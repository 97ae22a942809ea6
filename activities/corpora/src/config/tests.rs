//! Loading from real files: each way it can fail, and what the messages say.

use std::fs;

use super::*;

const DIGEST: &str = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b";

/// A folder with files in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        Self(folder)
    }

    fn with(name: &str, text: &str) -> Self {
        Self::new(&[(name, text.as_bytes())])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn load(&self) -> Result<Loaded, LoadError> {
        load(&self.path("corpus.toml"))
    }

    /// The messages of an invalid config, with the folder left out.
    fn findings(&self) -> Vec<String> {
        findings(&self.load().unwrap_err()).iter().map(|line| self.short(line)).collect()
    }

    fn short(&self, line: &str) -> String {
        line.replace(&format!("{}/", self.0.path().display()), "")
    }
}

fn findings(error: &LoadError) -> Vec<String> {
    match error {
        LoadError::Invalid { findings, .. } => findings.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

fn config(license: &str, more: &str) -> String {
    format!(
        "dataset = 'd'\nversion = 'v'\n[[sources]]\nid = 'a'\nurl = 'x.jsonl'\nsha256 = '{DIGEST}'\n\
         license_spdx = '{license}'\n{more}\n"
    )
}

#[test]
fn a_good_config_is_loaded_with_its_folder() {
    let folder = Folder::with("corpus.toml", &config("MIT", ""));
    let loaded = folder.load().unwrap();
    assert_eq!(loaded.base, folder.0.path());
    assert!(loaded.base.is_absolute());
    assert_eq!(loaded.config.sources[0].url, "x.jsonl");
    assert_eq!(loaded.warnings, []);
}

#[test]
fn missing_unreadable_empty_and_malformed_are_told_apart() {
    let folder = Folder::new(&[
        ("empty.toml", b""),
        ("blank.toml", b" \n\t\n"),
        ("mark.toml", b"\xef\xbb\xbf"),
        ("comment.toml", b"# nothing yet\n"),
        ("malformed.toml", b"dataset = 'd'\nversion = \n"),
        ("latin1.toml", b"dataset = 'd'\nversion = '\xe9'\n"),
        ("utf16.toml", b"\xff\xfed\0"),
        ("malformed.json", b"{\"dataset\": 'd'}"),
    ]);
    let error = |name: &str| {
        let path = folder.path(name);
        let error = if name.ends_with("json") { load_spec(&path) } else { load(&path) }.unwrap_err();
        assert_eq!(error.disposition(), Disposition::Fail);
        error
    };
    let message = |name: &str| folder.short(&error(name).to_string());
    assert!(matches!(error("nothing.toml"), LoadError::Missing { .. }));
    assert_eq!(message("nothing.toml"), "config `nothing.toml` does not exist");
    for name in ["empty.toml", "blank.toml", "mark.toml", "comment.toml"] {
        assert!(matches!(error(name), LoadError::Empty { .. }), "{name}");
        assert_eq!(message(name), format!("config `{name}` is empty"));
    }
    let directory = load(folder.0.path()).unwrap_err();
    assert!(matches!(directory, LoadError::Unreadable { .. }), "{directory:?}");
    assert!(std::error::Error::source(&directory).is_some(), "the chain says why");
    for (name, expected) in [
        ("malformed.toml", "config `malformed.toml` is not TOML\nmalformed.toml:2: "),
        ("latin1.toml", "config `latin1.toml` is not TOML\nlatin1.toml:2: byte `0xe9` is not UTF-8"),
        ("utf16.toml", "config `utf16.toml` is not TOML\nutf16.toml:1: the file is UTF-16; save it as UTF-8"),
        ("malformed.json", "config `malformed.json` is not JSON\nmalformed.json:1: "),
    ] {
        assert!(matches!(error(name), LoadError::Malformed { .. }), "{name}");
        assert!(message(name).starts_with(expected), "{name}: {}", message(name));
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_config() {
    let marked = Folder::with("corpus.toml", &format!("\u{feff}{}", config("MIT", "")));
    let plain = Folder::with("corpus.toml", &config("MIT", ""));
    let digest = |folder: &Folder| folder.load().unwrap().config.digest().unwrap();
    assert_eq!(digest(&marked), digest(&plain));
}

#[test]
fn problems_of_keys_and_licences_come_together_by_line() {
    let text = config("CC-BY-ND-4.0", "format = 'csv'\n[licenses]\n'my licence' = ['eval']")
        .replace(&format!("sha256 = '{DIGEST}'"), "sha256 = 'zz'");
    let folder = Folder::with("corpus.toml", &text);
    let lines = folder.findings();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].starts_with("corpus.toml:6: `sources[0].sha256` is `zz`: expected 64"), "{lines:#?}");
    assert!(lines[1].starts_with("corpus.toml:8: `sources[0].format` is `csv`: expected `jsonl`"), "{lines:#?}");
    assert!(
        lines[2].starts_with("corpus.toml:10: `licenses.\"my licence\"` is `my licence`: not an SPDX"),
        "{lines:#?}"
    );
    let message = folder.short(&folder.load().unwrap_err().to_string());
    assert!(message.starts_with("config `corpus.toml` is not valid (3 to correct)\ncorpus.toml:6: "), "{message}");
}

#[test]
fn licences_are_judged_by_default_and_by_what_the_config_names() {
    for (license, more, refused) in [
        ("MIT", "", 0),
        ("CC-BY-NC-4.0", "", 1),
        ("CC-BY-NC-4.0", "allowed_uses = ['eval']", 0),
        ("CC-BY-NC-4.0", "[licenses]\n'CC-BY-NC-4.0' = ['train', 'eval']", 0),
        ("LicenseRef-x", "", 1),
        ("LicenseRef-x", "[licenses]\nLicenseRef-x = ['train', 'eval']", 0),
        ("LicenseRef-x", "allowed_uses = ['eval']\n[licenses]\nLicenseRef-x = ['train']", 1),
        ("GPL-3.0-only", "[licenses]\n'GPL-3.0-only' = []", 1),
        ("mit", "", 1),
    ] {
        let folder = Folder::with("corpus.toml", &config(license, more));
        let found = folder.load().map_or_else(|error| findings(&error), |_| Vec::new());
        assert_eq!(found.len(), refused, "{license} {more} {found:?}");
        assert!(found.iter().all(|line| line.contains("corpus.toml:7: `sources[0].license_spdx` is `")), "{found:?}");
    }
}

#[test]
fn a_policy_file_is_read_beside_the_config() {
    let text = config("LicenseRef-x", "[licenses]\nfile = 'licenses.toml'\nMIT = ['eval']");
    let files = |policy: &str| Folder::new(&[("corpus.toml", text.as_bytes()), ("licenses.toml", policy.as_bytes())]);
    for policy in ["LicenseRef-x = ['train', 'eval']\n", "[licenses]\nLicenseRef-x = ['train', 'eval']\n"] {
        let config = files(policy).load().unwrap().config;
        let named: Vec<_> = config.licenses.keys().collect();
        assert_eq!(named, ["LicenseRef-x", "MIT"], "the config holds the whole policy");
        assert!(Policy::new(&config.licenses).unwrap().permits("LicenseRef-x").unwrap().len() == 2);
    }
    let inline = config("LicenseRef-x", "[licenses]\nMIT = ['eval']\nLicenseRef-x = ['train', 'eval']");
    let inline = Folder::with("corpus.toml", &inline).load().unwrap().config;
    let from_file = files("LicenseRef-x = ['train', 'eval']").load().unwrap().config;
    assert_eq!(from_file.digest().unwrap(), inline.digest().unwrap(), "what counts is the policy, not where it stands");
}

#[test]
fn problems_of_a_policy_file_have_its_name() {
    let text = config("LicenseRef-x", "format = 'csv'\n[licenses]\nfile = 'licenses.toml'\nMIT = ['eval']");
    let findings = |policy: &str| {
        let files = [("corpus.toml", text.as_bytes()), ("licenses.toml", policy.as_bytes())];
        Folder::new(&files).findings()
    };
    for (policy, expected) in [
        ("\nISC = 'eval'", "licenses.toml:2: `ISC` is `eval`: expected a list"),
        ("mit = ['eval']", "licenses.toml:1: `mit` is `mit`: not an SPDX expression"),
        ("MIT = ['train']", "licenses.toml:1: `MIT` is `MIT`: expected every licence once; `MIT` was named before"),
        ("file = 'more.toml'", "licenses.toml:1: `file` is `more.toml`: no such key in a policy file"),
    ] {
        let found = findings(policy);
        assert_eq!(found.len(), 2, "only its own problems, not what follows from them: {found:#?}");
        assert!(found[0].starts_with("corpus.toml:8: `sources[0].format`"), "{found:#?}");
        assert!(found[1].starts_with(expected), "{found:#?}");
    }
    let malformed = findings("x = ");
    assert_eq!(malformed.len(), 2, "{malformed:#?}");
    let expected = "corpus.toml:10: `licenses.file` is `licenses.toml`: expected a TOML file; licenses.toml:1: ";
    assert!(malformed[1].starts_with(expected), "{malformed:#?}");
    let missing = Folder::with("corpus.toml", &text).findings();
    let expected = "corpus.toml:10: `licenses.file` is `licenses.toml`: expected a file that can be read: No such file";
    assert!(missing[1].starts_with(expected), "{missing:#?}");
}

#[test]
fn a_spec_is_the_same_document_with_its_folder() {
    let folder = Folder::with("corpus.toml", &config("MIT", ""));
    let written = folder.load().unwrap().config;
    let mut document = written.to_document().unwrap();
    let spec = folder.path("spec.json");
    let mut load = |base: Option<&str>, url: &str| {
        document["sources"][0]["url"] = url.into();
        match base {
            Some(base) => document["base"] = base.into(),
            None => drop(document.as_object_mut().unwrap().remove("base")),
        }
        fs::write(&spec, document.to_string()).unwrap();
        load_spec(&spec)
    };
    let loaded = load(Some("/srv/configs"), "x.jsonl").unwrap();
    assert_eq!((loaded.base.to_str(), &loaded.config), (Some("/srv/configs"), &written));
    assert_eq!(loaded.config.digest().unwrap(), written.digest().unwrap());
    assert!(load(None, "https://h/x.jsonl").is_ok());
    for (base, url, expected) in [
        (None, "x.jsonl", "spec.json:1: `sources[0].url` is `x.jsonl`: expected a URL or an absolute path"),
        (Some("configs"), "x.jsonl", "spec.json:1: `base` is `configs`: expected an absolute path"),
    ] {
        let found = findings(&load(base, url).unwrap_err());
        assert!(folder.short(&found[0]).starts_with(expected), "{found:?}");
    }
}

#[test]
fn a_check_says_what_is_in_the_config() {
    let text = config("MIT", "mirrors = ['https://h/x?token=hunter2']");
    let folder = Folder::with("corpus.toml", &text);
    let check = check(&folder.path("corpus.toml")).unwrap();
    assert_eq!((check.dataset.as_str(), check.version.as_str(), check.sources, check.crawls), ("d", "v", 1, 0));
    assert_eq!(check.digest, folder.load().unwrap().config.digest().unwrap());
    assert_eq!(check.warnings.len(), 1);
    assert!(folder.short(&check.warnings[0].to_string()).starts_with("corpus.toml:8: `sources[0].mirrors[0]`"));
    let json = serde_json::to_string(&check).unwrap();
    assert!(!json.contains("hunter2") && json.contains("\"line\":8"), "{json}");
    assert!(schema().contains("\"max_line_bytes\""));
}
