//! Bars, as inline SVG: no script, no font, no picture from elsewhere.

use super::html::Html;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;
/// Room below the bars for their names.
const FOOT: f64 = 22.0;
const HEAD: f64 = 14.0;
const MAX_LABELS: usize = 12;

/// A plot of one bar a value, each with its name and number.
pub(super) fn bars(title: &str, values: &[(String, usize)]) -> Html {
    let mut svg = Html::default();
    let most = values.iter().map(|(_, n)| *n).max().unwrap_or(0).max(1) as f64;
    let step = WIDTH / values.len().max(1) as f64;
    let every = values.len().div_ceil(MAX_LABELS).max(1);
    svg.raw("<svg role=\"img\" viewBox=\"0 0 640 196\"><title>").text(title).raw("</title>");
    for (idx, (name, n)) in values.iter().enumerate() {
        let height = HEIGHT * *n as f64 / most;
        let left = step * idx as f64;
        let top = HEAD + HEIGHT - height;
        svg.raw("<rect class=\"bar\" x=\"").text(number(left + step * 0.1));
        svg.raw("\" y=\"").text(number(top)).raw("\" width=\"").text(number(step * 0.8));
        svg.raw("\" height=\"").text(number(height)).raw("\"><title>");
        svg.text(name).raw(": ").text(n).raw("</title></rect>");
        let middle = number(left + step / 2.0);
        if *n > 0 && idx % every == 0 {
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
