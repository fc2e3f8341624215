//! Describes the machine the figures were measured on.

use std::fs;
use std::process::Command;

/// The processor, compiler and flags, as lines of a Markdown list.
pub fn description(date: Option<&str>) -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut lines = vec![
        format!("- processor: {}, {cores} cores", processor()),
        format!("- compiler: {}", compiler()),
        format!("- target features: {}; plumb chooses wider ones at run time", features()),
    ];
    lines.extend(date.map(|date| format!("- date: {date}")));
    lines.join("\n") + "\n"
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    name.map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned())
}

/// The compiler in the path, which is usually the one that built this.
fn compiler() -> String {
    let output = Command::new("rustc").arg("--version").output();
    let text = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    text.map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}

/// The vector instructions this was built for; `sonic-rs` uses only those, whatever the processor
/// has.
const fn features() -> &'static str {
    if cfg!(target_feature = "avx2") {
        "AVX2"
    } else if cfg!(target_feature = "sse2") {
        "SSE2, the default of x86-64"
    } else if cfg!(target_feature = "neon") {
        "NEON"
    } else {
        "none"
    }
}
