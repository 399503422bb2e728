-- Concepts of OMOP's vocabulary for the sections of notes
-- Grain: the rows of note_nlp_section (builders/data/note_nlp_sections.tsv), whose concept_id is filled
-- Inputs: note_nlp_section, omop.coded. Output: note_nlp_section
-- Source: LOINC's codes of sections
update note_nlp_section
set concept_id = coded.concept_id
from omop.coded as coded
where coded.vocabulary = 'LNC' and coded.code = note_nlp_section.loinc;
