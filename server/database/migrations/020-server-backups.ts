/** Backups of the server itself. */
export default `
CREATE TABLE server_backups (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'canceled')),
  trigger TEXT NOT NULL CHECK (trigger IN ('manual', 'schedule', 'upgrade')),
  datastores INTEGER NOT NULL,
  disks INTEGER NOT NULL,
  logs INTEGER NOT NULL,
  progress_percent INTEGER NOT NULL DEFAULT 0,
  size_bytes INTEGER,
  sha256 TEXT,
  encrypted INTEGER NOT NULL DEFAULT 0,
  object_url TEXT,
  verified_at INTEGER,
  damaged INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE UNIQUE INDEX server_backups_running ON server_backups (status) WHERE status = 'running' AND sha256 IS NULL;

CREATE TRIGGER server_backup_failed AFTER UPDATE OF status ON server_backups
WHEN NEW.status = 'failed' AND OLD.status <> 'failed'
BEGIN INSERT INTO happenings (type, subject) VALUES ('backup.failed', NEW.id); END;
`
