"""What each operation means: pure functions over an immutable world."""
