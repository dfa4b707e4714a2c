"""What is taken out of payloads and metas before storage: sensitive members, secrets in text, binary (JN-050)."""
