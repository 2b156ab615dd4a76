//! How wide variables are. Arithmetic is C's `int`; a value is cut to size when it is stored.

/// The type of a scalar in the state vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// An unsigned number of this many bits, 1 to 32.
    Bits(u8),
    /// 0 to 255: `byte`, `pid`, `mtype`, `chan`, and elements of arrays of bits.
    Byte,
    /// 16 bits with sign.
    Short,
    /// 32 bits with sign.
    Int,
}

impl Width {
    /// Bytes in the state vector.
    pub fn bytes(self) -> usize {
        match self {
            Self::Bits(n) => usize::from(n).div_ceil(8).next_power_of_two(),
            Self::Byte => 1,
            Self::Short => 2,
            Self::Int => 4,
        }
    }

    /// What is left of a value when it is stored.
    pub fn cut(self, value: i32) -> i32 {
        match self {
            Self::Bits(n) if n < 32 => value & ((1 << n) - 1),
            Self::Byte => value & 0xff,
            Self::Short => i32::from(value as i16),
            Self::Bits(_) | Self::Int => value,
        }
    }

    /// Reads a value; `bytes` begins with it.
    pub fn read(self, bytes: &[u8]) -> i32 {
        match self.bytes() {
            1 => i32::from(bytes[0]),
            2 if self == Self::Short => i32::from(i16::from_le_bytes([bytes[0], bytes[1]])),
            2 => i32::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            _ => i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        }
    }

    /// Writes a value, cut to size.
    pub fn write(self, bytes: &mut [u8], value: i32) {
        let n = self.bytes();
        bytes[..n].copy_from_slice(&self.cut(value).to_le_bytes()[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_when_stored() {
        let store = |width: Width, value| {
            let mut bytes = [0u8; 4];
            width.write(&mut bytes, value);
            width.read(&bytes)
        };
        assert_eq!(store(Width::Byte, 256), 0);
        assert_eq!(store(Width::Byte, -1), 255);
        assert_eq!(store(Width::Short, 32768), -32768);
        assert_eq!(store(Width::Int, i32::MIN), i32::MIN);
        assert_eq!(store(Width::Bits(1), 2), 0);
        assert_eq!(store(Width::Bits(3), 15), 7);
        assert_eq!(store(Width::Bits(12), 0x1fff), 0xfff);
        assert_eq!((Width::Bits(3).bytes(), Width::Bits(12).bytes(), Width::Bits(17).bytes()), (1, 2, 4));
    }
}
