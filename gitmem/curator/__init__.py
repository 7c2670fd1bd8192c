"""Engines that turn many events and proposals into few candidates, within fixed bounds. Pure; touch no disk."""
