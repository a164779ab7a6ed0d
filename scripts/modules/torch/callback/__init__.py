"""Real trainings with leveloff's callback: what the recording tells of them, against what they know themselves."""
