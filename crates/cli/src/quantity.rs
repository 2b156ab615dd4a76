//! Amounts of memory and time, as people write them.

use std::time::Duration;

/// `64M`, `4G`, `512MiB`, or a plain number of bytes.
pub(crate) fn bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = split(text);
    let log2 = match unit.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("`{text}` is not an amount of memory: write 512M or 4G")),
    };
    let number: f64 =
        number.parse().map_err(|_| format!("`{text}` is not an amount of memory: write 512M or 4G"))?;
    Ok((number * 2f64.powi(log2)) as usize)
}

/// `500ms`, `90s`, `10m`, `2h`, or a plain number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let factor = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{text}` is not a time: write 90s, 10m or 2h")),
    };
    let number: f64 = number.parse().map_err(|_| format!("`{text}` is not a time: write 90s, 10m or 2h"))?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| format!("`{text}` is too long a time"))
}

/// A time, as people write it.
pub(crate) fn show_duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{} ms", time.as_millis()) } else { format!("{seconds} s") }
}

fn split(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_understood_with_and_without_units() {
        assert_eq!(bytes("64M"), Ok(64 << 20));
        assert_eq!(bytes("4G"), Ok(4 << 30));
        assert_eq!(bytes("1.5GiB"), Ok(3 << 29));
        assert_eq!(bytes("1000"), Ok(1000));
        assert_eq!(bytes("8 kB"), Ok(8192));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "G", "4X", "-1", "1e9", "a lot"] {
            assert!(bytes(wrong).is_err() && duration(wrong).is_err(), "{wrong}");
        }
    }
}
