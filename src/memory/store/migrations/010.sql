-- Every message as its parts in their order; so far only answers had rows here. Text and results lie in content, thinking
-- in message_meta, calls in tool_calls and images and documents in message_blobs, each kind in the order of its parts.
INSERT INTO message_parts(message_id, n, kind, bytes)
SELECT message_id, row_number() OVER (PARTITION BY message_id ORDER BY place, at) - 1, kind, bytes FROM (
    SELECT m.id AS message_id, 0 AS place, 0 AS at, 'thinking' AS kind, length(CAST(x.thinking AS BLOB)) AS bytes
      FROM messages m JOIN message_meta x ON x.message_id = m.id WHERE m.role = 'assistant' AND x.thinking <> ''
    UNION ALL
    SELECT id, 1, 0, CASE role WHEN 'tool' THEN 'result' ELSE 'text' END, length(CAST(coalesce(content, '') AS BLOB))
      FROM messages WHERE content <> '' OR role = 'tool'
    UNION ALL
    SELECT m.id, 2, c.key, 'call', 0 FROM messages m,
           json_each(CASE WHEN json_valid(m.tool_calls) AND json_type(m.tool_calls) = 'array' THEN m.tool_calls ELSE '[]' END) c
     WHERE m.role = 'assistant' AND m.tool_calls IS NOT NULL
    UNION ALL
    SELECT message_id, 3, n, 'image', 0 FROM message_blobs
) WHERE message_id NOT IN (SELECT message_id FROM message_parts);
