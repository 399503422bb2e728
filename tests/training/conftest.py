from __future__ import annotations

from tests.training.estimates import estimate_each_kind_once

estimate_each_kind_once()
