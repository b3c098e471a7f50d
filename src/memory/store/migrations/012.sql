-- How a change was joined with what others had changed in its files since it was proposed: lines.
ALTER TABLE changesets ADD COLUMN merged TEXT;
