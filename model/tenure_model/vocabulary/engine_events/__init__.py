"""What an execution engine writes to a journal, as values that check nothing when they are built."""
