/** What happens after a server was restored from a backup, and what an image is called where it was pulled from. */
export default `
CREATE TABLE server_restore (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  status TEXT NOT NULL CHECK (status IN ('fenced', 'running', 'done')),
  planned INTEGER NOT NULL DEFAULT 0,
  restored_at INTEGER NOT NULL
) STRICT;

CREATE TABLE restore_steps (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  resource TEXT NOT NULL CHECK (resource IN ('datastore', 'disk', 'service', 'unknown')),
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('adopt', 'restore', 'deploy', 'none')),
  status TEXT NOT NULL CHECK (status IN ('waiting', 'running', 'done', 'failed')),
  error TEXT,
  -- The backup or deploy of its work.
  work_id TEXT,
  UNIQUE (resource, id)
) STRICT;

ALTER TABLE deploys ADD COLUMN image_digest TEXT;
`
