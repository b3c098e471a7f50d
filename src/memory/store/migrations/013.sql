-- The changeset with which nebula made a folder; NULL: not known.
ALTER TABLE folders ADD COLUMN changeset TEXT;
