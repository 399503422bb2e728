"""Hard cases of docs/stewardship.md, with results worked out by hand from its words alone.

Comments say where a result comes from that is not plain; "assumed" is what that page lists as assumed.
"""
