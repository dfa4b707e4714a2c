"""Engine events: decoding, construction, records of plans and nodes, previews."""
