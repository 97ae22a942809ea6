//! The worker against servers on loopback that misbehave.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, mpsc};
use std::thread;

use corpora_contracts::time::Timestamp;
use corpora_ports::metrics::Counters;

use super::*;

/// A server that answers every connection by one function of the request's head, and remembers the heads.
struct Site {
    origin: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn new(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1", answer)
    }

    fn at(address: &str, answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (answer, kept) = (Arc::new(answer), Arc::clone(&heads));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, kept) = (Arc::clone(&answer), Arc::clone(&kept));
                thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let head = head(&mut stream);
                    kept.lock().unwrap().push(head.clone());
                    answer(&head, &mut stream);
                });
            }
        });
        Self { origin, heads }
    }

    /// A site of fixed answers: head lines behind the status, and a body with its length.
    fn of(pages: &'static [(&'static str, &'static str, &'static str)]) -> Self {
        Self::new(move |head, stream| {
            let path = path(head);
            let page = pages.iter().find(|(at, _, _)| *at == path);
            let (_, lines, body) = page.copied().unwrap_or(("", "404 Not Found", ""));
            send(stream, lines, body.as_bytes());
        })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

fn path(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

fn send(stream: &mut TcpStream, lines: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {lines}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    // A client that went away is a test of its own.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

fn settings() -> Settings {
    Settings {
        user_agent: "corpora-test/1.0 (+https://example.org/bot)".to_owned(),
        page_timeout: Duration::from_secs(20),
        silence: Duration::from_secs(20),
        page_bytes: 100_000,
        content_types: vec!["text/html".to_owned(), "application/xhtml+xml".to_owned()],
        redirects: Redirects::Coordinator,
        purpose: Purpose { trains: true, respects_rights: true },
        allow_private_networks: true,
        reads_pages: false,
        clock: Clock::Fixed(Timestamp::EPOCH),
    }
}

fn job(url: &str) -> CrawlJob {
    CrawlJob {
        v: None,
        job_id: "j".to_owned(),
        crawl_id: "c".to_owned(),
        url: url.to_owned(),
        depth: 2,
        discovered_from: None,
        discovered_at: Timestamp::EPOCH,
    }
}

async fn asked(settings: Settings, url: &str) -> WorkerResult {
    let worker = Worker::new(settings, Arc::new(Counters::default())).unwrap();
    worker.work(&job(url)).await
}

fn error(result: &WorkerResult) -> &str {
    result.outcome.as_ref().and_then(|outcome| outcome.error.as_deref()).unwrap_or_default()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const PAGE: &str = "<title>T</title><a href=/next>n</a><a href='http://other.example/#x'>o</a>";

#[tokio::test]
async fn a_page_comes_with_its_links_and_digest_and_makes_two_messages() {
    let site = Site::of(&[("/p", "200 OK\r\nContent-Type: Text/HTML; charset=iso-8859-1\r\nETag: \"v1\"", PAGE)]);
    let result = asked(settings(), &site.url("/p#top")).await;
    assert_eq!((result.status_code, error(&result), result.depth), (Some(200), "", 2));
    assert_eq!(result.links, [site.url("/next"), "http://other.example/".to_owned()]);
    assert_eq!(result.redirect_chain, [site.url("/p")]);
    assert_eq!(result.content_type.as_deref(), Some("text/html"));
    let head = site.heads()[0].to_ascii_lowercase();
    assert!(head.contains("user-agent: corpora-test/1.0 (+https://example.org/bot)\r\n"), "{head}");
    assert!(head.contains("accept-encoding: gzip, br, zstd\r\n") && !head.contains("referer"), "{head}");

    let Visit { storage, discovery, took: _ } = publish(result.clone());
    let storage = storage.unwrap();
    assert_eq!((storage.url, storage.status_code), (site.url("/p"), 200));
    assert_eq!(storage.document.html, PAGE);
    let metadata = storage.document.metadata;
    assert_eq!(metadata.body_sha256, Some(corpora_contracts::ids::Digest::of(PAGE.as_bytes())));
    assert_eq!((metadata.charset.as_deref(), metadata.etag.as_deref()), (Some("windows-1252"), Some("\"v1\"")));
    assert_eq!(metadata.rights, None);
    assert_eq!((discovery.parent_depth, discovery.links), (2, result.links));
    assert_eq!(discovery.outcome.unwrap().bytes, Some(PAGE.len() as u64));
}

#[tokio::test]
async fn a_worker_that_reads_pages_has_their_text() {
    let page = "<html lang=en><title>Tides</title><meta name=description content=d><main><p>The sea rises twice a day.</p></main>";
    let site = Site::new(move |_, stream| send(stream, "200 OK\r\nContent-Type: text/html", page.as_bytes()));
    let document = asked(Settings { reads_pages: true, ..settings() }, &site.url("/")).await.document.unwrap();
    assert_eq!((document.title.as_str(), document.language.as_str()), ("Tides", "en"));
    assert_eq!((document.text.as_str(), document.metadata.description.as_str()), ("The sea rises twice a day.", "d"));
    assert_eq!(asked(settings(), &site.url("/")).await.document.unwrap().text, "");
}

#[tokio::test]
async fn a_redirect_comes_back_and_is_not_followed() {
    let site = Site::of(&[
        ("/a", "301 Moved Permanently\r\nLocation: b?x#f", ""),
        ("/out", "302 Found\r\nLocation: //other.example/", ""),
        ("/bad", "302 Found\r\nLocation: javascript:x", ""),
        ("/none", "302 Found", ""),
    ]);
    let result = asked(settings(), &site.url("/a")).await;
    assert_eq!((result.status_code, error(&result), &result.document), (Some(301), "", &None));
    assert_eq!(result.final_url, site.url("/b?x"));
    assert_eq!(result.redirect_chain, [site.url("/a"), site.url("/b?x")]);
    assert!(publish(result).storage.is_none());
    assert_eq!(asked(settings(), &site.url("/out")).await.final_url, "http://other.example/");
    assert_eq!(error(&asked(settings(), &site.url("/bad")).await), "address");
    assert_eq!(error(&asked(settings(), &site.url("/none")).await), "http_302");
    assert_eq!(site.heads().len(), 4);
}

#[tokio::test]
async fn a_worker_that_may_follows_hops_within_one_host_and_no_loop() {
    let site = Site::of(&[
        ("/1", "302 Found\r\nLocation: /2", ""),
        ("/2", "302 Found\r\nLocation: /3", ""),
        ("/3", "200 OK\r\nContent-Type: text/html", "<p>3"),
        ("/a", "302 Found\r\nLocation: /b", ""),
        ("/b", "302 Found\r\nLocation: /a", ""),
        ("/out", "302 Found\r\nLocation: http://127.0.0.2:1/", ""),
    ]);
    let follows = || Settings { redirects: Redirects::Worker, ..settings() };
    let result = asked(follows(), &site.url("/1")).await;
    assert_eq!((result.final_url, result.status_code), (site.url("/3"), Some(200)));
    assert_eq!(result.redirect_chain, [site.url("/1"), site.url("/2"), site.url("/3")]);
    let turned = asked(follows(), &site.url("/a")).await;
    assert_eq!((turned.final_url, turned.status_code), (site.url("/a"), Some(302)));
    assert_eq!(turned.redirect_chain, [site.url("/a"), site.url("/b"), site.url("/a")]);
    assert_eq!(asked(follows(), &site.url("/out")).await.status_code, Some(302));
    let longer = Site::new(|head, stream| {
        let hop: u32 = path(head).trim_start_matches('/').parse().unwrap();
        send(stream, &format!("302 Found\r\nLocation: /{}", hop + 1), b"");
    });
    let result = asked(follows(), &longer.url("/0")).await;
    assert_eq!(result.final_url, longer.url("/6"), "five hops are followed, the sixth is told");
    assert_eq!(longer.heads().len(), 6);
}

#[tokio::test]
async fn hosts_that_are_not_of_the_internet_are_not_asked() {
    let site = Site::of(&[("/", "200 OK\r\nContent-Type: text/html", "<p>")]);
    let port = site.origin.rsplit(':').next().unwrap();
    let guarded = || Settings { allow_private_networks: false, ..settings() };
    let hosts = [
        "127.0.0.1",
        "localhost",
        "0x7f.1",
        "2130706433",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
        "0",
    ];
    for host in hosts {
        let result = asked(guarded(), &format!("http://{host}:{port}/")).await;
        assert_eq!((error(&result), result.status_code), ("private_network", None), "{host}");
        let worker = Worker::new(guarded(), Arc::new(Counters::default())).unwrap();
        let answer = worker.ask(&normalize(&format!("http://{host}:{port}/robots.txt")).unwrap(), 100).await;
        assert_eq!(answer.error.as_deref(), Some("private_network"), "{host}");
    }
    assert_eq!(site.heads(), [""; 0]);
    assert_eq!(error(&asked(settings(), &format!("http://localhost:{port}/")).await), "");
}

#[tokio::test]
async fn every_hop_of_a_chain_is_guarded() {
    // The guard stands in the client, so whoever follows asks it again.
    let client = Client::new(&Settings { allow_private_networks: false, ..settings() }).unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    for url in ["http://192.168.0.1/", "http://localhost/robots.txt", "https://[fd00::1]/sitemap.xml"] {
        let failed = client.get(&normalize(url).unwrap(), None, deadline).await.unwrap_err();
        assert!(matches!(failed, Failed::Private(_)), "{url}: {failed}");
        assert!(failed.to_string().contains("allow_private_networks"), "{failed}");
    }
}

#[tokio::test]
async fn packed_pages_are_unpacked_within_their_bound() {
    let site = Site::new(|head, stream| match path(head) {
        "/gzip" => send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", &gzip(PAGE.as_bytes())),
        "/zstd" => send(
            stream,
            "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: zstd",
            &zstd::encode_all(PAGE.as_bytes(), 1).unwrap(),
        ),
        "/bomb" => {
            send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", &gzip(&vec![0; 20_000_000]));
        }
        "/large" => send(stream, "200 OK\r\nContent-Type: text/html", &vec![b'x'; 200_000]),
        "/endless" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
            while stream.write_all(&[b'x'; 1000]).is_ok() {}
        }
        "/unknown" => send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: rot13", b"<p>"),
        "/lied" => send(
            stream,
            "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip",
            b"<p>plain, and not packed at all",
        ),
        "/cut-gzip" => {
            send(stream, "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", &gzip(PAGE.as_bytes())[..20]);
        }
        _ => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n<p>");
        }
    });
    for path in ["/gzip", "/zstd"] {
        let result = asked(settings(), &site.url(path)).await;
        assert_eq!(result.document.unwrap().html, PAGE, "{path}");
    }
    let table = [
        ("/bomb", "page_bytes"),
        ("/large", "page_bytes"),
        ("/endless", "page_bytes"),
        ("/unknown", "content_encoding"),
        ("/lied", "content_encoding"),
        ("/cut-gzip", "cut"),
        ("/cut", "cut"),
    ];
    for (path, word) in table {
        let result = asked(settings(), &site.url(path)).await;
        assert_eq!((error(&result), result.document.is_none(), result.status_code), (word, true, Some(200)), "{path}");
    }
}

#[tokio::test]
async fn every_wait_has_an_end() {
    let (hold, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let site = Site::new(move |head, stream| {
        if path(head) == "/drip" {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
            while stream.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(50));
            }
        } else {
            if path(head) == "/pause" {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>");
            }
            let _ = held.lock().unwrap().recv();
        }
    });
    let short = Duration::from_millis(400);
    let drip = asked(Settings { page_timeout: short, ..settings() }, &site.url("/drip")).await;
    assert_eq!(error(&drip), "page_timeout");
    let never = asked(Settings { silence: short, ..settings() }, &site.url("/never")).await;
    assert_eq!((error(&never), never.status_code), ("timeout", None));
    drop(hold);
}

#[tokio::test]
async fn failures_have_their_words() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(error(&asked(settings(), &format!("http://{gone}/")).await), "connect");
    assert_eq!(error(&asked(settings(), "http://name.invalid/").await), "dns");
    assert_eq!(error(&asked(settings(), "mailto:a@b.example").await), "address");
    let site = Site::new(|_, stream| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH\r\n\r\n");
    });
    assert_eq!(error(&asked(settings(), &site.url("/")).await), "malformed_response");
}

