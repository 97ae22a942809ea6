//! The proxy variables, judged before the first request: the HTTP library passes over a value that it cannot read, and
//! would then ask around the proxy.

use std::ffi::{OsStr, OsString};

use hyper::Uri;

/// The variables in the order in which the HTTP library looks them up; of each pair the first one that is set counts.
const VARIABLES: [[&str; 2]; 3] =
    [["HTTP_PROXY", "http_proxy"], ["HTTPS_PROXY", "https_proxy"], ["ALL_PROXY", "all_proxy"]];

/// A proxy variable that names no proxy. Its value may hold a password and is not quoted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the proxy from `{variable}`: set it to `http://host:port`, the URL of an HTTP proxy, or unset it")]
pub struct InvalidProxy {
    /// The variable.
    pub variable: &'static str,
}

/// Checks the variables of this process; an empty one names no proxy.
///
/// # Errors
/// The first that names something that is no HTTP proxy.
pub fn check() -> Result<(), InvalidProxy> {
    check_in(|name| std::env::var_os(name))
}

/// The hosts of the proxies that the variables of this process name.
#[must_use]
pub fn hosts() -> Vec<String> {
    hosts_in(|name| std::env::var_os(name))
}

fn hosts_in(value_of: impl Fn(&str) -> Option<OsString>) -> Vec<String> {
    let value = |pair: [&str; 2]| pair.into_iter().find_map(&value_of);
    let host = |value: OsString| {
        Some(value.to_str()?.parse::<Uri>().ok()?.host()?.trim_matches(['[', ']']).to_ascii_lowercase())
    };
    VARIABLES.into_iter().filter_map(value).filter(|value| !value.is_empty()).filter_map(host).collect()
}

fn check_in(value_of: impl Fn(&str) -> Option<OsString>) -> Result<(), InvalidProxy> {
    for pair in VARIABLES {
        let set = pair.into_iter().find_map(|variable| Some((variable, value_of(variable)?)));
        if let Some((variable, value)) = set
            && !value.is_empty()
            && !is_proxy(&value)
        {
            return Err(InvalidProxy { variable });
        }
    }
    Ok(())
}

/// Whether the HTTP library can use a value: `[http(s)://][user[:password]@]host[:port][/]`.
fn is_proxy(value: &OsStr) -> bool {
    let Some(uri) = value.to_str().and_then(|value| value.parse::<Uri>().ok()) else { return false };
    let Some(authority) = uri.authority() else { return false };
    let place = authority.as_str().rsplit_once('@').map_or(authority.as_str(), |(_userinfo, place)| place);
    let has_port = place.len() > authority.host().len();
    let port_is_one = authority.port_u16().is_some_and(|port| port > 0);
    let is_http = matches!(uri.scheme_str(), None | Some("http" | "https"));
    is_http && !authority.host().is_empty() && (port_is_one || !has_port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_library_cannot_use_is_refused() {
        for good in [
            "http://proxy:3128",
            "https://proxy:3128/",
            "http://me:s%40cret@proxy:3128",
            "proxy:3128",
            "127.0.0.1:3128",
            "http://[::1]:3128",
            "proxy",
            "http://proxy",
        ] {
            assert!(is_proxy(OsStr::new(good)), "{good}");
        }
        for bad in [
            "http://proxy:port",
            "http://proxy:99999",
            "http://proxy:0",
            "http://:3128",
            "http://",
            "//proxy:3128",
            "/etc/proxy",
            "http://pro xy:3128",
            " http://proxy:3128",
            "socks5://proxy:1080",
            "ftp://proxy",
        ] {
            assert!(!is_proxy(OsStr::new(bad)), "{bad}");
        }
    }

    #[test]
    fn the_first_of_a_pair_counts_and_an_empty_one_is_none() {
        let check = |set: &[(&str, &str)]| {
            check_in(|name| set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value)))
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[("HTTP_PROXY", ""), ("http_proxy", "no proxy")]), Ok(()));
        let hosts = |set: &[(&str, &str)]| {
            hosts_in(|name| set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value)))
        };
        assert_eq!(hosts(&[]), [""; 0]);
        assert_eq!(hosts(&[("HTTP_PROXY", ""), ("http_proxy", "http://other:1")]), [""; 0]);
        assert_eq!(hosts(&[("https_proxy", "http://me:s3cret@Proxy.Example:3128")]), ["proxy.example"]);
        assert_eq!(hosts(&[("ALL_PROXY", "http://[::1]:3128")]), ["::1"]);
        for variable in VARIABLES.concat() {
            let error = check(&[(variable, "http://me:s3cret@proxy:port")]).unwrap_err();
            assert_eq!(error, InvalidProxy { variable });
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
    }
}
