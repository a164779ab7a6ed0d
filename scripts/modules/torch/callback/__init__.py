"""Real trainings with leveloff's callback: what the recording says about them, against their own notes."""
