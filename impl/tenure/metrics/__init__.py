"""Counters and spans (RS-960..RS-966).

``counters`` is always there and knows no library; ``opentelemetry`` needs the extra ``metrics`` and is imported by
whoever asks for it.
"""
