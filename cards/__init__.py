"""The dataset card, generated from the facts of a release and from nothing else."""
