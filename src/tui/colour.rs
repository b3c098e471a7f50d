//! Colours as numbers: reading them, the nearest of the 256, how well two can be told apart.

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Reads `#rrggbb`.
pub fn parse(text: &str) -> Option<Rgb> {
    let hex = text.strip_prefix('#').filter(|h| h.len() == 6 && h.is_ascii())?;
    let part = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).ok();
    Some((part(0)?, part(2)?, part(4)?))
}

/// Returns the index (16 to 231) of the nearest colour of the 6×6×6 cube.
pub fn nearest_in_cube((r, g, b): Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |v: u8| {
        let distance = |i: &u8| LEVELS[*i as usize].abs_diff(v);
        (0..6u8).min_by_key(distance).unwrap_or(0)
    };
    16 + 36 * nearest(r) + 6 * nearest(g) + nearest(b)
}

/// Returns what colour `index` (16 to 255) of the 256 is: the cube, then the greys.
pub fn of_xterm(index: u8) -> Rgb {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match index {
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
        _ => {
            let n = usize::from(index.saturating_sub(16));
            (LEVELS[n / 36 % 6], LEVELS[n / 6 % 6], LEVELS[n % 6])
        }
    }
}

/// The sixteen colours as xterm has them; a terminal may show others.
pub const SIXTEEN: [Rgb; 16] = [
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// Returns the nearest of the sixteen colours.
pub fn nearest_of_sixteen((r, g, b): Rgb) -> u8 {
    let distance = |(x, y, z): Rgb| {
        let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        square(r, x) + square(g, y) + square(b, z)
    };
    (0..16u8).min_by_key(|n| distance(SIXTEEN[usize::from(*n)])).unwrap_or(7)
}

/// Returns the relative luminance as WCAG 2 defines it, from 0 to 1.
pub fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |v: u8| {
        let c = f64::from(v) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// Returns the contrast ratio as WCAG 2 defines it, from 1 to 21.
pub fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (x, y) = (luminance(a), luminance(b));
    (x.max(y) + 0.05) / (x.min(y) + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_rounds() {
        assert_eq!(parse("#0a10ff"), Some((10, 16, 255)));
        assert_eq!((parse("0a10ff"), parse("#12é45"), parse("#xyzxyz")), (None, None, None));
        assert_eq!(nearest_in_cube((0, 0, 0)), 16);
        assert_eq!(nearest_in_cube((255, 255, 255)), 231);
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
    }
}
