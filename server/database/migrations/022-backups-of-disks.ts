/** Backups of services' disks, in the same table as those of datastores, and restores of them. */
export default `
ALTER TABLE services ADD COLUMN disk_volume TEXT;
ALTER TABLE services ADD COLUMN disk_backup_schedule TEXT;
ALTER TABLE services ADD COLUMN disk_backup_retention INTEGER NOT NULL DEFAULT 7;
ALTER TABLE services ADD COLUMN disk_backup_seen_at INTEGER;

CREATE TABLE backups_of_all (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  datastore_id TEXT REFERENCES datastores (id) ON DELETE CASCADE,
  service_id TEXT REFERENCES services (id) ON DELETE CASCADE,
  owner_id TEXT NOT NULL GENERATED ALWAYS AS (coalesce(datastore_id, service_id)) VIRTUAL,
  disk TEXT,
  suspends INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
  trigger TEXT NOT NULL CHECK (trigger IN ('manual', 'schedule', 'upgrade', 'server')),
  size_bytes INTEGER,
  sha256 TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  object_url TEXT,
  encrypted INTEGER NOT NULL DEFAULT 0,
  CHECK ((datastore_id IS NULL) <> (service_id IS NULL)),
  CHECK ((disk IS NULL) = (service_id IS NULL))
) STRICT;
INSERT INTO backups_of_all
  (sequence, id, datastore_id, status, trigger, size_bytes, sha256, error, created_at, finished_at, object_url)
  SELECT sequence, id, datastore_id, status, trigger, size_bytes, sha256, error, created_at, finished_at, object_url
  FROM backups;
DROP TABLE backups;
ALTER TABLE backups_of_all RENAME TO backups;
CREATE INDEX backups_of ON backups (owner_id, sequence);
CREATE UNIQUE INDEX backups_running ON backups (owner_id) WHERE status = 'running' AND sha256 IS NULL;
CREATE TRIGGER backup_failed AFTER UPDATE OF status ON backups
WHEN NEW.status = 'failed' AND OLD.status <> 'failed'
BEGIN INSERT INTO happenings (type, subject) VALUES ('backup.failed', NEW.id); END;

-- The last restore of each service's disk.
CREATE TABLE disk_restores (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  backup_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
  volume TEXT NOT NULL UNIQUE,
  error TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;

CREATE TABLE spare_volumes_of_all (
  volume TEXT PRIMARY KEY,
  datastore_id TEXT,
  service_id TEXT,
  remove_at INTEGER NOT NULL,
  version TEXT
) STRICT;
INSERT INTO spare_volumes_of_all (volume, datastore_id, remove_at, version)
  SELECT volume, datastore_id, remove_at, version FROM spare_volumes;
DROP TABLE spare_volumes;
ALTER TABLE spare_volumes_of_all RENAME TO spare_volumes;
`
