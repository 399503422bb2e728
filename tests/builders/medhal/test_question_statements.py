"""Questions to statements: golden cases by shape, refusals, the vignette."""

from __future__ import annotations

import pytest

from builders.medhal.rules.question import split_question, statement_of
from builders.medhal.writers import Written
from builders.texts.origin import Refusal

GOLDEN = [
    (
        "Which of the following is the most likely diagnosis?",
        "Acute gout",
        "copula",
        "The most likely diagnosis is acute gout.",
    ),
    ("What is the most likely diagnosis?", "Wilson disease", "copula", "The most likely diagnosis is Wilson disease."),
    (
        "Which of the following are the most likely side effects of the drug?",
        "Nausea and tremor",
        "copula",
        "The most likely side effects of the drug are nausea and tremor.",
    ),
    (
        "What is the best next step in management?",
        "Administer zinc",
        "copula_to",
        "The best next step in management is to administer zinc.",
    ),
    (
        "What is the best next step in management?",
        "Increase in dose",
        "copula",
        "The best next step in management is an increase in dose.",
    ),
    (
        "What is the mechanism of action of this drug?",
        "Inhibits lipase",
        "copula_list",
        "The mechanism of action of this drug is as follows: it inhibits lipase.",
    ),
    (
        "Which of the following is the most appropriate response?",
        '"I am sorry."',
        "copula_list",
        'The most appropriate response is as follows: "I am sorry."',
    ),
    (
        "Which of the following best explains these findings?",
        "Anti-insulin antibodies",
        "subject",
        "Anti-insulin antibodies best explain these findings.",
    ),
    (
        "Which of the following best explains these findings?",
        "The enzyme is blocked",
        "subject_list",
        "The following best explains these findings: The enzyme is blocked.",
    ),
    (
        "Which of the following drugs would have prevented this?",
        "Folic acid",
        "subject",
        "Folic acid would have prevented this.",
    ),
    (
        "Which of the following drugs is NOT likely to be the cause?",
        "Zinc",
        "subject",
        "Zinc is not likely to be the cause.",
    ),
    (
        "Which of the following is most likely to confirm the diagnosis?",
        "Blood cultures",
        "subject",
        "Blood cultures are most likely to confirm the diagnosis.",
    ),
    (
        "Which of the following findings on auscultation is most likely?",
        "Mid-systolic click",
        "subject_among",
        "Among findings on auscultation, a mid-systolic click is most likely.",
    ),
    (
        "Which of the following side effects is most likely?",
        "Dry cough",
        "subject_list",
        "The following side effect is most likely: dry cough.",
    ),
    (
        "Which of the following statements about this drug is true?",
        "It is safe",
        "statement",
        "The following is true about this drug: It is safe.",
    ),
    (
        "Further evaluation is most likely to show which of the following findings?",
        "Low serum zinc",
        "in_place",
        "Further evaluation is most likely to show low serum zinc.",
    ),
    (
        "Inhibition of which of the following enzymes is most likely responsible?",
        "Lipase",
        "in_place",
        "Inhibition of lipase is most likely responsible.",
    ),
    (
        "This drug has which of the following effects on the heart?",
        "Slower conduction",
        "in_place_list",
        "This drug has the following effect on the heart: slower conduction.",
    ),
    (
        "Which of the following would you expect to see in this patient?",
        "Low zinc",
        "object",
        "You would expect to see low zinc in this patient.",
    ),
    ("This patient is at risk of which of the following?", "Stroke", "in_place", "This patient is at risk of stroke."),
    (
        "In addition to rest, which of the following is the best treatment?",
        "Zinc",
        "fronted_copula",
        "In addition to rest, the best treatment is zinc.",
    ),
    ("Of the following options, which is the next step?", "Biopsy", "copula", "The next step is biopsy."),
    (
        "The drug of choice for absence seizures is",
        "Ethosuximide",
        "stem",
        "The drug of choice for absence seizures is ethosuximide.",
    ),
    (
        "Most common cause of nephritis in children:",
        "Reflux",
        "named_stem",
        "The most common cause of nephritis in children is reflux.",
    ),
    ("Scurvy is caused by", "Vitamin C deficiency", "stem", "Scurvy is caused by vitamin C deficiency."),
    (
        "Barr body is found in the following phase of the cell cycle:",
        "Interphase",
        "stem_list",
        "The Barr body is found in the following phase of the cell cycle: interphase.",
    ),
    ("True about BCG is", "Is a live vaccine", "statement", "The following is true about BCG: it is a live vaccine."),
    (
        "All of the following are causes of hypokalemia EXCEPT:",
        "Addison disease",
        "except",
        "Addison disease is not among the causes of hypokalemia.",
    ),
    (
        "All of the following are true about scurvy EXCEPT",
        "Tall stature",
        "except_list",
        "The following is not true about scurvy: tall stature.",
    ),
    (
        "Muscles of mastication are all except",
        "Buccinator",
        "except",
        "Buccinator is not among the muscles of mastication.",
    ),
    ("Sardonic grin seen in", "Tetanus", "stem", "Sardonic grin is seen in tetanus."),
    ("Digoxin acts by inhibiting", "Na+ K+ ATPase", "stem", "Digoxin acts by inhibiting Na+ K+ ATPase."),
    (
        "Lymphatics from the testis drain into",
        "Para-aortic nodes",
        "stem",
        "Lymphatics from the testis drain into para-aortic nodes.",
    ),
    ("Natal teeth are present", "At birth", "stem", "Natal teeth are present at birth."),
    (
        "Enzyme deficient in Von Gierke's disease",
        "Glucose-6-phosphatase",
        "named_stem",
        "The enzyme deficient in Von Gierke's disease is glucose-6-phosphatase.",
    ),
    (
        "Structures not passing through foramen ovale",
        "Facial nerve",
        "stem_among",
        "The facial nerve is among the structures not passing through the foramen ovale.",
    ),
    ("BCG: true statement is", "It is live", "statement", "The following is true about BCG: It is live."),
    ("Down syndrome, all are seen except", "Short nails", "except", "Short nails are not seen in Down syndrome."),
    ("Bishop's score includes all except", "Fundal height", "except", "Bishop's score does not include fundal height."),
    (
        "Embryos are fixed at",
        "Anterior wall of cervix",
        "stem",
        "Embryos are fixed at the anterior wall of the cervix.",
    ),
    ("Complication of mumps", "Orchitis", "named_stem", "A complication of mumps is orchitis."),
    ("Iron is absorbed in", "Duodenum", "stem", "Iron is absorbed in the duodenum."),
    (
        "Which of the following structures is most likely injured?",
        "Branch of left circumflex artery",
        "subject",
        "A branch of the left circumflex artery is most likely injured.",
    ),
    ("Not a feature of scurvy", "Rash", "subject", "A rash is not a feature of scurvy."),
    ("Does zinc reduce the length of colds?", "yes", "yes_no_do", "Zinc reduces the length of colds."),
    ("Does zinc reduce the length of colds?", "no", "yes_no_do", "Zinc does not reduce the length of colds."),
    ("Do patients with gout benefit from zinc?", "yes", "yes_no_do", "Patients with gout benefit from zinc."),
    (
        "Is anorectal endosonography valuable in dyschesia?",
        "no",
        "yes_no_be",
        "Anorectal endosonography is not valuable in dyschesia.",
    ),
    (
        "Is combined therapy more effective than zinc?",
        "yes",
        "yes_no_be",
        "Combined therapy is more effective than zinc.",
    ),
    ("Is vitamin D deficiency a feature of gout?", "no", "yes_no_be", "Vitamin D deficiency is not a feature of gout."),
    ("Can zinc prevent colds?", "no", "yes_no_modal", "Zinc cannot prevent colds."),
    ("Has the use of zinc increased in Spain?", "yes", "yes_no_have", "The use of zinc has increased in Spain."),
    ("Is there any link between zinc and colds?", "yes", "yes_no_there", "There is a link between zinc and colds."),
    ("Is there any link between zinc and colds?", "no", "yes_no_there", "There is no link between zinc and colds."),
    ("Zinc for colds: is it safe?", "no", "yes_no_be", "Zinc for colds is not safe."),
    (
        "Which of the following is most likely the cause of this patient condition?",
        "Zinc",
        "subject",
        "Zinc is most likely the cause of this patient's condition.",
    ),
    (
        "Which of the following is the most likely the diagnosis?",
        "Gout",
        "copula",
        "The most likely diagnosis is gout.",
    ),
    (
        "Which of the following is the most likely to confirm the diagnosis?",
        "Biopsy",
        "subject",
        "Biopsy is most likely to confirm the diagnosis.",
    ),
    (
        "Which of the following is the best next step?",
        "MRI brain",
        "copula",
        "The best next step is an MRI of the brain.",
    ),
    (
        "Which of the following is most likely seen?",
        "Mixed respiratory and metabolic acidosis",
        "subject",
        "Mixed respiratory and metabolic acidosis is most likely seen.",
    ),
    (
        "Which of the following will be present?",
        "S3 gallop",
        "subject",
        "An S3 gallop will be present.",
    ),
    (
        "Which of the following is most likely seen?",
        "Presence of anti-Jo-1 antibodies",
        "subject",
        "The presence of anti-Jo-1 antibodies is most likely seen.",
    ),
    (
        "The man shows which of the following mechanisms?",
        "Repression",
        "in_place_list",
        "The man shows the following mechanism: repression.",
    ),
    (
        "The man shows which of the following mechanisms?",
        "Bohr effect",
        "in_place_list",
        "The man shows the following mechanism: Bohr effect.",
    ),
    (
        "Which of the following is the best next step?",
        "Upper gastrointestinal series",
        "copula",
        "The best next step is an upper gastrointestinal series.",
    ),
]


