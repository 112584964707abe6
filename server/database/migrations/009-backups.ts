/** Backups of datastores, replacements of their data, and volumes that are no longer used. Times are integer milliseconds. */
export default `
ALTER TABLE datastores ADD COLUMN backup_schedule TEXT;
ALTER TABLE datastores ADD COLUMN backup_retention INTEGER NOT NULL DEFAULT 7;
ALTER TABLE datastores ADD COLUMN backup_seen_at INTEGER;

CREATE TABLE backups (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  datastore_id TEXT NOT NULL REFERENCES datastores (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
  trigger TEXT NOT NULL CHECK (trigger IN ('manual', 'schedule', 'upgrade')),
  size_bytes INTEGER,
  sha256 TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX backups_of ON backups (datastore_id, sequence);
CREATE UNIQUE INDEX backups_running ON backups (datastore_id) WHERE status = 'running';

CREATE TABLE replacements (
  datastore_id TEXT PRIMARY KEY REFERENCES datastores (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('first', 'restore', 'upgrade')),
  backup_id TEXT,
  version TEXT NOT NULL,
  volume TEXT NOT NULL UNIQUE,
  reads_only INTEGER NOT NULL DEFAULT 0,
  tries INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE spare_volumes (
  volume TEXT PRIMARY KEY,
  datastore_id TEXT NOT NULL,
  remove_at INTEGER NOT NULL
) STRICT;
`
