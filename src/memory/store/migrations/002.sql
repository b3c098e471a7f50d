-- How large the archive of a project was when it was last measured.
CREATE TABLE archives (
    project_path TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
-- Folders that nebula made for a file, so that taking the file back takes them too.
CREATE TABLE folders (
    project_path TEXT NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (project_path, path)
) WITHOUT ROWID;
