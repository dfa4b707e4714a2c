"""The formal model of durable runs: vocabulary, admission, semantics, and what drives them."""
