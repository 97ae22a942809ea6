use std::error::Error as _;

use super::*;

#[test]
fn a_refusal_is_final_and_an_outage_is_not() {
    let of = |code| ServiceError::refused("start the build", Status::new(code, "x")).disposition();
    for code in [Code::Unavailable, Code::DeadlineExceeded, Code::ResourceExhausted, Code::Internal, Code::Unknown] {
        assert_eq!(of(code), Disposition::Retry, "{code:?}");
    }
    for code in [Code::PermissionDenied, Code::Unauthenticated, Code::NotFound, Code::InvalidArgument] {
        assert_eq!(of(code), Disposition::Fail, "{code:?}");
    }
    let silent = ServiceError::Silent { address: "http://localhost:7233/".to_owned() };
    assert_eq!(silent.disposition(), Disposition::Retry);
}

/// The settings under these variables, and a temporal.toml of this text.
fn read(
    variables: &[(&str, &str)],
    file: &str,
) -> (tempfile::TempDir, Result<(ConnectionOptions, ClientOptions), ServiceError>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("temporal.toml");
    std::fs::write(&path, file).unwrap();
    std::fs::write(folder.path().join("pem"), "a certificate").unwrap();
    let place = |value: &str| value.replace("FOLDER", &folder.path().display().to_string());
    let own = variables.iter().map(|(name, value)| ((*name).to_owned(), place(value)));
    let all: HashMap<String, String> =
        [(CONFIG_FILE.to_owned(), path.display().to_string())].into_iter().chain(own).collect();
    let settings = settings(&all);
    (folder, settings)
}

fn read_well(variables: &[(&str, &str)], file: &str) -> (ConnectionOptions, ClientOptions) {
    read(variables, file).1.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn settings_are_those_of_the_profile_and_variables_come_before_it() {
    let (connection, client) = read_well(&[], "");
    assert_eq!((connection.target.as_str(), client.namespace.as_str()), ("http://localhost:7233/", "default"));
    assert!(connection.tls_options.is_none() && connection.api_key.is_none());

    let file = "[profile.default]\naddress = \"here:1\"\nnamespace = \"one\"\n\
                [profile.cloud]\naddress = \"there:2\"\napi_key = \"secret\"\nnamespace = \"two\"\n";
    let (connection, client) = read_well(&[], file);
    assert_eq!((connection.target.as_str(), client.namespace.as_str()), ("http://here:1/", "one"));
    let (connection, client) = read_well(&[("TEMPORAL_PROFILE", "cloud")], file);
    assert_eq!((connection.target.as_str(), client.namespace.as_str()), ("https://there:2/", "two"));
    assert_eq!(connection.api_key.as_deref(), Some("secret"), "an API key switches TLS on");
    assert!(connection.tls_options.is_some());
    let variables = [
        ("TEMPORAL_PROFILE", "cloud"),
        ("TEMPORAL_ADDRESS", "elsewhere:3"),
        ("TEMPORAL_NAMESPACE", "three"),
        ("TEMPORAL_API_KEY", "another"),
    ];
    let (connection, client) = read_well(&variables, file);
    assert_eq!((connection.target.as_str(), client.namespace.as_str()), ("https://elsewhere:3/", "three"));
    assert_eq!(connection.api_key.as_deref(), Some("another"));
}

#[test]
fn certificates_are_read_from_where_they_are() {
    let variables = [
        ("TEMPORAL_TLS_SERVER_CA_CERT_PATH", "FOLDER/pem"),
        ("TEMPORAL_TLS_SERVER_NAME", "temporal.example"),
        ("TEMPORAL_TLS_CLIENT_CERT_PATH", "FOLDER/pem"),
        ("TEMPORAL_TLS_CLIENT_KEY_DATA", "a key"),
    ];
    let (connection, _) = read_well(&variables, "");
    assert_eq!(connection.target.as_str(), "https://localhost:7233/");
    let tls = connection.tls_options.unwrap();
    assert_eq!(tls.server_root_ca_cert.as_deref(), Some(b"a certificate".as_slice()));
    assert_eq!(tls.domain.as_deref(), Some("temporal.example"));
    let own = tls.client_tls_options.unwrap();
    assert_eq!((own.client_cert.as_slice(), own.client_private_key.as_slice()), (&b"a certificate"[..], &b"a key"[..]));
    let (connection, _) = read_well(&[("TEMPORAL_TLS", "false"), ("TEMPORAL_API_KEY", "k")], "");
    assert!(connection.tls_options.is_none(), "TLS can be switched off");
    let plain = [("TEMPORAL_ADDRESS", "http://here:1"), ("TEMPORAL_API_KEY", "k")];
    assert_eq!(read_well(&plain, "").0.target.as_str(), "https://here:1/", "no key is sent in plain");
}

#[test]
fn settings_that_cannot_be_meant_are_refused_by_name() {
    for (variables, file, told) in [
        (vec![(CONFIG_FILE, "FOLDER/gone.toml")], "", "gone.toml"),
        (vec![("TEMPORAL_PROFILE", "prod")], "[profile.default]\n", "Profile 'prod' not found"),
        (vec![], "[profile.default", "TOML parse error"),
        (vec![("TEMPORAL_TLS_CLIENT_CERT_PATH", "FOLDER/pem")], "", "certificate and client key"),
        (vec![("TEMPORAL_TLS_CLIENT_KEY_DATA", "key")], "", "certificate and client key"),
        (vec![("TEMPORAL_TLS_SERVER_CA_CERT_PATH", "FOLDER/gone.pem")], "", "No such file"),
        (vec![("TEMPORAL_TLS_DISABLE_HOST_VERIFICATION", "true")], "", "without verifying the host"),
        (vec![("TEMPORAL_ADDRESS", "://x")], "", "Invalid address"),
    ] {
        let error = read(&variables, file).1.map(|_| ()).unwrap_err();
        let source = error.source().map(ToString::to_string).unwrap_or_default();
        let said = format!("{error}: {source}");
        assert!(said.contains(told), "{variables:?}: {said}");
        assert_eq!(error.disposition(), Disposition::Fail, "{said}");
    }
}
