use super::{markdown, text};

const ITEMS: [&str; 3] = ["a plane for the long edges", "two clamps made of beech", "a pot of warm tar"];

fn list(mark: &str, item: impl Fn(&str) -> String) -> String {
    let items: String = ITEMS.iter().map(|words| format!("<li>{}</li>", item(words))).collect();
    format!("<{mark}>{items}</{mark}>")
}

#[test]
fn every_item_of_a_list_is_a_line_with_its_mark() {
    let bullets = ITEMS.map(|words| format!("- {words}")).join("\n");
    let shapes: [fn(&str) -> String; 6] = [
        |words| words.to_owned(),
        |words| format!("<p>{words}</p>"),
        |words| format!("\n  <p>{words}</p>\n"),
        |words| format!("<span class=t tabindex=0>{words}</span>"),
        |words| format!("<a href=/tool>{words}</a>"),
        |words| format!("<div><strong>{words}</strong></div>"),
    ];
    for shape in shapes {
        assert_eq!(text(&list("ul", shape)), bullets, "{}", shape("…"));
        assert_eq!(markdown(&list("ul", shape)), bullets, "{}", shape("…"));
    }
}

#[test]
fn numbered_items_keep_their_numbers() {
    let numbered = |first: i64| {
        let lines = ITEMS.iter().zip(first..).map(|(words, number)| format!("{number}. {words}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let plain = list("ol", str::to_owned);
    assert_eq!(text(&plain), numbered(1));
    assert_eq!(text(&plain.replace("<ol>", "<ol start=7>")), numbered(7));
    assert_eq!(markdown(&plain.replacen("<li>", "<li value=4>", 1)), numbered(4));
    let backwards = text(&plain.replace("<ol>", "<ol reversed>"));
    assert!(backwards.starts_with("3. a plane") && backwards.ends_with("1. a pot of warm tar"), "{backwards}");
}

#[test]
fn a_list_in_a_list_is_indented() {
    let nested = "<ul><li>for the boards<ol><li>a saw with fine teeth</li><li>a mallet</li></ol></li><li>for the gates</li></ul>";
    let lines = "- for the boards\n  1. a saw with fine teeth\n  2. a mallet\n- for the gates";
    assert_eq!(text(nested), lines);
    assert_eq!(markdown(nested), lines);
}

#[test]
fn links_in_items_do_not_take_the_item_away() {
    let items = "<ul><li>Low water, <a href=/low>as the first gauge shows</a>.</li>\
        <li>High water, <a href=/high>as the second gauge shows</a>.</li></ul>";
    assert_eq!(text(items), "- Low water, as the first gauge shows.\n- High water, as the second gauge shows.");
}

#[test]
fn terms_and_what_they_mean_stand_apart() {
    let terms = "<dl><dt><a id=sill href=#sill><code>sill.height</code></a></dt><dd><p>How high the sill of the weir stands.</p>\
        <p>Default: <code>40</code></p></dd></dl>";
    assert_eq!(text(terms), "sill.height\n\nHow high the sill of the weir stands.\n\nDefault: 40");
    assert_eq!(markdown(terms), "`sill.height`\n\nHow high the sill of the weir stands.\n\nDefault: `40`");
}
