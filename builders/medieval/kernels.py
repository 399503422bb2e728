"""Compiled loops over groups and their candidates: which are valid, how likely each is, which one is drawn.

A group replaces one end of a fact of an admission. Candidates for Q2 are siblings of the replaced end, for Q3 the ends
of the admission's other facts, for Q4 distractors: distant concepts of one bucket. Concepts, frames and admissions are
numbers here (nameable.sql, frame.sql and admission.sql of sql/builders/medieval). An admission has some twenty thousand
candidates; they are kept in memory for the groups that are kept only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ground.compiled import kernel, maker, part

__all__ = [
    "Meant",
    "Shard",
    "Terms",
    "Verdicts",
    "add_chances",
    "candidates_of",
    "choose",
    "facts_of",
    "mark_asked",
    "mark_near",
    "mark_related",
    "named_only",
]

Ints = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]


class Terms(NamedTuple):
    """What holds of concepts, frames and arguments, whatever the admission.

    Attributes:
        original: the end that a frame replaces. Shape: (frames,)
        kept: the end that it keeps. Shape: (frames,)
        argument: predicate, and slot of it. Shape: (frames,)
        pair: number of (argument, kept). Shape: (frames,)
        first_bucket: first bucket of an argument. Shape: (arguments + 1,)
        bucket_begin: where a bucket's concepts begin. Shape: (buckets + 1,)
        bucket: concepts of buckets.
        known: whether the graph knows the predicate of an argument for a concept. Shape: (arguments, concepts)
        taxonomic: whether the predicate of an argument names a class. Shape: (arguments,)
        of_head: whether an argument is that of the head. Shape: (arguments,)
        mask: semantic groups. Shape: (concepts,)
        names_class: whether a class can be named in a sentence. Shape: (concepts,)
        has_members: whether drugs have the class. Shape: (concepts,)
        sibling_begin: where the siblings of a concept begin. Shape: (concepts + 1,)
        sibling: siblings, those of a grandparent last.
        of_grandparent: whether a sibling is a child of a grandparent, and of no parent.
        frame_sibling_begin: where the siblings of the concept that a frame replaces begin. Shape: (frames + 1,)
        cover_begin: where what a mentioned concept covers begins. Shape: (mentioned concepts + 1,)
        cover: covered concepts.
        by_code: whether a code covers it too.
    """

    original: Ints
    kept: Ints
    argument: Ints
    pair: Ints
    first_bucket: Ints
    bucket_begin: Ints
    bucket: Ints
    known: Bytes
    taxonomic: Bytes
    of_head: Bytes
    mask: npt.NDArray[np.int64]
    names_class: Bytes
    has_members: Bytes
    sibling_begin: Ints
    sibling: Ints
    of_grandparent: Bytes
    frame_sibling_begin: npt.NDArray[np.int64]
    cover_begin: Ints
    cover: Ints
    by_code: Bytes


class Shard(NamedTuple):
    """What is known of some admissions; ``*_begin`` have shape (admissions + 1,).

    Attributes:
        group_begin: where the groups of an admission begin.
        frame: frame of a group.
        bucket: bucket that the distractors of a group come from.
        mention_begin: where the concepts that notes or codes may mean of an admission begin.
        mention: such a concept.
        from_code: whether a code says so.
        link_begin: where the linked pairs of an admission begin.
        link: one concept of a linked pair, sorted.
        linked: the other one.
        named_begin: where the named concepts of an admission begin.
        named: concept that the bare text of a note names, though no mention or code leaves it unclear.
    """

    group_begin: Ints
    frame: Ints
    bucket: Ints
    mention_begin: Ints
    mention: Ints
    from_code: Bytes
    link_begin: Ints
    link: Ints
    linked: Ints
    named_begin: Ints
    named: Ints


class Verdicts(NamedTuple):
    """Which replacements make true and false statements, whatever the admission.

    Attributes:
        false: a bit for each (argument, kept end) and end that makes it false. Shape: (pairs, ends / 8)
        true: whether a sibling of the replaced end makes it true. Shape: (frames' siblings,)
        near_begin: where the ends begin that are too close to an end to be its distractors. Shape: (ends + 1,)
        near: these ends.
    """

    false: Bytes
    true: Bytes
    near_begin: npt.NDArray[np.int64]
    near: Ints


class Meant(NamedTuple):
    """What names that are looked for in the bare text leave unclear.

    Attributes:
        begin: where the concepts of a name begin. Shape: (names + 1,)
        concept: concepts.
    """

    begin: Ints
    concept: Ints


@part
def _mark_unclear(terms: Any, shard: Any, admission: int, unclear: Any) -> None:
    cover_begin, cover, by_code = terms.cover_begin, terms.cover, terms.by_code
    for i in range(shard.mention_begin[admission], shard.mention_begin[admission + 1]):
        concept, from_code = shard.mention[i], shard.from_code[i]
        for j in range(cover_begin[concept], cover_begin[concept + 1]):
            if not from_code or by_code[j]:
                unclear[cover[j]] = admission
    for i in range(shard.named_begin[admission], shard.named_begin[admission + 1]):
        unclear[shard.named[i]] = admission


@kernel
def named_only(terms: Any, shard: Any, begin: Any, name: Any, meant: Any) -> Any:
    """Return (admission, concept) of what names in the text leave unclear, and nothing else does. Shape: (n, 2)

    Args:
        terms: of the cohort.
        shard: admissions, of which nothing is known to be named.
        begin: where the names of an admission begin. Shape: (admissions + 1,)
        name: names found in its text.
        meant: what names leave unclear.
    """
    unclear = np.full(terms.mask.size, -1, np.int32)
    named = np.empty((1024, 2), np.int32)
    n = 0
    for admission in range(begin.size - 1):
        _mark_unclear(terms, shard, admission, unclear)
        for i in range(begin[admission], begin[admission + 1]):
            for j in range(meant.begin[name[i]], meant.begin[name[i] + 1]):
                code = meant.concept[j]
                if unclear[code] != admission:
                    unclear[code] = admission
                    if n == named.shape[0]:
                        named = np.concatenate((named, np.empty((n, 2), np.int32)))
                    named[n, 0], named[n, 1] = admission, code
                    n += 1
    return named[:n].copy()


@maker
def _ends(terms: Any, shard: Any, admission: int, seen: Any) -> Any:
    """Return the ends of the facts of an admission, sorted."""
    codes = np.empty(2 * (shard.group_begin[admission + 1] - shard.group_begin[admission]), np.int32)
    n = 0
    for group in range(shard.group_begin[admission], shard.group_begin[admission + 1]):
        code = terms.original[shard.frame[group]]
        if seen[code] != admission:
            seen[code] = admission
            # An admission has some dozens of ends; a library's sort would take seconds to compile.
            hole = n
            while hole and codes[hole - 1] > code:
                codes[hole] = codes[hole - 1]
                hole -= 1
            codes[hole] = code
            n += 1
    return codes[:n]


@part
def _fits(code: int, groups: int, original: int, kept: int, wanted: int) -> Any:
    """Tell whether a candidate is another concept than both ends, of a semantic group of the replaced end.

    Inner loops pass numbers only: the reference counts of passed arrays would take longer than the work.
    """
    return code not in (original, kept) and (groups & wanted) != 0


@part
def _nameable(taxonomic: int, of_head: int, names_class: int, has_members: int) -> Any:
    """Tell whether a sibling can stand where a predicate names a class."""
    return not taxonomic or (names_class != 0 and not (of_head != 0 and has_members != 0))


@part
def _bucket_of(terms: Any, shard: Any, group: int) -> Any:
    bucket = terms.first_bucket[terms.argument[shard.frame[group]]] + shard.bucket[group]
    return terms.bucket_begin[bucket], terms.bucket_begin[bucket + 1]


@kernel
def mark_asked(terms: Any, shard: Any, asked: Any, siblings: Any, done: Any) -> None:
    """Mark the candidates that some group has, so that each is judged once.

    Args:
        terms: of the cohort.
        shard: admissions.
        asked: a bit for each (argument, kept end) and candidate. Shape: (pairs, ends / 8)
        siblings: whether a sibling is a candidate of a frame. Shape: (frames' siblings,)
        done: whether all distractors of a bucket are marked for a frame. Shape: (frames, buckets of an argument)
    """
    unclear = np.full(terms.mask.size, -1, np.int32)
    seen = np.full(terms.mask.size, -1, np.int32)
    mask, bucket, sibling, names_class, has_members = (
        terms.mask,
        terms.bucket,
        terms.sibling,
        terms.names_class,
        terms.has_members,
    )
    for admission in range(shard.group_begin.size - 1):
        _mark_unclear(terms, shard, admission, unclear)
        ends = _ends(terms, shard, admission, seen)
        for group in range(shard.group_begin[admission], shard.group_begin[admission + 1]):
            frame = shard.frame[group]
            argument, original, kept = terms.argument[frame], terms.original[frame], terms.kept[frame]
            row, known, wanted = asked[terms.pair[frame]], terms.known[argument], mask[original]
            if not done[frame, shard.bucket[group]]:
                left = 0
                begin, end = _bucket_of(terms, shard, group)
                for i in range(begin, end):
                    code = bucket[i]
                    if _fits(code, mask[code], original, kept, wanted) and not row[code >> 3] >> (code & 7) & 1:
                        if unclear[code] != admission:
                            row[code >> 3] |= 1 << (code & 7)
                        else:
                            left += 1
                done[frame, shard.bucket[group]] = left == 0
            for code in ends:
                if known[code] and _fits(code, mask[code], original, kept, wanted):
                    row[code >> 3] |= 1 << (code & 7)
            taxonomic, of_head = terms.taxonomic[argument], terms.of_head[argument]
            slot = terms.frame_sibling_begin[frame] - terms.sibling_begin[original]
            for i in range(terms.sibling_begin[original], terms.sibling_begin[original + 1]):
                code = sibling[i]
                if (
                    unclear[code] != admission
                    and code != kept
                    and _nameable(taxonomic, of_head, names_class[code], has_members[code])
                ):
                    siblings[slot + i] = 1


@kernel
def mark_related(head: Any, tail: Any, begin: Any, twin: Any, related: Any) -> None:
    """Mark the pairs of concepts whose twins a path relates, in either direction.

    Args:
        head: where paths begin, by the numbers of twins. Shape: (n,)
        tail: where they end. Shape: (n,)
        begin: where the concepts of a twin begin. Shape: (twins + 1,)
        twin: concepts.
        related: a bit for each pair of concepts. Shape: (ends, ends / 8)
    """
    for row in range(head.size):
        for i in range(begin[head[row]], begin[head[row] + 1]):
            code = twin[i]
            for j in range(begin[tail[row]], begin[tail[row] + 1]):
                other = twin[j]
                related[code, other >> 3] |= 1 << (other & 7)
                related[other, code >> 3] |= 1 << (code & 7)


@kernel
def mark_near(terms: Any, shard: Any, verdicts: Any, bucket_of: Any, met: Any) -> None:
    """Mark the distractors of some group that make a false statement but are too close to the replaced end.

    Args:
        terms: of the cohort.
        shard: admissions.
        verdicts: of candidates.
        bucket_of: bucket of an argument in which a concept is, -1 for none. Shape: (arguments, ends)
        met: takes the marks. Shape: (near ends,)
    """
    unclear = np.full(terms.mask.size, -1, np.int32)
    mask, near_begin, near = terms.mask, verdicts.near_begin, verdicts.near
    for admission in range(shard.group_begin.size - 1):
        _mark_unclear(terms, shard, admission, unclear)
        for group in range(shard.group_begin[admission], shard.group_begin[admission + 1]):
            frame, bucket = shard.frame[group], shard.bucket[group]
            original, kept = terms.original[frame], terms.kept[frame]
            row, its_bucket, wanted = (
                verdicts.false[terms.pair[frame]],
                bucket_of[terms.argument[frame]],
                mask[original],
            )
            for i in range(near_begin[original], near_begin[original + 1]):
                code = near[i]
                if (
                    its_bucket[code] == bucket
                    and row[code >> 3] >> (code & 7) & 1
                    and unclear[code] != admission
                    and _fits(code, mask[code], original, kept, wanted)
                ):
                    met[i] = 1


@part
def _index_links(shard: Any, admission: int, begin: Any, end: Any, seen: Any) -> None:
    for i in range(shard.link_begin[admission], shard.link_begin[admission + 1]):
        code = shard.link[i]
        if seen[code] != admission:
            seen[code] = admission
            begin[code] = i
        end[code] = i + 1


class _Marks(NamedTuple):
    """Concepts that are no candidates: of which admission, or of which group, was marked last. Shapes: (concepts,)

    Attributes:
        unclear: admission in which the concept is unclear.
        blocked: group whose kept end a note links with it.
        close: group whose replaced end it is too close to.
    """

    unclear: Ints
    blocked: Ints
    close: Ints


@maker
def _replacements(
    terms: Any, shard: Any, verdicts: Any, marks: Any, ends: Any, admission: int, group: int, every: bool
) -> Any:
    """Return the candidates of a group for Q2, Q3 and Q4, and the numbers of those for Q2 and Q3.

    All of them, or only the first for each. Siblings of a grandparent only where none of a parent will do.
    """
    frame = shard.frame[group]
    argument, original, kept = terms.argument[frame], terms.original[frame], terms.kept[frame]
    row, known, wanted = verdicts.false[terms.pair[frame]], terms.known[argument], terms.mask[original]
    mask, bucket, sibling, true = terms.mask, terms.bucket, terms.sibling, verdicts.true
    names_class, has_members, of_grandparent = terms.names_class, terms.has_members, terms.of_grandparent
    taxonomic, of_head = terms.taxonomic[argument], terms.of_head[argument]
    unclear, blocked, close = marks.unclear, marks.blocked, marks.close
    begin, end = _bucket_of(terms, shard, group)
    first, last = terms.sibling_begin[original], terms.sibling_begin[original + 1]
    slot = terms.frame_sibling_begin[frame] - first
    codes, n = np.empty(last - first + ends.size + end - begin, np.int32), 0
    for i in range(first, last):
        code = sibling[i]
        if n and of_grandparent[i] and not of_grandparent[i - 1]:
            break
        free = true[slot + i] and unclear[code] != admission and code != kept and (every or n == 0)
        if free and _nameable(taxonomic, of_head, names_class[code], has_members[code]):
            codes[n] = code
            n += 1
    of_q2 = n
    for code in ends:
        free = row[code >> 3] >> (code & 7) & 1 and blocked[code] != group and (every or n == of_q2)
        if free and known[code] and _fits(code, mask[code], original, kept, wanted):
            codes[n] = code
            n += 1
    of_q3 = n - of_q2
    for i in range(begin, end):
        code = bucket[i]
        free = row[code >> 3] >> (code & 7) & 1 and close[code] != group and blocked[code] != group
        if free and unclear[code] != admission and _fits(code, mask[code], original, kept, wanted):
            codes[n] = code
            n += 1
            if not every:
                break
    return codes[:n], of_q2, of_q3


@kernel
def candidates_of(terms: Any, shard: Any, verdicts: Any, wanted: Any, every: bool, counts: Any) -> Any:
    """List and count the candidates of some groups.

    Args:
        terms: of the cohort.
        shard: admissions.
        verdicts: of candidates.
        wanted: which groups. Shape: (groups,)
        every: all candidates, or only the first of a group for each of Q2, Q3 and Q4.
        counts: takes the numbers of candidates for Q2, Q3 and Q4. Shape: (groups, 3)

    Returns:
        The candidates, by group and quadrant. Shape: (n,)
    """
    size = terms.mask.size
    seen, link_seen = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    link_begin, link_end = np.zeros(size, np.int32), np.zeros(size, np.int32)
    marks = _Marks(np.full(size, -1, np.int32), np.full(size, -1, np.int32), np.full(size, -1, np.int32))
    near_begin, near = verdicts.near_begin, verdicts.near
    out, n = np.empty(1024, np.int32), 0
    for admission in range(shard.group_begin.size - 1):
        first, last = shard.group_begin[admission], shard.group_begin[admission + 1]
        while first < last and not wanted[first]:
            first += 1
        if first == last:
            continue
        _mark_unclear(terms, shard, admission, marks.unclear)
        ends = _ends(terms, shard, admission, seen)
        _index_links(shard, admission, link_begin, link_end, link_seen)
        for group in range(first, last):
            if not wanted[group]:
                continue
            original, kept = terms.original[shard.frame[group]], terms.kept[shard.frame[group]]
            if link_seen[kept] == admission:
                for i in range(link_begin[kept], link_end[kept]):
                    marks.blocked[shard.linked[i]] = group
            for i in range(near_begin[original], near_begin[original + 1]):
                marks.close[near[i]] = group
            codes, of_q2, of_q3 = _replacements(terms, shard, verdicts, marks, ends, admission, group, every)
            counts[group, 0], counts[group, 1], counts[group, 2] = of_q2, of_q3, codes.size - of_q2 - of_q3
            while n + codes.size > out.size:
                out = np.concatenate((out, np.empty(out.size, np.int32)))
            for code in codes:
                out[n] = code
                n += 1
    return out[:n].copy()


@part
def _equal(mention: Any, begin: int, end: int, other: int, other_end: int) -> Any:
    """Tell whether two runs of mentions are the same."""
    if end - begin != other_end - other:
        return False
    same = 0
    while begin + same < end and mention[begin + same] == mention[other + same]:
        same += 1
    return begin + same == end


@kernel
def facts_of(
    begin: Any, side: Any, closeness: Any, mention_begin: Any, mention: Any, fact_begin: Any, tail: Any, loose: Any
) -> Any:
    """Return (fact, admission, closeness) of the facts whose two ends rest on different mentions. Shape: (n, 3)

    A class that is not mentioned itself (closeness 2) is an end only if a member other than the head is mentioned.

    Args:
        begin: where the ends of an admission begin. Shape: (admissions + 1,)
        side: concept of an end. Shape: (ends,)
        closeness: of an end to what is mentioned, 0 to 2. Shape: (ends,)
        mention_begin: where the mentions of an end begin. Shape: (ends + 1,)
        mention: mentions, sorted.
        fact_begin: where the facts of a head begin. Shape: (sides + 1,)
        tail: the other end of a fact. Shape: (facts,)
        loose: whether it may be a class that is not mentioned itself. Shape: (facts,)
    """
    place = np.full(fact_begin.size, -1, np.int32)
    rows = np.empty((1024, 3), np.int32)
    n = 0
    for admission in range(begin.size - 1):
        first, last = begin[admission], begin[admission + 1]
        for end in range(first, last):
            place[side[end]] = end
        for end in range(first, last):
            if closeness[end] == 2:
                continue
            for fact in range(fact_begin[side[end]], fact_begin[side[end] + 1]):
                other = place[tail[fact]]
                if other < first or not (closeness[other] < 2 or loose[fact]):
                    continue
                if _equal(
                    mention, mention_begin[end], mention_begin[end + 1], mention_begin[other], mention_begin[other + 1]
                ):
                    continue
                if n == rows.shape[0]:
                    rows = np.concatenate((rows, np.empty((n, 3), np.int32)))
                rows[n, 0], rows[n, 1], rows[n, 2] = fact, admission, closeness[end] + closeness[other]
                n += 1
    return rows[:n].copy()


@kernel
def add_chances(begin: Any, code: Any, preference: Any, weight: Any, quadrant: int, expected: Any) -> None:
    """Add up the chances of the candidates for one quadrant, in a group in proportion to weight and preference.

    Args:
        begin: where the candidates of a group for Q2, Q3 and Q4 begin. Shape: (3 * groups + 1,)
        code: candidates.
        preference: how often the chance of a candidate is doubled, as it is like the replaced end. Shape: (n,)
        weight: of concepts. Shape: (concepts,)
        quadrant: 0 to 2 for Q2 to Q4.
        expected: sums, added to. Shape: (concepts,)
    """
    chance = np.empty(1024)
    for run in range(quadrant, begin.size - 1, 3):
        first, n, total = begin[run], begin[run + 1] - begin[run], 0.0
        if n > chance.size:
            chance = np.empty(2 * n)
        for i in range(n):
            chance[i] = weight[code[first + i]] * (1 << preference[first + i])
            total += chance[i]
        for i in range(n):
            expected[code[first + i]] += chance[i] / total


@part
def _mark_taken(kept: int, pairs: Any, n: int, run: int, blocked: Any) -> None:
    """Block the names that would repeat a statement of the admission."""
    for i in range(n):
        if pairs[i, 0] == kept:
            blocked[pairs[i, 1]] = run
        if pairs[i, 1] == kept:
            blocked[pairs[i, 0]] = run


@part
def _first_candidate(candidates: Any, run: int, weight: Any, name_no: Any, blocked: Any, stamp: int) -> int:
    """Return the candidate of a run with the lowest draw for its weight and preference, or -1."""
    code, preference, draw = candidates.code, candidates.preference, candidates.draw
    best, least = -1, np.inf
    for i in range(candidates.begin[run], candidates.begin[run + 1]):
        if blocked[name_no[code[i]]] != stamp:
            value = draw[i] / (weight[code[i]] * (1 << preference[i]))
            if value < least or (value == least and best >= 0 and code[i] < code[best]):
                best, least = i, value
    return best


@part
def _keep_first(candidates: Any, name_no: Any, drawn: Any, pairs: Any, choice: Any) -> int:
    """Keep the drawn candidates, of equal statements that of the lowest precedence; return how many were kept."""
    kept, precedence, n = candidates.kept, candidates.precedence, 0
    for i in range(drawn.shape[0]):
        group, own, other = drawn[i, 0] // 3, name_no[kept[drawn[i, 0] // 3]], name_no[drawn[i, 1]]
        keeps = True
        for j in range(drawn.shape[0]):
            rival, rival_own, rival_other = drawn[j, 0] // 3, name_no[kept[drawn[j, 0] // 3]], name_no[drawn[j, 1]]
            same = (rival_own == own and rival_other == other) or (rival_own == other and rival_other == own)
            first = precedence[rival] < precedence[group] or (precedence[rival] == precedence[group] and j < i)
            if j != i and same and first:
                keeps = False
        if keeps:
            choice[group, drawn[i, 0] % 3] = drawn[i, 1]
            pairs[n, 0], pairs[n, 1] = own, other
            n += 1
    return n


@part
def _pairs_of(candidates: Any, name_no: Any, choice: Any, first: int, last: int, pairs: Any) -> int:
    """List the pairs of names of the statements that an admission has, and return how many they are."""
    kept, original, n = candidates.kept, candidates.original, 0
    for group in range(first, last):
        pairs[n, 0], pairs[n, 1] = name_no[kept[group]], name_no[original[group]]
        n += 1
        for quadrant in range(3):
            if choice[group, quadrant] >= 0:
                pairs[n, 0], pairs[n, 1] = name_no[kept[group]], name_no[choice[group, quadrant]]
                n += 1
    return n


@kernel
def choose(candidates: Any, weight: Any, name_no: Any, quadrant: int, choice: Any) -> None:
    """Draw the statements of one quadrant, in rounds, until no group of an admission can draw another.

    The least of exponential draws divided by weight and preference is chosen, so a candidate's chance is in proportion
    to both. If two groups of an admission draw the same pair of names, the lower precedence keeps it and the other
    draws again in the next round. So no statement is repeated in an admission, nor the pair of a Q1 statement.

    Args:
        candidates: of one shard.
        weight: of concepts. Shape: (concepts,)
        name_no: a number for the name of a concept. Shape: (concepts,)
        quadrant: 0 to 2 for Q2 to Q4.
        choice: chosen concepts, -1 for none, added to. Shape: (groups, 3)
    """
    blocked = np.full(weight.size, -1, np.int64)
    stamp = 0
    for admission in range(candidates.group_begin.size - 1):
        first, last = candidates.group_begin[admission], candidates.group_begin[admission + 1]
        pairs, drawn = np.empty((4 * (last - first), 2), np.int32), np.empty((last - first, 2), np.int32)
        taken, n = _pairs_of(candidates, name_no, choice, first, last, pairs), 1
        while n:
            n = 0
            for group in range(first, last):
                if choice[group, quadrant] < 0:
                    stamp += 1
                    _mark_taken(name_no[candidates.kept[group]], pairs, taken, stamp, blocked)
                    run = 3 * group + quadrant
                    best = _first_candidate(candidates, run, weight, name_no, blocked, stamp)
                    if best >= 0:
                        drawn[n, 0], drawn[n, 1] = run, candidates.code[best]
                        n += 1
            taken += _keep_first(candidates, name_no, drawn[:n], pairs[taken:], choice)
