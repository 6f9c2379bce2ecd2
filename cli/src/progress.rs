//! The progress bar of long commands. It is drawn on standard error, and only if
//! that is a terminal; a program that reads along sees the final counts alone.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// How often a bar without news is redrawn.
const TICK: Duration = Duration::from_millis(120);

/// A bar over the bytes of a file, or a spinner where their number is unknown.
pub(crate) fn bytes(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => {
            let bar = ProgressBar::new(total);
            style(
                bar,
                "{bar:32} {binary_bytes}/{binary_total_bytes}, {msg} ({eta} left)",
            )
        }
        None => style(
            ProgressBar::new_spinner(),
            "{spinner} {binary_bytes}, {msg}",
        ),
    }
}

/// A bar over memories, whose number becomes known on the way.
pub(crate) fn count() -> ProgressBar {
    style(
        ProgressBar::no_length(),
        "{bar:32} {human_pos}/{human_len} memories ({eta} left)",
    )
}

/// A bar over collections, whose number becomes known on the way.
pub(crate) fn collections() -> ProgressBar {
    style(
        ProgressBar::no_length(),
        "{bar:32} {pos}/{len} collections, {msg}",
    )
}

fn style(bar: ProgressBar, template: &str) -> ProgressBar {
    // A template is fixed text, so an error can only come from a change here; the
    // plain bar does as well.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(TICK);
    bar
}
