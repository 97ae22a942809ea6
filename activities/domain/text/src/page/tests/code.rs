use super::{markdown, text};

const CODE: &str = "fn level(gate: &Gate) -> u32 {\n    if gate.is_open() {\n\treturn 0;\n    }\n    gate.height\n}";

fn escaped() -> String {
    CODE.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[test]
fn code_keeps_its_indentation() {
    let page = format!("<pre><code class=\"language-rust\">{}</code></pre>", escaped());
    assert_eq!(text(&page), CODE);
    assert_eq!(markdown(&page), format!("```rust\n{CODE}\n```"));
    assert_eq!(markdown(&format!("<pre>{}</pre>", escaped())), format!("```\n{CODE}\n```"));
}

#[test]
fn what_highlighters_add_is_left_out() {
    let lines: Vec<String> =
        escaped().lines().map(|line| format!("<span class=line><b class=k>{line}</b></span>")).collect();
    let numbers: Vec<String> = (1..=lines.len()).map(|number| number.to_string()).collect();
    let gutter = format!(
        "<div class=highlight><table><tr><td class=gutter><pre>{}\n</pre></td><td class=code><pre>{}\n</pre></td></tr></table></div>",
        numbers.join("\n"),
        lines.join("\n")
    );
    let inline: Vec<String> =
        lines.iter().zip(&numbers).map(|(line, n)| format!("<span class=\"lineno\">{n}</span>{line}")).collect();
    let rows: Vec<String> = lines
        .iter()
        .zip(&numbers)
        .map(|(line, n)| format!("<tr><td class=hljs-ln-numbers data-line-number={n}></td><td>{line}</td></tr>"))
        .collect();
    let items: String = lines.iter().map(|line| format!("<li>{line}</li>")).collect();
    for page in [
        gutter,
        format!("<pre>{}</pre>", inline.join("\n")),
        format!("<pre><code><table>{}</table></code></pre>", rows.concat()),
        format!("<pre><ol class=linenums>{items}</ol></pre>"),
        format!("<pre>{}</pre>", lines.join("<br>")),
    ] {
        assert_eq!(text(&page), CODE, "{page}");
    }
}

#[test]
fn code_within_a_line_stays_in_it() {
    let page = "<p>Ask <code>level()</code> for the height, never <code>None</code>, or it stops.</p>";
    assert_eq!(text(page), "Ask level() for the height, never None, or it stops.");
    assert_eq!(markdown(page), "Ask `level()` for the height, never `None`, or it stops.");
    let ticks = markdown("<p>A gate is written <code>`gate`</code> in the list of all the gates of the weir.</p>");
    assert_eq!(ticks, "A gate is written `` `gate` `` in the list of all the gates of the weir.");
}
