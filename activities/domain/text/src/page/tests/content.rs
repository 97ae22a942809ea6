use super::*;

#[test]
fn words_are_neither_joined_nor_torn() {
    let page = "<div>The boards were laid in three rows.<div>The second row is of larch</div><div>The third is of oak</div></div>\
        <p>One gate stays open.<br>The other un<wbr>bolt<b>able</b> gate does not.</p>";
    assert_eq!(
        text(page),
        "The boards were laid in three rows.\n\nThe second row is of larch\n\nThe third is of oak\n\n\
         One gate stays open.\nThe other unboltable gate does not."
    );
    let spans = text(
        "<p><span>On the 4th of March</span><span>Harbour masters met</span> at <a href=/a>the weir</a><a href=/b>the mill</a>.</p>",
    );
    assert_eq!(spans, "On the 4th of March Harbour masters met at the weir the mill.");
}

#[test]
fn marks_to_link_to_a_heading_are_left_out() {
    let page = "<h2>Of the sill<a class=headerlink href=#sill title=Permalink>¶</a></h2><p>The sill is of stone, and was there before the weir.</p>";
    assert_eq!(markdown(page), "## Of the sill\n\nThe sill is of stone, and was there before the weir.");
    let signature = "<p>Call <code><span>weir.</span><span>Gate</span><span>open</span><span>Wide</span></code> when the river stands high, or ask the miller.</p>";
    assert_eq!(text(signature), "Call weir.GateopenWide when the river stands high, or ask the miller.");
}

#[test]
fn a_broken_heading_is_one_heading() {
    let page = around("").replace("The weir below the mill", "The weir<br>below the mill");
    assert!(read(&page, Format::Markdown).starts_with("# The weir below the mill\n\n"));
    assert!(read(&page, Format::Text).starts_with("The weir below the mill\n\n"));
}

#[test]
fn headings_inside_buttons_and_folded_parts_stay() {
    let page = "<div class=accordion><div class=item><button><h3>What tar is good for</h3></button><div class=panel>\
        <p>Warm tar closes the joints between the boards, and keeps the worms away for some years.</p></div></div></div>";
    assert_eq!(
        markdown(page),
        "### What tar is good for\n\nWarm tar closes the joints between the boards, and keeps the worms away for some years."
    );
    let folded = "<details><summary>What does a gate weigh, when it is wet?</summary><p>About as much as two grown men, which is why there is a wheel.</p></details>";
    assert!(
        text(folded).ends_with("About as much as two grown men, which is why there is a wheel."),
        "{}",
        text(folded)
    );
}

#[test]
fn steps_with_links_stay() {
    let steps: String = (1..=9)
        .map(|n| format!("<div>Step {n}: loosen <a href=/b{n}>the bolt number {n}</a> and turn the wheel</div>"))
        .collect();
    let lines: Vec<String> =
        (1..=9).map(|n| format!("Step {n}: loosen the bolt number {n} and turn the wheel")).collect();
    assert_eq!(text(&format!("<div>{steps}</div>")), lines.join("\n\n"));
}

#[test]
fn marks_of_markdown_are_escaped_there_and_nowhere_else() {
    let page = "<p>Write *open* and 3*4=12 and gate_number_two as they stand, with [brackets] and a &lt;tag&gt;.</p>\
        <p># is our sign for a gate, and it always was</p><p>1. is how the old book starts a line of its own.</p>";
    assert_eq!(
        markdown(page),
        "Write \\*open\\* and 3\\*4=12 and gate\\_number\\_two as they stand, with \\[brackets\\] and a \\<tag\\>.\n\n\
         \\# is our sign for a gate, and it always was\n\n1\\. is how the old book starts a line of its own."
    );
    assert!(
        text(page)
            .starts_with("Write *open* and 3*4=12 and gate_number_two as they stand, with [brackets] and a <tag>.")
    );
    assert_eq!(
        text("<p>Entities are read once: &amp;lt; is how one writes a sign of less, and &amp;amp; is an and.</p>"),
        "Entities are read once: &lt; is how one writes a sign of less, and &amp; is an and."
    );
}

#[test]
fn quotes_are_marked() {
    let page = "<blockquote><p>A weir is a promise to the meadow, said the old miller to whoever would listen.</p></blockquote>";
    assert_eq!(markdown(page), "> A weir is a promise to the meadow, said the old miller to whoever would listen.");
}

