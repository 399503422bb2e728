"""What two rooms agree on: row types, label values, taxonomy, prompts and answers, graders and rewards."""
