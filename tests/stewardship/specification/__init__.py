"""Hard cases of the specification of stewardship, with results worked out by hand from its words alone.

The sections are those of the specification that docs/stewardship.md retells. Comments say where a result comes from
that is not plain; "assumed" is what that page lists as assumed.
"""
