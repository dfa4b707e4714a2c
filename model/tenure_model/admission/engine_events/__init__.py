"""Engine events: what a payload must be, and which events a consumer takes (JN-350..JN-384). Pure and total."""
