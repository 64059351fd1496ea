"""The stages every corpus goes through: fetch, read, normalise, drop, deduplicate, split, sample, package, release."""
