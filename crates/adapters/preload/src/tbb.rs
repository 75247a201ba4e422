//! oneTBB, by standing in front of its entry points and of its tasks' virtual functions.
