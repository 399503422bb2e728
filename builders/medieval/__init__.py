"""MediEval: statements in four quadrants, true or false in medicine times supported or not by this patient's note."""
