"""Tests of the record models."""
