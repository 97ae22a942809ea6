use super::{markdown, text};

const PLAIN: &str = "<table><tr><th>Gate</th><th>Width</th></tr><tr><td>north</td><td>two ells</td></tr>\
    <tr><td>south</td><td>three ells</td></tr></table>";

#[test]
fn rows_are_lines_and_cells_stand_apart() {
    assert_eq!(text(PLAIN), "Gate\tWidth\nnorth\ttwo ells\nsouth\tthree ells");
    let rows = "| Gate | Width |\n| --- | --- |\n| north | two ells |\n| south | three ells |";
    assert_eq!(markdown(PLAIN), rows);
    let sections = PLAIN.replacen("<tr>", "<thead><tr>", 1).replacen("</tr>", "</tr></thead><tbody>", 1);
    assert_eq!(markdown(&sections), rows);
}

#[test]
fn a_cell_is_as_wide_as_it_is() {
    let wide = PLAIN.replacen("<td>", "<td colspan=9007199254740991>", 1).replacen(
        "<td>south",
        "<td rowspan=4000000000>south",
        1,
    );
    assert_eq!(text(&wide), text(PLAIN));
    let ragged = "<table><tr><th>Gate</th><th>Width</th></tr><tr><td colspan=99999999>All of oak</td></tr>\
        <tr><td>north</td><td>two ells</td></tr></table>";
    assert_eq!(markdown(ragged), "| Gate | Width |\n| --- | --- |\n| All of oak | |\n| north | two ells |");
}

#[test]
fn what_is_in_a_cell_stays_in_it() {
    let list = "<table><tr><th>Who</th><th>Does</th></tr><tr><td>Miller</td><td><ul><li>closes the gate</li><li>reads the gauge</li></ul></td></tr>\
        <tr><td>Boy</td><td><p><i>carries the lamp</i> </p></td></tr><tr><td>Cat</td><td>sleeps | eats<br>and sleeps</td></tr></table>";
    let lines = "| Who | Does |\n| --- | --- |\n| Miller | closes the gate; reads the gauge |\n| Boy | carries the lamp |\n\
        | Cat | sleeps \\| eats and sleeps |";
    assert_eq!(markdown(list), lines);
    assert_eq!(text(list).lines().nth(1), Some("Miller\tcloses the gate; reads the gauge"));
}

#[test]
fn a_table_that_places_things_is_no_table() {
    let paragraph = "The boards were of oak, sawn in the autumn before and left to dry in the loft above the wheel.";
    let layout = format!("<table role=presentation><tr><td><p>{paragraph}</p></td><td>{PLAIN}</td></tr></table>");
    assert_eq!(text(&layout), format!("{paragraph}\n\n{}", text(PLAIN)));
}