#[tokio::test]
async fn what_is_no_page_is_not_read() {
    let site = Site::of(&[
        ("/pdf", "200 OK\r\nContent-Type: application/pdf", "%PDF"),
        ("/typeless", "200 OK", " <!doctype html><a href=/x>"),
        ("/data", "200 OK", "{\"a\":1}"),
        ("/part", "206 Partial Content\r\nContent-Type: text/html", "<p>"),
        ("/busy", "503 Service Unavailable\r\nRetry-After: 7", "<p>"),
        ("/late", "429 Too Many Requests\r\nRetry-After: Thu, 01 Jan 1970 00:00:00 GMT", ""),
    ]);
    let result = asked(settings(), &site.url("/pdf")).await;
    assert_eq!((error(&result), result.content_type.as_deref()), ("content_types", Some("application/pdf")));
    let typeless = asked(settings(), &site.url("/typeless")).await;
    assert_eq!((typeless.content_type.as_deref(), typeless.links), (Some("text/html"), vec![site.url("/x")]));
    assert_eq!(error(&asked(settings(), &site.url("/data")).await), "content_types");
    assert_eq!(error(&asked(settings(), &site.url("/part")).await), "http_206");
    let busy = asked(settings(), &site.url("/busy")).await.outcome.unwrap();
    assert_eq!((busy.status_code, busy.retry_after_s, busy.error), (Some(503), Some(7), None));
    assert_eq!(asked(settings(), &site.url("/late")).await.outcome.unwrap().retry_after_s, Some(0));
    let plain = Settings { content_types: vec!["application/pdf".to_owned()], ..settings() };
    let kept = asked(plain, &site.url("/pdf")).await;
    assert_eq!((kept.document.unwrap().html.as_str(), kept.links.len()), ("%PDF", 0));
}

