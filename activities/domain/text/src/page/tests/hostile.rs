//! Pages that are hostile or broken: no failure, and work in step with their size.

use super::*;

fn page(source: &str) -> Page {
    extract_str(source, &Hints::default(), &Options::default())
}

#[test]
fn twenty_thousand_levels_are_a_page() {
    for tag in [
        "div",
        "b",
        "span",
        "ul><li",
        "table><tr><td",
        "blockquote",
        "a href=x",
        "font color=red",
        "p",
        "section",
        "svg",
        "template",
    ] {
        let page =
            page(&format!("{}{FIRST}{}<p>{LAST}</p>", format!("<{tag}>").repeat(20_000), "</div>".repeat(20_000)));
        assert!(
            tag == "template" || tag == "svg" || page.text.contains("Two carpenters spent"),
            "{tag}: {}",
            page.text
        );
        assert!(page.cut.depth > 0 || matches!(tag, "a href=x" | "p" | "svg"), "{tag}: {:?}", page.cut);
    }
}

#[test]
fn what_is_nested_too_deep_keeps_its_words_apart() {
    let deep: String = (0..300).map(|n| format!("<div>word{n}")).collect();
    let text = page(&deep).text;
    assert!(text.contains("word298") && !text.contains("word298word299"), "{text}");
}

#[test]
fn nodes_end_somewhere() {
    let limits = Limits { nodes: 1000, ..Limits::default() };
    let source = format!("<p>{FIRST}</p>").repeat(2000);
    let page = extract_str(&source, &Hints::default(), &Options { limits, ..Options::default() });
    assert!(page.cut.is_out_of_nodes && page.cut.is_any());
    assert!(page.text.starts_with("Two carpenters") && page.text.len() < source.len() / 2);
}

#[test]
fn the_time_ends_a_page() {
    let source = format!("<p>{FIRST}</p>").repeat(5000);
    let page = extract_within(&source, &Hints::default(), &Options::default(), &|| true);
    assert!(page.cut.is_out_of_time && !page.cut.is_out_of_nodes && page.text.len() < source.len() / 2);
    assert!(!extract_within(&source, &Hints::default(), &Options::default(), &|| false).cut.is_any());
}

#[test]
fn a_page_ends_at_its_most_bytes() {
    let limits = Limits { page_bytes: 2000, ..Limits::default() };
    let source = format!("<p>{FIRST}</p>").repeat(50);
    let page = extract(source.as_bytes(), &Hints::default(), &Options { limits, ..Options::default() });
    assert_eq!(page.cut.bytes, source.len() as u64 - 2000);
    assert!(page.text.len() < 2000);
}

#[test]
fn a_tag_of_a_hundred_thousand_attributes_is_a_tag() {
    let many: String = (0..100_000).map(|n| format!(" a{n}='<b> &amp; {n}'")).collect();
    let page = page(&format!("<title>t</title><article{many} class=x><p>{FIRST}</p><p>{LAST}</p></article>"));
    assert!(page.cut.attributes > 90_000, "{:?}", page.cut);
    assert!(page.text.contains(FIRST) && page.text.contains(LAST), "{}", page.text);
}

#[test]
fn a_long_value_is_shortened() {
    let page = page(&format!(
        "<article data-x=\"{}\" id='{}'><p>{FIRST}</p></article>",
        "&amp;".repeat(50_000),
        "y".repeat(50_000)
    ));
    assert!(page.cut.attributes >= 1, "{:?}", page.cut);
    assert!(page.text.contains(FIRST));
}

#[test]
fn long_scripts_and_comments_are_no_tags() {
    let script =
        format!("<script>if (a<b && c) {{ {} }}</script><!-- <a {} -->", "x='<p>';".repeat(5_000), "y ".repeat(20_000));
    let page = page(&format!("{script}<p>{FIRST}</p><style>{}</style><p>{LAST}</p>", "a<b{}".repeat(10_000)));
    assert_eq!(page.text, format!("{FIRST}\n\n{LAST}"));
    assert!(!page.cut.is_any(), "{:?}", page.cut);
}

#[test]
fn broken_markup_is_a_page() {
    for (source, words) in [
        ("<p>One <b>two <i>three</b> four</i> five, and so on until the river is reached at last.", "three four five"),
        (
            "<table><p>before the cells of the table</p><tr><td>north</td></table> and a tail behind it all",
            "before the cells",
        ),
        ("</div></p></table><p>Closed before it was opened, but still here for those who read it", "still here"),
        ("<ul><li>one<li>two<li>three</ul>", "- two"),
        ("<select><p>one</select><p>Words behind a field that nobody can choose from.", "nobody can choose"),
        ("<a href='x>Never closed", ""),
        ("<!-- never closed <p>x", ""),
        ("<p>Null\0 and \u{b} in a paragraph that goes on for a while, as they do.", "Null and in a paragraph"),
    ] {
        let text = page(source).text;
        assert!(text.replace('\n', " ").contains(words), "{source:?}: {text:?}");
    }
}

/// Work is counted in looks at the clock: twice the page is twice the tokens, and what is done with them is timed by
/// `bench/extract`.
#[test]
fn twice_the_page_is_twice_the_work() {
    let looks = |times: usize| {
        let looks = std::cell::Cell::new(0_u32);
        let entry = "<dt><a id=o href=#o><code>gate.enable</code></a></dt><dd><p>Whether the gate is open.</p><p>Type: <b>boolean</b></p></dd>";
        let source = format!("<main><h1>All</h1><dl>{}</dl></main>", entry.repeat(times));
        let _ = extract_within(&source, &Hints::default(), &Options::default(), &|| {
            looks.set(looks.get() + 1);
            false
        });
        looks.get()
    };
    let (once, twice) = (looks(2_000), looks(4_000));
    assert!(once > 10 && twice.abs_diff(2 * once) <= 2, "{once}, {twice}");
}

#[test]
fn what_is_stated_without_end_is_read_to_an_end() {
    let many = |line: fn(usize) -> String| (0..3_000).map(line).collect::<String>();
    let page = page(&format!(
        "{}{}{}<p>{FIRST}</p>",
        many(|n| format!("<a rel=license href=https://a.example/{n}></a>")),
        many(|n| format!("<meta name=keywords content='one{n},two{n}'>")),
        many(|n| format!("<meta name=robots content='x-{n}'>")),
    ));
    assert_eq!((page.rights.licenses.len(), page.rights.robots.len(), page.keywords.len()), (100, 100, 500));
    assert!(page.text.contains(FIRST));
}

#[test]
fn quotes_in_quotes_stay_short() {
    let source = format!("{}<p>{FIRST}</p>", "<blockquote>".repeat(200));
    let text = read(&source, Format::Markdown);
    assert!(text.starts_with("> > > > > > > > Two"), "{text}");
}
