//! Dates in text columns, as numbers: days since 1970-01-01, as R counts them.

/// The days from 1970-01-01 to a date, with the part of the day if there is a time; `None` for a
/// text that is no date. Forms: `2024-03-09`, `2024/03/09` and `09.03.2024`, and after a blank or `T`
/// a time such as `14:30`, `14:30:05` or `14:30:05.25Z`.
pub(crate) fn days(text: &str) -> Option<f64> {
    let (date, time) = match text.find([' ', 'T']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    let separator = ['-', '/', '.'].into_iter().find(|separator| date.contains(*separator))?;
    let parts: Vec<&str> = date.split(separator).collect();
    let [first, month, last] = parts[..] else { return None };
    let (year, day) = if separator == '.' { (last, first) } else { (first, last) };
    if year.len() != 4 || month.len() > 2 || day.len() > 2 {
        return None;
    }
    let days = civil(whole(year)?, whole(month)?, whole(day)?)?;
    Some(days + time.map_or(Some(0.0), part_of_day)?)
}

fn whole(text: &str) -> Option<i32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn part_of_day(text: &str) -> Option<f64> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let mut parts = text.split(':');
    let (hours, minutes) = (whole(parts.next()?)?, whole(parts.next()?)?);
    let seconds = parts.next().map_or(Some(0.0), |text| {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        plain.then(|| text.parse::<f64>().ok()).flatten()
    })?;
    let fits = hours < 24 && minutes < 60 && seconds < 61.0 && parts.next().is_none();
    fits.then(|| (f64::from(hours * 60 + minutes) * 60.0 + seconds) / 86_400.0)
}

/// The number of days of the Gregorian calendar from 1970-01-01, counted in years from March.
fn civil(year: i32, month: i32, day: i32) -> Option<f64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Some(f64::from(days - 719_468))
}

/// The year, the month and the day of the week (1 is Monday) of a number of days.
#[allow(clippy::cast_possible_truncation, reason = "days of four-digit years")]
pub(crate) fn calendar(days: f64) -> [f64; 3] {
    let day = days.floor().clamp(-1e7, 1e7) as i32;
    let weekday = (day + 3).rem_euclid(7) + 1;
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = (from_march + 2) % 12 + 1;
    let year = year_of_era + 400 * era + i32::from(month <= 2);
    [year, month, weekday].map(f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_r() {
        // By `as.numeric(as.Date(...))` in R.
        for (text, need) in [
            ("1970-01-01", 0.0),
            ("2024-02-29", 19_782.0),
            ("2024/3/9", 19_791.0),
            ("31.12.1999", 10_956.0),
            ("1900-03-01", -25_508.0),
            ("2000-01-01 12:00", 10_957.5),
            ("2000-01-01T06:00:00Z", 10_957.25),
        ] {
            assert_eq!(days(text), Some(need), "{text}");
        }
        for text in
            ["", "2023-02-29", "24-01-01", "2024-13-01", "2024-1-1-1", "a-b-c", "2024-01-01 25:00"]
        {
            assert_eq!(days(text), None, "{text}");
        }
    }

    #[test]
    fn calendars_invert_days() {
        for day in (-200_000..200_000).step_by(37) {
            let [year, month, weekday] = calendar(f64::from(day));
            let first = days(&format!("{year}-{month}-1")).unwrap();
            assert!((0.0..31.0).contains(&(f64::from(day) - first)), "{day}");
            assert!((1.0..=7.0).contains(&weekday));
        }
        assert_eq!(calendar(0.0), [1970.0, 1.0, 4.0]);
        assert_eq!(calendar(19_782.0), [2024.0, 2.0, 4.0]);
    }
}
