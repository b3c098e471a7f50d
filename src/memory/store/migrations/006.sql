-- What the person decided about changes that nobody approved beforehand: `keep` or `restore`.
CREATE TABLE reviews (
  project_path TEXT NOT NULL,
  changeset TEXT NOT NULL,                -- the archive's id
  decision TEXT NOT NULL,
  reason TEXT,
  at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_path, changeset)
) WITHOUT ROWID;
