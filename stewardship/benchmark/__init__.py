"""A benchmark under stewardship: its folder, and the tables of labels that it is made from."""
