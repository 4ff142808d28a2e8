"""MedLDA."""
