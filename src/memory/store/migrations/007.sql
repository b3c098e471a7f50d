-- What requests beside the conversation took: summaries, questions about a hunk, commit messages.
CREATE TABLE usage_beside (
  key TEXT PRIMARY KEY,                   -- made where it is stored first, so that it is stored once
  project_path TEXT NOT NULL,
  session_id TEXT,                        -- NULL: of none
  turn INTEGER,
  at_ms INTEGER NOT NULL,
  model TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  written_tokens INTEGER NOT NULL,
  thinking_tokens INTEGER NOT NULL,
  cost_nanos INTEGER,                     -- NULL: no price is known
  estimated INTEGER NOT NULL              -- 1: by the built-in table of prices
) WITHOUT ROWID;
