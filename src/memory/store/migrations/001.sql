-- The two tables of the specification, with exactly its columns. A database that has them already keeps them.
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY,
    started_at DATETIME DEFAULT CURRENT_TIMESTAMP,
    ended_at DATETIME,
    project_path TEXT NOT NULL,
    model_used TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT REFERENCES sessions(id),
    timestamp DATETIME DEFAULT CURRENT_TIMESTAMP,
    role TEXT NOT NULL,
    content TEXT,
    tool_calls TEXT,
    tool_results TEXT
);
CREATE INDEX sessions_by_project ON sessions(project_path);
CREATE INDEX sessions_not_ended ON sessions(id) WHERE ended_at IS NULL;
CREATE INDEX messages_by_session ON messages(session_id, id);
CREATE INDEX messages_of_people ON messages(session_id, id) WHERE role = 'user';

-- What the two tables do not say, one row each. Times are unix milliseconds.
CREATE TABLE session_meta (
    session_id TEXT PRIMARY KEY REFERENCES sessions(id),
    title TEXT,
    parent TEXT,                               -- the session this is a fork of
    parent_message INTEGER,                    -- its last message that was taken over
    mode TEXT,
    provider TEXT,
    format TEXT,
    messages INTEGER NOT NULL DEFAULT 0,       -- of the person and the model, not tool results
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL,                                 -- dollars; NULL while no price is known
    added INTEGER NOT NULL DEFAULT 0,          -- lines, of the changesets that were applied
    removed INTEGER NOT NULL DEFAULT 0,
    updated_ms INTEGER NOT NULL DEFAULT 0,     -- when something was last said
    stopped INTEGER NOT NULL DEFAULT 0,        -- 1: its process went away without closing it
    summary TEXT,                              -- stands for all messages up to summary_upto in what is sent
    summary_upto INTEGER,
    extra TEXT                                 -- JSON of whoever owns the session
);
CREATE TABLE message_meta (
    message_id INTEGER PRIMARY KEY REFERENCES messages(id),
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL,                       -- complete | streaming | interrupted
    typed INTEGER,                             -- bytes of content that were typed; the rest is the Reference section
    turn INTEGER,                              -- id of the user message that began the turn
    thinking TEXT,
    model TEXT,
    format TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    attached TEXT,                             -- JSON [{path, lines, bytes}]
    extra TEXT,
    indexed INTEGER NOT NULL DEFAULT 0         -- 1: its text is in the search index, or never will be
);
CREATE INDEX message_meta_unindexed ON message_meta(message_id) WHERE indexed = 0;

-- Images and documents sent with a message, so that a resumed session sends them again.
CREATE TABLE message_blobs (
    message_id INTEGER NOT NULL REFERENCES messages(id),
    n INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,                        -- media type
    bytes BLOB NOT NULL,
    PRIMARY KEY (message_id, n)
) WITHOUT ROWID;

-- Who caused a changeset of the archive, and what it held.
CREATE TABLE changesets (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT,                                   -- the archive's; NULL until it exists
    project_path TEXT NOT NULL,
    session_id TEXT,                           -- NULL: made from the command line
    message_id INTEGER,
    turn INTEGER,
    tool_call TEXT,
    kind TEXT NOT NULL,                        -- edit | undo | redo | patch | shi | strand | ...
    title TEXT NOT NULL,
    state TEXT NOT NULL,                       -- pending | applied | failed
    at_ms INTEGER NOT NULL,
    added INTEGER,
    removed INTEGER
);
CREATE UNIQUE INDEX changesets_by_id ON changesets(project_path, id);
CREATE INDEX changesets_by_session ON changesets(session_id, message_id);
CREATE TABLE changeset_files (
    n INTEGER NOT NULL REFERENCES changesets(n),
    path TEXT NOT NULL,
    version TEXT,                              -- the archive's id of the state before; NULL until it exists
    absent INTEGER NOT NULL DEFAULT 0,         -- 1: there was no file before
    sha256 BLOB,                               -- of the state before
    added INTEGER,
    removed INTEGER,
    PRIMARY KEY (n, path)
) WITHOUT ROWID;
CREATE INDEX changeset_files_by_path ON changeset_files(path, n);

-- The newest state nebula wrote to each path. While a write is under way the state before it counts as well.
CREATE TABLE written (
    project_path TEXT NOT NULL,
    path TEXT NOT NULL,
    sha256 BLOB,                               -- NULL: nebula deleted the file
    bytes BLOB,                                -- the text, up to 4 MiB
    at_ms INTEGER NOT NULL,
    pending INTEGER,                           -- the changeset under way
    had_before INTEGER NOT NULL DEFAULT 0,     -- 1: there was a row before this write, kept in the three columns below
    before_sha256 BLOB,
    before_bytes BLOB,
    before_ms INTEGER,
    PRIMARY KEY (project_path, path)
);
CREATE INDEX written_pending ON written(pending) WHERE pending IS NOT NULL;

-- What was said, to be searched: by words (with pairs for Chinese, Japanese and Korean text) and by parts of words.
CREATE VIRTUAL TABLE message_words USING fts5(body, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2");
CREATE VIRTUAL TABLE message_grams USING fts5(body, content='', contentless_delete=1, tokenize='trigram');

INSERT INTO session_meta(session_id, messages, updated_ms, title)
SELECT s.id,
       (SELECT count(*) FROM messages m WHERE m.session_id = s.id AND m.role <> 'tool'),
       coalesce((SELECT unixepoch(max(m.timestamp)) FROM messages m WHERE m.session_id = s.id),
                unixepoch(s.ended_at), unixepoch(s.started_at), 0) * 1000,
       (SELECT substr(m.content, 1, 80) FROM messages m
         WHERE m.session_id = s.id AND m.role = 'user' ORDER BY m.id LIMIT 1)
FROM sessions s;
INSERT INTO message_meta(message_id, at_ms, state)
SELECT id, coalesce(unixepoch(timestamp), 0) * 1000, 'complete' FROM messages;
