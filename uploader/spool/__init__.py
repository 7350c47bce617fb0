"""The spool: sealed batches on local disk until every sink has them."""
