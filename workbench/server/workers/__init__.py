"""Run long work in other processes, so that pages keep answering."""