#[test]
fn an_opening_in_another_section_stays() {
    let long: String = (1..=6).map(|n| format!("<p>Part {n}. {LAST}</p>")).collect();
    let page = format!(
        "<title>Oak</title><nav><a href=/>Start</a> <a href=/shop>Shop</a></nav><main><section class=opening><h1>Boards of oak</h1><p>{FIRST}</p></section>\
         <div class=ad>Buy our tar now</div><section class=rest>{long}</section></main><footer>All rights reserved</footer>"
    );
    let text = read(&page, Format::Text);
    assert!(text.contains(FIRST) && text.contains("Part 6."), "{text}");
    assert!(!text.contains("Buy our tar") && !text.contains("rights reserved") && !text.contains("Shop"), "{text}");
}

#[test]
fn what_is_hidden_is_no_text() {
    let hidden = "<p hidden>Seen by nobody one</p><p style='color:red; DISPLAY : none'>Seen by nobody two</p>\
        <div aria-hidden=true>Seen by nobody three</div><template><p>Seen by nobody four</p></template>\
        <script>let seen = 'by nobody five'</script><style>p { content: 'nobody six' }</style><dialog><p>Seen by nobody seven</p></dialog>\
        <noscript>Seen by nobody eight</noscript><!-- Seen by nobody nine --><svg><text>Seen by nobody ten</text></svg>";
    let text = read(&around(hidden), Format::Text);
    assert!(!text.to_lowercase().contains("nobody"), "{text}");
}

#[test]
fn a_page_that_waits_for_a_script_is_read_as_it_came() {
    let posts: String = (0..5).map(|n| format!("<article><p>Post {n}. {FIRST}</p></article>")).collect();
    let noscript = format!("<title>Forum</title><div id=app></div><noscript><div>{posts}</div></noscript>");
    assert!(read(&noscript, Format::Text).contains("Post 4. Two carpenters"));
    let hidden = format!("<title>Forum</title><div style='visibility: hidden'>{posts}</div>");
    assert!(read(&hidden, Format::Text).contains("Post 4. Two carpenters"));
}

#[test]
fn a_page_of_nothing_but_scripts_has_the_text_that_it_states() {
    let body = format!("{FIRST} {LAST}");
    let page = format!(
        "<title>The weir</title><script type=application/ld+json>{{\"@type\":\"NewsArticle\",\"articleBody\":\"{body}\"}}</script>\
         <div id=app>Loading</div>"
    );
    assert_eq!(read(&page, Format::Text), body);
    // What the page shows is its text, whatever it states.
    assert!(read(&page.replace("Loading", &format!("<p>{LAST}</p><p>{FIRST}</p>")), Format::Text).starts_with(LAST));
}

#[test]
fn clutter_around_the_text_is_left_out() {
    let clutter = "<div class=cookie-banner><p>We use cookies to make this better for you.</p><button>Accept all</button></div>\
        <div class=share-buttons><a href=#>Share</a> <a href=#>Print</a></div>\
        <aside class=related><h3>Related</h3><ul><li><a href=/1>Ten mills worth a visit</a></li><li><a href=/2>How tar is made</a></li></ul></aside>";
    let page = around("").replace("</main>", &format!("</main>{clutter}"));
    let text = read(&page, Format::Text);
    for words in [
        "cookies",
        "Accept",
        "Share",
        "Print",
        "Related",
        "Ten mills",
        "Start",
        "Our shop",
        "rights reserved",
        "Privacy",
    ] {
        assert!(!text.contains(words), "{words} in {text}");
    }
}

#[test]
fn favour_moves_the_line_one_way() {
    let page = around("<div class=note>Tar is sold at the mill.</div><ul><li><a href=/a>More on tar</a></li></ul>");
    let length = |favor| extract_str(&page, &Hints::default(), &Options { favor, ..Options::default() }).text.len();
    assert!(length(Favor::Precision) <= length(Favor::Balanced));
    assert!(length(Favor::Balanced) <= length(Favor::Recall));
}

#[test]
fn a_short_page_is_a_page() {
    for (source, expected) in [
        ("", ""),
        (" \n\t ", ""),
        ("<html></html>", ""),
        (
            "The gate is closed until further notice, says the miller.",
            "The gate is closed until further notice, says the miller.",
        ),
        (
            "<p>The gate is closed until further notice, says the miller.",
            "The gate is closed until further notice, says the miller.",
        ),
    ] {
        assert_eq!(read(source, Format::Text), expected, "{source}");
    }
}
