"""Spark."""
from termsieve.spark.counting import count
__all__ = ["count"]
