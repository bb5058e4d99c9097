-- Exclusion constraints over an id and a time range together need GiST operators for plain scalar types.
CREATE EXTENSION IF NOT EXISTS btree_gist;
