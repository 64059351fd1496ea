"""Measuring a release: pure functions from its files to facts, plain numbers that rules judge and statistics keep.

A corpus's tasks share their texts, so what concerns a text (its key, its traces, its tokens) is measured once per
corpus and then counted per task. A list under the key `examples` shows where to look; committed statistics leave it
out.
"""
