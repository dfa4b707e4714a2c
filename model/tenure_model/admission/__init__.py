"""From a value somebody hands in to an accepted, inert copy, or a refusal naming the field and never the value."""
