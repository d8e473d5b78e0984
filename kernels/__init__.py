"""Reference operations and comparisons on logits; needs torch (extra ``checks``)."""
