-- Who approved the change: `person`, `policy edits`, `flag --yes`; NULL where nothing was changed or it was not kept yet.
ALTER TABLE changesets ADD COLUMN approved TEXT;
