"""What users hand in, before any of it is used."""
