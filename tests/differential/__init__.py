"""Model and store driven together: the same steps, and after every one the same answer and the same state."""
