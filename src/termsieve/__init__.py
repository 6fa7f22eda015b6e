"""Termsieve."""
