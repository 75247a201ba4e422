//! A stack whose places are used again as they are: pushing and popping large values copies none.

/// What can be made as good as new.
pub(crate) trait Slot: Default {
    /// Forgets what it was.
    fn reset(&mut self);
}

/// The stack. Its lowest items may be given up before those above.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<T>,
    /// Items of the lowest that are given up.
    from: usize,
    length: usize,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots {
            slots: Vec::new(),
            from: 0,
            length: 0,
        }
    }
}

impl<T: Slot> Slots<T> {
    /// Items that are there.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length - self.from
    }

    /// True for none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.length == self.from
    }

    /// A new item on top, as good as new.
    #[inline]
    pub(crate) fn push(&mut self) -> Option<&mut T> {
        if self.is_empty() {
            (self.from, self.length) = (0, 0);
        }
        if self.slots.len() == self.length {
            self.slots.push(T::default());
        }
        self.length += 1;
        let slot = self.slots.get_mut(self.length - 1)?;
        slot.reset();
        Some(slot)
    }

    /// The top one is popped; it stays readable by [`Slots::popped`] until the next push.
    #[inline]
    pub(crate) fn pop(&mut self) -> bool {
        let any = !self.is_empty();
        self.length -= usize::from(any);
        any
    }

    /// The lowest one is given up.
    #[inline]
    pub(crate) fn give_up_lowest(&mut self) {
        self.from += usize::from(!self.is_empty());
    }

    /// The one just popped, and the one on top now.
    #[inline]
    pub(crate) fn popped(&mut self) -> Option<(&mut T, Option<&mut T>)> {
        let (below, above) = self.slots.split_at_mut_checked(self.length)?;
        let top = below.get_mut(self.from..)?.last_mut();
        Some((above.first_mut()?, top))
    }

    /// The top one.
    #[inline]
    pub(crate) fn last(&self) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        self.slots.get(self.length - 1)
    }

    /// The top one.
    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() {
            return None;
        }
        self.slots.get_mut(self.length - 1)
    }

    /// The lowest one.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        self.slots.get(self.from)
    }

    /// The one below the top one.
    #[inline]
    pub(crate) fn below(&self) -> Option<&T> {
        let at = self.length.checked_sub(2)?;
        self.slots.get(at).filter(|_| at >= self.from)
    }

    /// Item `i`, counted from the bottom with those given up.
    #[inline]
    pub(crate) fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        self.slots.get_mut(..self.length)?.get_mut(i)
    }

    /// All from item `i` on.
    #[inline]
    pub(crate) fn since(&self, i: usize) -> &[T] {
        self.slots.get(i..self.length).unwrap_or(&[])
    }

    /// All from item `i` on.
    #[inline]
    pub(crate) fn since_mut(&mut self, i: usize) -> &mut [T] {
        self.slots.get_mut(i..self.length).unwrap_or(&mut [])
    }

    /// Only the lowest `length`, counted with those given up, stay.
    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length.max(self.from));
    }

    /// How many there are, counted with those given up.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.length
    }

    /// None stays.
    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.from, self.length) = (0, 0);
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        self.slots.len() * size_of::<T>()
    }
}
