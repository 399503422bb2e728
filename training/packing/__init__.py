"""Packed rows: many statements behind one context, exact and shared by every decoder that is trained on them."""
