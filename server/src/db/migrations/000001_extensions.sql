-- GiST operators for plain types: an exclusion constraint can then cover an id and a time range together.
CREATE EXTENSION IF NOT EXISTS btree_gist;
