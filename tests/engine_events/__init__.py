"""Engine events: decoding, construction, records of plans and nodes, previews (JN-350..JN-384)."""
