"""Models' answers graded under one set of labels or two, and the leaderboard that they make."""
