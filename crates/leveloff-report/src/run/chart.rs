//! The chart of a run as a picture: SVG and PNG, drawn by the same hand.
//!
//! Read in this order: `columns` (the samples, no more than a picture has room for, no spike lost),
//! `content` (what is to be seen), `stack` (who holds it), `frame` (where a moment and an amount are),
//! `sheet` (lines, areas and words on whatever plotters draws on), `curve` (one run's memory),
//! `annotations` (axes, limit, what the verdict says), `events`, `legend`, `palette`.
//!
//! Text is set in Ubuntu Light (Ubuntu font licence 1.0), which the crate `epaint_default_fonts`
//! carries: no font of the system is used. An SVG names only `sans-serif`, so its text stays text.

mod annotations;
pub(crate) mod columns;
pub(crate) mod content;
mod curve;
mod events;
mod frame;
mod legend;
mod palette;
mod sheet;
mod stack;

use leveloff_classifier::units::Amount;
use leveloff_text::verdict::Headline;
use plotters::backend::{BitMapBackend, DrawingBackend, SVGBackend};

use self::content::{ChartContent, Room};
use self::frame::Frame;
use self::sheet::Sheet;
use crate::run_report::RunReport;

/// What a chart measures on a screen, in pixels.
pub const SIZE: (u32, u32) = (1200, 640);

/// plotters puts every line on whole pixels. Drawn larger and shown smaller, a slow rise has no steps.
const SVG_SCALE: u32 = 4;

/// Sharp on screens that have two pixels for one.
const PNG_SCALE: u32 = 2;

/// Columns of samples in a picture: one for every second pixel.
const COLUMNS: usize = 560;

/// Rows of numbers beside a picture, as the axis counts them.
const NUMBER_ROWS: u16 = 24;

/// plotters sets words higher on a bitmap than in an SVG, by this share of their size.
const BITMAP_WORDS_LOWER: f64 = 0.13;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum ChartError {
    /// The picture could not be drawn.
    #[error("the chart could not be drawn: {0}")]
    Drawing(String),
    /// The picture could not be encoded.
    #[error("the chart could not be written as PNG: {0}")]
    Encoding(#[from] png::EncodingError),
}

/// The chart as SVG. Its text can be selected, it has a title and a description, and nothing in it
/// has an id, so that two may stand in one page.
pub fn svg(report: &RunReport) -> String {
    let mut text = String::new();
    let size = (SIZE.0 * SVG_SCALE, SIZE.1 * SVG_SCALE);
    let sheet = Sheet::new(SVGBackend::with_string(&mut text, size), SVG_SCALE);
    let drawn = draw(report, sheet);
    // Only a font that is not registered could be missed here, and ours is a part of the program.
    drawn.expect("a string takes all that is drawn");
    with_description(&text, report)
}

/// The chart as PNG, with two pixels for each of [`SIZE`].
pub fn png(report: &RunReport) -> Result<Vec<u8>, ChartError> {
    let (width, height) = (SIZE.0 * PNG_SCALE, SIZE.1 * PNG_SCALE);
    let mut pixels = vec![u8::MAX; width as usize * height as usize * 3];
    let backend = BitMapBackend::with_buffer(&mut pixels, (width, height));
    draw(
        report,
        Sheet::new(backend, PNG_SCALE).with_words_lower(BITMAP_WORDS_LOWER),
    )?;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(file)
}

/// The chart in words, for those who do not see it.
pub fn description(report: &RunReport) -> String {
    let run = &report.verdict;
    let mut sentences = vec![format!(
        "Memory of the run over {}: {}.",
        Headline::of(run).facts().join(", "),
        Headline::of(run).whole()
    )];
    if let Some(extremes) = run.memory.extremes {
        let [first, peak, last] = [extremes.first, extremes.peak, extremes.last].map(Amount::bytes);
        sentences.push(format!(
            "It begins at {first}, is {peak} at its highest and ends at {last}."
        ));
    }
    if let Some(risk) = &run.risk {
        sentences.push(format!(
            "Risk: {}.",
            leveloff_text::verdict::risk_words(risk, run)
        ));
    }
    sentences.join(" ")
}

fn draw<B: DrawingBackend>(report: &RunReport, mut sheet: Sheet<B>) -> Result<(), ChartError> {
    sheet.fill((0.0, 0.0), (SIZE.0.into(), SIZE.1.into()), palette::PAPER);
    annotations::headline(report, &mut sheet);
    match ChartContent::of(report, COLUMNS, NUMBER_ROWS, Room::ForAll) {
        Some(content) => draw_scene(&content, &mut sheet),
        None => annotations::nothing(&mut sheet),
    }
    sheet.finish().map_err(ChartError::Drawing)
}

fn draw_scene<B: DrawingBackend>(content: &ChartContent<'_>, sheet: &mut Sheet<B>) {
    let entries = legend::entries(content);
    let top = legend::draw(&entries, sheet);
    let frame = Frame::new(top, content.x.clone(), content.amounts.range.clone());
    annotations::grid(content, &frame, sheet);
    for layer in &content.stack {
        stack::draw(layer, &frame, sheet);
    }
    if content.shows_rss {
        curve::rss(content, &frame, sheet);
    }
    curve::memory(&content.columns, palette::MEMORY, &frame, sheet);
    annotations::outlook(content, &frame, sheet);
    annotations::limit(content, &frame, sheet);
    annotations::mark(content, &frame, sheet);
    events::draw(content, &frame, sheet);
}

/// plotters knows neither titles nor a size other than that it draws on.
fn with_description(svg: &str, report: &RunReport) -> String {
    let (width, height) = SIZE;
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    let title = escaped(&annotations::title(report));
    let about = escaped(&description(report));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{title}</title>\n<desc>{about}</desc>{body}",
        width * SVG_SCALE,
        height * SVG_SCALE
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
