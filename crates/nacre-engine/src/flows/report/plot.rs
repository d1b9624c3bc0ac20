//! Bars, as inline SVG: no script, no font, no picture from elsewhere.

use super::html::Html;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;
/// Room below the bars for their names.
const FOOT: f64 = 22.0;
const HEAD: f64 = 18.0;
/// No bar is wider: one alone is no wall.
const MAX_BAR: f64 = 80.0;
/// What a letter takes at most, so that names of neighbours do not run into each other.
const LETTER: f64 = 10.0;
/// The narrowest bar that has room for its number.
const NUMBER: f64 = 24.0;

/// A plot of one bar a value, each with its name and number.
pub(super) fn bars(title: &str, values: &[(String, usize)]) -> Html {
    let mut svg = Html::default();
    let most = values.iter().map(|(_, n)| *n).max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / values.len().max(1) as f64;
    let longest = values.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let every = ((longest + 1) as f64 * LETTER / step).ceil().max(1.0) as usize;
    svg.raw("<svg role=\"img\" viewBox=\"0 0 640 200\"><title>").text(title).raw("</title>");
    svg.raw("<line class=\"axis\" x1=\"0\" x2=\"640\" y1=\"178.5\" y2=\"178.5\"/>");
    for (idx, (name, n)) in values.iter().enumerate() {
        let height = HEIGHT * *n as f64 / most;
        let left = step * idx as f64;
        let top = HEAD + HEIGHT - height;
        let width = (step * 0.8).min(MAX_BAR);
        svg.raw("<rect class=\"bar\" x=\"").text(number(left + (step - width) / 2.0));
        svg.raw("\" y=\"").text(number(top)).raw("\" width=\"").text(number(width));
        svg.raw("\" height=\"").text(number(height)).raw("\"><title>");
        svg.text(name).raw(": ").text(n).raw("</title></rect>");
        let middle = number(left + step / 2.0);
        if *n > 0 && (step >= NUMBER || idx % every == 0) {
            label(&mut svg, &middle, &number(top - 3.0), &n.to_string());
        }
        if idx % every == 0 {
            label(&mut svg, &middle, &number(HEAD + HEIGHT + FOOT - 6.0), name);
        }
    }
    svg.raw("</svg>");
    svg
}

fn label(svg: &mut Html, x: &str, y: &str, text: &str) {
    svg.raw("<text x=\"").text(x).raw("\" y=\"").text(y).raw("\">").text(text).raw("</text>");
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}
