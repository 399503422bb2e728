-- Denials whose words stand elsewhere in the notes, too: unread, or in a longer name
-- Grain: that of denial. Output: denial(number, code, reason), changed
-- Inputs: denying_words, words_said(number, words, by_notes, by_mentions)
-- Source: docs/definitions.md#contradicted
update denial set reason = 'its words stand elsewhere too'
from denying_words
inner join words_said on denying_words.number = words_said.number and denying_words.words = words_said.words
where
    denial.number = denying_words.number and denial.code = denying_words.code
    and words_said.by_notes > words_said.by_mentions;
