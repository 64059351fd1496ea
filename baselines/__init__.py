"""Models and scores for the tasks of a release."""
