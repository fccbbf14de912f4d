//! Saved form of the elements of large tables: fixed size, little-endian, without padding.

/// Element of a large table.
pub trait Element: Copy {
    /// Size of a saved element in bytes.
    const BYTES: usize;

    /// Writes the element to the first [`Self::BYTES`] of `bytes`.
    fn put(self, bytes: &mut [u8]);

    /// Reads the element. Returns None if the bytes are not a valid element.
    fn get(bytes: &[u8]) -> Option<Self>;
}

macro_rules! numbers {
    ($($number:ty),+) => {
        $(impl Element for $number {
            const BYTES: usize = size_of::<$number>();

            #[inline(always)]
            fn put(self, bytes: &mut [u8]) {
                bytes[..Self::BYTES].copy_from_slice(&self.to_le_bytes());
            }

            #[inline(always)]
            fn get(bytes: &[u8]) -> Option<Self> {
                bytes[..Self::BYTES].try_into().ok().map(Self::from_le_bytes)
            }
        })+
    };
}

numbers!(u8, u16, u32, u64, i32, f64);

/// A `usize` is saved with 64 bits on every machine, so that a state can be restored on any
/// machine.
impl Element for usize {
    const BYTES: usize = u64::BYTES;

    #[inline(always)]
    fn put(self, bytes: &mut [u8]) {
        (self as u64).put(bytes);
    }

    #[inline(always)]
    fn get(bytes: &[u8]) -> Option<Self> {
        u64::get(bytes)?.try_into().ok()
    }
}

impl<T: Element + Default, const COUNT: usize> Element for [T; COUNT] {
    const BYTES: usize = COUNT * T::BYTES;

    fn put(self, bytes: &mut [u8]) {
        self.into_iter().zip(bytes.chunks_exact_mut(T::BYTES)).for_each(|(n, bytes)| n.put(bytes));
    }

    fn get(bytes: &[u8]) -> Option<Self> {
        let mut items = [T::default(); COUNT];
        for (item, bytes) in items.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
            *item = T::get(bytes)?;
        }
        Some(items)
    }
}

impl Element for bool {
    const BYTES: usize = 1;

    #[inline(always)]
    fn put(self, bytes: &mut [u8]) {
        bytes[0] = u8::from(self);
    }

    #[inline(always)]
    fn get(bytes: &[u8]) -> Option<Self> {
        match bytes[0] {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

/// Implements [`Element`] for a struct of elements, in the order of the named fields.
macro_rules! elements {
    ($($type:ident { $($field:tt: $of:ty),+ $(,)? })+) => {
        $(impl $crate::state::Element for $type {
            const BYTES: usize = $(<$of as $crate::state::Element>::BYTES +)+ 0;

            #[inline(always)]
            #[allow(unused_assignments)]
            fn put(self, bytes: &mut [u8]) {
                let mut at = 0;
                $(
                    self.$field.put(&mut bytes[at..]);
                    at += <$of as $crate::state::Element>::BYTES;
                )+
            }

            #[inline(always)]
            #[allow(unused_assignments)]
            fn get(bytes: &[u8]) -> Option<Self> {
                let mut at = 0;
                Some($type {
                    $($field: {
                        let element = <$of as $crate::state::Element>::get(&bytes[at..])?;
                        at += <$of as $crate::state::Element>::BYTES;
                        element
                    }),+
                })
            }
        })+
    };
}
pub(crate) use elements;
