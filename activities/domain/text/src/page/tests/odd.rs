//! Markup and statements that few pages have.

use super::*;

fn page(source: &str) -> Page {
    extract_str(source, &Hints::default(), &Options::default())
}

#[test]
fn a_second_start_of_the_page_adds_what_the_first_did_not_say() {
    let twice = format!("<html class=a><body><p>{FIRST}</p><html lang=de class=b><body dir=ltr><p>{LAST}</p>");
    let page = page(&twice);
    assert_eq!((page.language.as_str(), page.text), ("de", format!("{FIRST}\n\n{LAST}")));
}

#[test]
fn text_astray_in_a_table_comes_before_it() {
    let table =
        "<table>All gates<tr><td>north</td><td>two ells</td></tr><tr><td>south</td><td>three ells</td></tr></table>";
    assert_eq!(text(table), "All gates\n\nnorth\ttwo ells\nsouth\tthree ells");
}

#[test]
fn a_caption_stands_above_its_table_and_paragraphs_of_a_cell_apart() {
    let table = "<table><caption>Gates of the weir</caption><tr><td>north</td><td><p>two ells</p><p>of oak</p></td></tr>\
        <tr><td>south</td><td>three ells</td></tr></table>";
    assert_eq!(text(table), "Gates of the weir\n\nnorth\ttwo ells of oak\nsouth\tthree ells");
}

#[test]
fn a_quote_inside_an_item_stays_in_it() {
    let item = "<ul><li>The miller said:<blockquote><p>Open the gate.</p><p>Then wait.</p></blockquote></li><li>He waited.</li></ul>";
    assert_eq!(markdown(item), "- The miller said:\n\n  > Open the gate.\n  >\n  > Then wait.\n- He waited.");
    let list = "<blockquote><p>Mind:</p><ol><li>the gate</li><li>the sill</li></ol></blockquote>";
    assert_eq!(markdown(list), "> Mind:\n>\n> 1. the gate\n> 2. the sill");
    assert_eq!(text(list), "Mind:\n\n1. the gate\n2. the sill");
}

#[test]
fn links_without_an_address_of_the_page() {
    let links = |body: &str| page(body).links.into_iter().map(|link| (link.url, link.text)).collect::<Vec<_>>();
    let expected = |url: &str, text: &str| vec![(url.to_owned(), text.to_owned())];
    assert_eq!(
        links("<base href='https://mill.example/a/'><a href=b>B</a>"),
        expected("https://mill.example/a/b", "B")
    );
    assert_eq!(links("<a href=b>B</a><a href='https://[::'>broken</a>"), expected("b", "B"));
    assert_eq!(links("<meta http-equiv=refresh content='3; /next'>"), expected("/next", ""));
    assert_eq!(links("<meta http-equiv=refresh content='3; url=/next'>"), expected("/next", ""));
}

#[test]
fn the_words_of_a_link_have_an_end() {
    let long = page(&format!("<a href=/a>{}<b>more</b></a>", "weir and mill ".repeat(10_000)));
    let said = &long.links[0].text;
    assert!(said.len() <= 2048 && said.starts_with("weir and mill weir"), "{}", said.len());
}

#[test]
fn titles_that_name_the_site() {
    let title = |head: &str, body: &str| page(&format!("<head>{head}</head><body>{body}<p>{FIRST}</p>")).title;
    assert_eq!(title("<title>Of gates | Anything</title>", ""), "Of gates");
    let stated = r#"<script type="application/ld+json">{"@type":"Article","headline":"Of gates and sills"}</script>"#;
    assert_eq!(title(&format!("<title>Of gates and sills - Mill</title>{stated}"), ""), "Of gates and sills");
}

#[test]
fn statements_in_other_shapes() {
    let script = |json: &str| page(&format!("<script type=application/ld+json>{json}</script><p>{FIRST}"));
    let found = script(
        r#"{"@type":"Product","name":"Gate","description":"Wider < than high","author":"Ada Miller","keywords":"oak, tar,,"}"#,
    );
    assert_eq!((found.author.as_str(), found.description.as_str()), ("Ada Miller", "Wider < than high"));
    assert_eq!(found.keywords, ["oak", "tar"]);
    assert_eq!(script(r#"{"@type":"Article","author":{"name":"Bo Sawyer"}}"#).author, "Bo Sawyer");
    assert_eq!(script(r#"{"@type":"Article","author":["Ada Miller","https://mill.example/bo"]}"#).author, "Ada Miller");
}

#[test]
fn a_long_attribute_is_left_out_and_the_others_stay() {
    let limits = Limits { attribute_bytes: 64, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    let long = "x".repeat(20_000);
    for tag in [format!("<p plain data-a='{long}' = b>"), format!("<p data-a=\"{long}\" / checked >")] {
        let page = extract_str(&format!("{tag}{FIRST}</p><p>{LAST}</p>"), &Hints::default(), &options);
        assert_eq!((page.text, page.cut.attributes), (format!("{FIRST}\n\n{LAST}"), 1), "{tag}");
    }
}

#[test]
fn what_the_model_is_trained_on_are_the_blocks_that_it_judges() {
    let source = around("<figure><img src=a.png><figcaption>The old gate</figcaption></figure>");
    let seen = observations(&source, &Hints::default(), &Limits::default());
    let texts: Vec<&str> = seen.iter().map(|block| block.text.as_str()).collect();
    assert!(texts.contains(&FIRST) && texts.contains(&"The old gate") && texts.contains(&"Start"), "{texts:?}");
    let count = seen[0].features.len();
    assert!(count > 200 && seen.iter().all(|block| block.features.len() == count));
}

/// WHATWG HTML section 13.2.10.1: what is closed out of order is taken apart and put together again.
#[test]
fn elements_that_overlap_keep_their_text_in_order() {
    let overlap = "<p>One <b>gate <i>is</b> open</i> today, and the other one is not.</p>";
    assert_eq!(text(overlap), "One gate is open today, and the other one is not.");
    let blocks = "<div><b>The first row is of larch.<p>The second row is of oak.</b> It was sawn in autumn.</p></div>";
    assert_eq!(text(blocks), "The first row is of larch.\n\nThe second row is of oak. It was sawn in autumn.");
    let links =
        "<p><a href=/a>The gauge<div>is read <a href=/b>every day</a> by the boy</div></a> who carries the lamp.</p>";
    assert_eq!(text(links), "The gauge\n\nis read every day by the boy\n\nwho carries the lamp.");
}

#[test]
fn two_breaks_part_paragraphs_and_signs_at_the_start_of_a_line_are_signs() {
    let page = "<div>The boards were laid in three rows.<br><br>- of oak they were not<br>+ of larch they were</div><p>--- and of pine</p>";
    let rows = "The boards were laid in three rows.\n\n";
    assert_eq!(text(page), format!("{rows}- of oak they were not\n+ of larch they were\n\n--- and of pine"));
    assert_eq!(markdown(page), format!("{rows}\\- of oak they were not\n\\+ of larch they were\n\n\\--- and of pine"));
}
