"""What must hold for a release, and how it compares with the published one. Reads releases, never writes them."""
