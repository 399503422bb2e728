"""The one second road: labels and evidence of our datasets, derived again from the release and the records.

Second road: shares no rules and no word tables with ``builders``, ``ehr`` and ``kg``. It lives in ``stewardship``,
whose work it is to compute labels again, and which may import none of the three. The verb ``validate`` reaches it from
the top, and MedHal's judge of our own facts runs its SQL. What it shares with the builders is the load of the release:
a relation that ``kg.edge`` holds in error is true on both roads.

`folders` opens datasets. `graph` says which relations hold and what a mention must mean to attest a concept; `rows`
holds a row's columns against one another and against the graph. Support has two readers: `mentions` reads what is
stored of notes and codes (`validation` uses it, and finds nothing in a sound dataset), `bare_text` reads the notes
themselves (the audit and the estimates use it: where it differs from the builder is what they report).
"""
