-- What a step cost, in billionths of a dollar: NULL where no price is known, 0 on this computer.
ALTER TABLE message_meta ADD COLUMN cost_nanos INTEGER;
ALTER TABLE message_meta ADD COLUMN hour_tokens INTEGER;             -- of those written to the provider's cache: for an hour
ALTER TABLE message_meta ADD COLUMN copied INTEGER NOT NULL DEFAULT 0; -- 1: a fork's copy, whose tokens were counted once
