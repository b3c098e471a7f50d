-- What nebula had written to a path where someone else had changed it by the time nebula wrote again: without it the
-- lines of both could not be told apart.
CREATE TABLE after_states (
    project_path TEXT NOT NULL,
    path TEXT NOT NULL,
    sha256 BLOB NOT NULL,
    bytes BLOB NOT NULL,                       -- the text, up to 4 MiB
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (project_path, path, sha256)
);
