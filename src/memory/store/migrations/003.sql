-- The parts of an answer in their order. Text and thinking lie in content and thinking, one part after the other; calls in
-- tool_calls. A message without parts, as those kept before, has its thinking first and its calls last.
CREATE TABLE message_parts (
    message_id INTEGER NOT NULL REFERENCES messages(id),
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,                        -- text | thinking | call | other
    bytes INTEGER NOT NULL DEFAULT 0,          -- of content or thinking, for a text or a thinking
    seal TEXT,                                 -- the provider's own JSON, byte for byte
    wire TEXT,                                 -- where the answer came from: format, address, model asked for
    place TEXT,
    model TEXT,
    PRIMARY KEY (message_id, n)
) WITHOUT ROWID;
ALTER TABLE message_meta ADD COLUMN written_tokens INTEGER;   -- of the input: written to the provider's cache
ALTER TABLE message_meta ADD COLUMN thinking_tokens INTEGER;  -- of the output
