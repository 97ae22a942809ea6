//! Crawls one site with the crate `spider` as its documentation does, robots.txt respected and without delay, and writes the
//! bodies to one file: `corpora-bench-spider URL FILE`.

use spider::website::Website;
use tokio::io::AsyncWriteExt as _;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or_else(|| std::io::Error::other("which url?"))?;
    let file = arguments.next().ok_or_else(|| std::io::Error::other("to which file?"))?;
    let mut website = Website::new(&url);
    website.with_respect_robots_txt(true).with_delay(0).with_user_agent(Some("corpora-bench/1.0"));
    let mut pages = website.subscribe(16_384);
    let mut bodies = tokio::io::BufWriter::new(tokio::fs::File::create(file).await?);
    let writer = tokio::spawn(async move {
        let mut count = 0_u64;
        while let Ok(page) = pages.recv().await {
            bodies.write_all(page.get_html_bytes_u8()).await?;
            count += 1;
        }
        bodies.flush().await?;
        std::io::Result::Ok(count)
    });
    website.crawl().await;
    website.unsubscribe();
    println!("{}", writer.await.map_err(std::io::Error::other)??);
    Ok(())
}
