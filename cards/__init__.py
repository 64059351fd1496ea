"""What a release says of itself: its card, a page for every task, and Croissant metadata.

All of it is generated from facts (declarations, the lock, what is known of the published release, accepted exceptions);
what was written by hand lies in `templates/`. The same facts give the same bytes.
"""
