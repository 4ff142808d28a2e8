"""The linear max-margin models."""
