"""Tools that a language model may use while it audits or recomputes a label; none reaches beyond this machine."""
