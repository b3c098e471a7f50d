-- What a changeset left at a path, by which a change by someone else before the next one is told: NULL: not known;
-- empty: nothing.
ALTER TABLE changeset_files ADD COLUMN after_sha256 BLOB;
