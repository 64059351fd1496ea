"""From a release folder to its readers: what changed since the last one, and bringing it to the Hub."""
