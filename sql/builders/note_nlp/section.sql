-- Concepts of OMOP's vocabulary for the sections of notes
-- Grain: the rows of note_nlp_section (builders/data/note_nlp_sections.tsv), whose concept_id is filled
-- Inputs: note_nlp_section, omop.concept. Output: note_nlp_section
-- Source: LOINC's codes of sections
update note_nlp_section
set concept_id = concept.concept_id
from omop.concept as concept
where concept.vocabulary_id = 'LOINC' and concept.concept_code = note_nlp_section.loinc;