#[tokio::test]
async fn rights_are_kept_and_acted_on() {
    let site = Site::of(&[
        (
            "/noindex",
            "200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: other: nofollow\r\nX-Robots-Tag: noindex",
            "<a href=/x>",
        ),
        ("/noai", "200 OK\r\nContent-Type: text/html", "<meta name=corpora-test content=noai><a href=/x>"),
        ("/nofollow", "200 OK\r\nContent-Type: text/html\r\nX-Robots-Tag: nofollow", "<a href=/x>"),
        ("/tdm", "200 OK\r\nContent-Type: text/html\r\nTDM-Reservation: 1", "<p>"),
    ]);
    let result = asked(settings(), &site.url("/noindex")).await;
    assert_eq!((error(&result), result.links.len(), &result.document), ("noindex", 1, &None));
    let result = asked(settings(), &site.url("/noai")).await;
    assert_eq!((error(&result), result.links.len(), &result.document), ("noai", 1, &None));
    let result = asked(settings(), &site.url("/nofollow")).await;
    assert_eq!((error(&result), result.links.len(), result.document.is_some()), ("", 0, true));
    assert_eq!(error(&asked(settings(), &site.url("/tdm")).await), "tdm-reservation");
    let ignores = Settings { purpose: Purpose { trains: true, respects_rights: false }, ..settings() };
    let rights = asked(ignores, &site.url("/tdm")).await.document.unwrap().metadata.rights.unwrap();
    assert_eq!(serde_json::to_string(&rights).unwrap(), r#"{"tdm_reservation":true}"#);
}

#[derive(Debug)]
struct Stored(StorageMessage);

impl Earlier for Stored {
    fn page(&self, url: &CanonicalUrl) -> Option<StorageMessage> {
        (url.as_str() == self.0.url).then(|| self.0.clone())
    }
}

#[tokio::test]
async fn a_refresh_asks_conditionally_and_keeps_what_is_unchanged() {
    let site = Site::new(|head, stream| {
        let is_known = head.to_ascii_lowercase().contains("if-none-match: \"v1\"\r\n");
        match is_known && path(head) == "/p" {
            true => send(stream, "304 Not Modified\r\nETag: \"v1\"", b""),
            false => send(stream, "200 OK\r\nContent-Type: text/html\r\nETag: \"v1\"", PAGE.as_bytes()),
        }
    });
    let first = publish(asked(settings(), &site.url("/p")).await).storage.unwrap();
    let earlier: Arc<dyn Earlier> = Arc::new(Stored(first.clone()));
    let worker = Worker::refreshing(settings(), Arc::new(Counters::default()), Some(earlier)).unwrap();
    let again = worker.work(&job(&site.url("/p"))).await;
    assert_eq!((again.status_code, again.links.len()), (Some(200), 2));
    assert_eq!(again.document.as_ref(), Some(&first.document));
    worker.work(&job(&site.url("/other"))).await;
    let heads = site.heads();
    assert!(heads[1].contains("if-none-match") && !heads[2].contains("if-none-match"), "{heads:?}");
}

#[tokio::test]
async fn what_is_about_a_host_comes_as_it_is() {
    let site = Site::new(|head, stream| match path(head) {
        "/robots.txt" => send(stream, "200 OK\r\nContent-Encoding: gzip", &gzip(b"User-agent: *\nDisallow: /x\n")),
        "/moved" => send(stream, "301 Moved\r\nLocation: /robots.txt", b"body"),
        "/busy" => send(stream, "429 Too Many\r\nRetry-After: 3", b""),
        "/long" => send(stream, "200 OK\r\nContent-Encoding: gzip", &gzip(&vec![b'#'; 1_000_000])),
        _ => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nUser");
        }
    });
    let worker = Worker::new(settings(), Arc::new(Counters::default())).unwrap();
    let ask = async |path: &str| worker.ask(&normalize(&site.url(path)).unwrap(), 1000).await;
    let robots = ask("/robots.txt").await;
    assert_eq!((robots.status, robots.body.as_slice()), (Some(200), b"User-agent: *\nDisallow: /x\n".as_slice()));
    let moved = ask("/moved").await;
    assert_eq!((moved.status, moved.location.as_deref(), moved.body.len()), (Some(301), Some("/robots.txt"), 0));
    assert_eq!(ask("/busy").await.retry_after_s, Some(3));
    assert_eq!(ask("/long").await.body.len(), 1000);
    assert_eq!(ask("/cut").await.error.as_deref(), Some("cut"));
    assert!(site.heads().iter().all(|head| head.contains("user-agent: corpora-test/1.0")));
}

#[tokio::test]
async fn jobs_are_counted() {
    let site = Site::of(&[("/", "200 OK\r\nContent-Type: text/html", "<p>"), ("/500", "500 Oops", "")]);
    let counters = Counters::default();
    let worker = Worker::new(settings(), Arc::new(counters.clone())).unwrap();
    for path in ["/", "/404", "/500"] {
        worker.work(&job(&site.url(path))).await;
    }
    worker.work(&job("http://name.invalid/")).await;
    let value = |counter| counters.value(counter);
    assert_eq!([value(JOBS_STARTED), value(JOBS_SUCCEEDED), value(JOBS_FAILED)], [4, 2, 2]);
}