@pytest.mark.parametrize(("question", "option", "rule", "statement"), GOLDEN, ids=[f"{g[2]}-{g[1]}" for g in GOLDEN])
def test_a_shape_becomes_its_statement(question: str, option: str, rule: str, statement: str) -> None:
    assert statement_of(question, option) == Written(statement, rule)


@pytest.mark.parametrize(
    ("question", "option", "reason"),
    [
        ("Which of the following statements is false?", "It is safe", "asks_for_the_false"),
        ("All of the following are false about zinc except", "It is safe", "asks_for_the_exception"),
        ("What is the name of this reaction, and what is the treatment?", "Rash; zinc", "two_questions"),
        ("Which of the following drugs did this patient take?", "Zinc", "inverted_question"),
        ("During which of the following stages does a cell divide?", "Mitosis", "inverted_question"),
        ("Which of the following tests would a hospital use?", "Biopsy", "inverted_question"),
        ("Which of the following is the best treatment?", "Both A and B", "option_names_options"),
        ("Which of the following is the most likely diagnosis?", "By hydrolysis", "option_is_no_phrase"),
        ("Which of the following is the most likely diagnosis?", "Administer zinc", "option_does_not_fit"),
        ("Which of the following chromosomes is affected?", "5", "option_does_not_fit"),
        ("Which of the following drugs is indicated?", "No drug", "option_does_not_fit"),
        ("How does zinc work?", "Binding", "unknown_shape"),
        ("What is the risk? (Round to the nearest whole number.)", "20", "two_questions"),
        ("Is zinc better or is it worse?", "yes", "alternative_question"),
        ("Do many patients with gout benefit from zinc?", "no", "subject_unsure"),
        ("Does weight change damage the heart?", "yes", "subject_unsure"),
        ("Zinc: a treatment of colds?", "yes", "title_is_no_question"),
        ("Must zinc be given to children?", "no", "title_is_no_question"),
        ("May zinc prevent colds?", "no", "title_is_no_question"),
        ("Is zinc still useful?", "no", "subject_unsure"),
        ("Can a novel approach to the joint improve access?", "yes", "subject_unsure"),
        ("Which of the following will most likely found in this patient?", "Crystals", "broken_english"),
        ("The patient is most likely increased risk of developing which of the following?", "Gout", "broken_english"),
        ("Which of the following explains for the difference?", "Bias", "broken_english"),
        ("Syringes are sterilised in hot oven at", "160 deg C", "broken_english"),
        ("Does third trimester ultrasound predict labor?", "yes", "broken_english"),
        ("Is zinc useful for Management of colds?", "yes", "broken_english"),
        ("Which of the following is the next best step?", "CT scan and give oxygen", "broken_english"),
        ("What is the most appropriate management?", "No treatment indicated", "broken_english"),
        ("Which of the following is the best step?", "Do not repeat cultures", "option_does_not_fit"),
        ("Which of the following functions is most likely impaired?", "Inhibit phagocytosis", "option_does_not_fit"),
        ("Which of the following is true about zinc?", "Crystals", "option_does_not_fit"),
        ("Which of the following will most likely help?", "Obtain blood cultures", "option_does_not_fit"),
        ("What is the best next step?", "Give zinc, obtain titers", "option_is_no_phrase"),
        ("Does occlusion device alter rhythm?", "yes", "broken_english"),
        ("Which of the following is most likely to be found?", "Loss of joint space and osteophytes", "broken_english"),
        ("Zinc for colds: does the dose matter?", "no", "heading_before_question"),
        ("Management of the ascending aorta: is balloon occlusion safe?", "no", "heading_before_question"),
        ("Does feeding tube insertion and its timing improve survival?", "no", "number_unsure"),
    ],
)
def test_what_cannot_be_worded_well_is_refused_with_its_reason(question: str, option: str, reason: str) -> None:
    assert statement_of(question, option) == Refusal(reason)


def test_the_vignette_is_what_stands_before_the_last_sentence() -> None:
    text = "A man has S. aureus sepsis. His zinc is 5.6 Which of the following is the most likely cause?"
    assert split_question(text) == (
        "A man has S. aureus sepsis. His zinc is 5.6",
        "Which of the following is the most likely cause?",
    )
    assert split_question("Scurvy is caused by") == (None, "Scurvy is caused by")


def test_a_vitamin_ends_a_sentence_and_a_genus_does_not() -> None:
    assert split_question("She takes vitamin D. Which of the following is it?")[0] == "She takes vitamin D."
    assert split_question("Infection with E. Coli is treated with")[0] is None
