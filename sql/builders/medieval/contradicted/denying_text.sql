-- All texts of admissions that deny what nothing else speaks for: notes, and mentions that deny or only think of things
-- Grain: one row per text. Columns: number, is_note, text
-- Inputs: denying_words, read_mention, admission, ehr.discharge_note
select
    number,
    false as is_note,
    text
from read_mention
where manner != 'other' and number in (select denying_words.number from denying_words)
union all
select
    admission.number,
    true as is_note,
    note.text
from admission
inner join ehr.discharge_note as note on admission.hadm_id = note.hadm_id
where admission.number in (select denying_words.number from denying_words)
