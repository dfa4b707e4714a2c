"""Engine events: what a payload must be, and which events a consumer takes. Pure and total."""
