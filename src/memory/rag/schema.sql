-- The index behind @rag. A cache: whatever is wrong with it, it is made anew.
CREATE TABLE sources (
    id INTEGER PRIMARY KEY,
    project_path TEXT NOT NULL,
    path TEXT NOT NULL,                        -- a folder or a file, absolute; the project itself: its own text files
    updated_ms INTEGER,
    UNIQUE (project_path, path)
);
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    path TEXT NOT NULL,                        -- relative to the source; empty where the source is a file
    mtime_ns INTEGER NOT NULL,
    size INTEGER NOT NULL,
    UNIQUE (source, path)
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    file INTEGER NOT NULL,
    first INTEGER NOT NULL,                    -- lines from 1, both included
    last INTEGER NOT NULL
);
CREATE INDEX passages_by_file ON passages(file);
CREATE VIRTUAL TABLE words USING fts5(body, content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2");
CREATE VIRTUAL TABLE grams USING fts5(body, content='', contentless_delete=1, tokenize='trigram', detail='none');
