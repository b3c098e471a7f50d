-- Of what a session cost: 1 where some of it is by the built-in table of prices, and where a step has no price.
ALTER TABLE session_meta ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_meta ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
-- Not kept so far: such a cost counts as estimated.
UPDATE session_meta SET estimated = 1 WHERE cost > 0;
