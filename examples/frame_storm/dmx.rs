//! What goes over the wire: attributes of a fixture as channels of DMX, and universes of 512 channels.
//!
//! Plain arithmetic; it knows no cells.

/// The channels of a fixture: dimmer, red, green, blue, pan and tilt in two channels each.
pub(crate) type Packet = [u8; 8];

/// How many fixtures a universe has room for.
pub(crate) const FIXTURES: usize = 64;

/// The channels of a universe.
pub(crate) type Universe = [u8; 512];

/// A part of the whole, from 0 to 1, as a channel.
fn channel(part: f32) -> u8 {
    (part.clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// How bright a fixture is: what its track says, times all that turns it down.
pub(crate) fn dimmer(level: f32, trim: f32, fader: f32, grand: f32, muted: bool) -> u8 {
    if muted { 0 } else { channel(level * trim * fader * grand) }
}

/// Red, green and blue of a hue from 0 to 1; white where nothing is saturated.
pub(crate) fn colour(hue: f32, saturation: f32) -> [u8; 3] {
    [0.0, 2.0 / 3.0, 1.0 / 3.0].map(|shift| {
        let distance = (((hue + shift).fract() * 6.0) - 3.0).abs();
        channel(1.0 - saturation * (1.0 - (distance - 1.0).clamp(0.0, 1.0)))
    })
}

/// Where a fixture points to, around its own home position.
pub(crate) fn position(way: f32, home: f32) -> u16 {
    ((way + home).clamp(0.0, 1.0) * 65_535.0 + 0.5) as u16
}

/// The attributes of a fixture on its channels.
pub(crate) fn packet(dimmer: u8, [red, green, blue]: [u8; 3], pan: u16, tilt: u16) -> Packet {
    let ([pan, pan_fine], [tilt, tilt_fine]) = (pan.to_be_bytes(), tilt.to_be_bytes());
    [dimmer, red, green, blue, pan, pan_fine, tilt, tilt_fine]
}

/// Fixtures side by side; channels that no fixture has are 0.
pub(crate) fn pack(packets: &[Packet]) -> Universe {
    let mut universe = [0; 512];
    let channels = packets.iter().flatten();
    universe.iter_mut().zip(channels).for_each(|(to, from)| *to = *from);
    universe
}

/// How many channels differ.
pub(crate) fn changes(before: &Universe, after: &Universe) -> u32 {
    before.iter().zip(after).map(|(a, b)| u32::from(a != b)).sum()
}

/// A checksum over universes (FNV-1a, 64 bits).
pub(crate) fn checksum<'a>(universes: impl IntoIterator<Item = &'a Universe>) -> u64 {
    let bytes = universes.into_iter().flatten();
    bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes() {
        assert_eq!(dimmer(1.0, 1.0, 1.0, 1.0, false), 255);
        assert_eq!(dimmer(1.0, 0.5, 1.0, 0.5, false), 64);
        assert_eq!(dimmer(1.0, 1.0, 1.0, 1.0, true), 0);
        assert_eq!(colour(0.0, 1.0), [255, 0, 0]);
        assert_eq!(colour(1.0 / 3.0, 1.0), [0, 255, 0]);
        assert_eq!(colour(2.0 / 3.0, 1.0), [0, 0, 255]);
        assert_eq!(colour(0.7, 0.0), [255, 255, 255]);
        assert_eq!(
            [position(0.5, 0.0), position(0.9, 0.3), position(0.1, -0.3)],
            [32_768, 65_535, 0]
        );
    }

    #[test]
    fn channels() {
        let one = packet(1, [2, 3, 4], 0x0506, 0x0708);
        assert_eq!(one, [1, 2, 3, 4, 5, 6, 7, 8]);
        let universe = pack(&[one, one]);
        assert_eq!(universe[6..18], [7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0]);
        assert_eq!(pack(&[one; FIXTURES])[511], 8);
        assert_eq!(changes(&universe, &pack(&[one])), 8);
    }

    #[test]
    fn known_checksums() {
        assert_eq!(checksum([]), 0xcbf2_9ce4_8422_2325);
        assert_ne!(checksum([&pack(&[])]), checksum([&pack(&[[1; 8]])]));
    }
}
