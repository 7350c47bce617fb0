"""How each kind of value is written; `encoder.plan` chooses among the writers here."""
