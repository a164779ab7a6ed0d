//! What was searched without finding a run, and what to do next.

use leveloff_sampler::find::Found;

/// The message when there is no run. Root sees every process, so sudo would not help it.
pub(crate) fn no_run_found(found: &Found, may_look_anywhere: bool) -> String {
    let mut text = "no training run found".to_owned();
    let mut label = "looked for";
    for what in &found.looked_for {
        text += &format!("\n  {label:<12}{what}");
        label = "";
    }
    text += &format!("\n  {:<12}{} processes", "looked at", found.looked_at);
    if let Some(limits) = hidden_processes(found) {
        text += &format!("\n  {:<12}{limits}", "not seen");
    }
    text + &format!("\n  {:<12}{}", "next", next_step(found, may_look_anywhere))
}

fn next_step(found: &Found, may_look_anywhere: bool) -> &'static str {
    if (found.hidden > 0 || found.unlisted) && !may_look_anywhere {
        "sudo leveloff find, --match REGEX, --pid PID, leveloff run -- CMD"
    } else {
        "--match REGEX, --pid PID, or leveloff run -- CMD"
    }
}

const CLOSED: &str = "could not be read (other users' or protected)";

pub(crate) fn hidden_processes(found: &Found) -> Option<String> {
    let hidden = match found.hidden {
        0 => None,
        1 => Some(format!("1 process {CLOSED}")),
        n => Some(format!("{n} processes {CLOSED}")),
    };
    match (hidden, found.unlisted) {
        (hidden, false) => hidden,
        (None, true) => Some("/proc does not list other users' processes (hidepid)".to_owned()),
        (Some(hidden), true) => Some(format!("{hidden}; /proc lists no others (hidepid)")),
    }
}
