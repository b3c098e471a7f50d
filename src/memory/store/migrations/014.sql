-- What was typed in a session and not sent, as JSON of its owner; NULL: nothing.
ALTER TABLE session_meta ADD COLUMN unsent TEXT;
