//! A stack that reuses its slots, so that pushing and popping large values copies nothing.

/// A value that can be reset to its initial state.
pub(crate) trait Slot: Default {
    /// Resets the value.
    fn reset(&mut self);
}

/// The stack. Its lowest items may be given up before those above.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<T>,
    /// The number of lowest items that are given up.
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
    /// The number of items, without those given up.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.length - self.from
    }

    /// Whether there are no items.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.length == self.from
    }

    /// Pushes an item in its initial state.
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

    /// Pops the top item, which stays readable by [`Slots::popped`] until the next push.
    #[inline]
    pub(crate) fn pop(&mut self) -> bool {
        let any = !self.is_empty();
        self.length -= usize::from(any);
        any
    }

    /// Gives up the lowest item.
    #[inline]
    pub(crate) fn give_up_lowest(&mut self) {
        self.from += usize::from(!self.is_empty());
    }

    /// The item just popped, and the item that is now on top.
    #[inline]
    pub(crate) fn popped(&mut self) -> Option<(&mut T, Option<&mut T>)> {
        let (below, above) = self.slots.split_at_mut_checked(self.length)?;
        let top = below.get_mut(self.from..)?.last_mut();
        Some((above.first_mut()?, top))
    }

    /// The top item.
    #[inline]
    pub(crate) fn last(&self) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        self.slots.get(self.length - 1)
    }

    /// The top item.
    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut T> {
        if self.is_empty() {
            return None;
        }
        self.slots.get_mut(self.length - 1)
    }

    /// The lowest item.
    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        self.slots.get(self.from)
    }

    /// The item below the top one.
    #[inline]
    pub(crate) fn below(&self) -> Option<&T> {
        let at = self.length.checked_sub(2)?;
        self.slots.get(at).filter(|_| at >= self.from)
    }

    /// Item `i`, counted from the bottom and including those given up.
    #[inline]
    pub(crate) fn get_mut(&mut self, i: usize) -> Option<&mut T> {
        self.slots.get_mut(..self.length)?.get_mut(i)
    }

    /// All items from item `i` on.
    #[inline]
    pub(crate) fn since(&self, i: usize) -> &[T] {
        self.slots.get(i..self.length).unwrap_or(&[])
    }

    /// All items from item `i` on.
    #[inline]
    pub(crate) fn since_mut(&mut self, i: usize) -> &mut [T] {
        self.slots.get_mut(i..self.length).unwrap_or(&mut [])
    }

    /// Keeps only the lowest `length` items, counting those given up.
    #[inline]
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length.max(self.from));
    }

    /// The number of items, including those given up.
    #[inline]
    pub(crate) fn end(&self) -> usize {
        self.length
    }

    /// Removes all items.
    #[inline]
    pub(crate) fn clear(&mut self) {
        (self.from, self.length) = (0, 0);
    }

    /// Memory used, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.slots.len() * size_of::<T>()
    }
}
