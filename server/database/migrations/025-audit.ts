export default `
-- What was done, by whom. sequence orders the events and is never used twice.
CREATE TABLE audit_events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('succeeded', 'refused')),
  action TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor_id TEXT,
  actor_name TEXT,
  request_id TEXT,
  ip TEXT,
  user_agent TEXT,
  resource_kind TEXT,
  resource_id TEXT,
  resource_name TEXT,
  -- The name that the environment had then.
  resource_environment TEXT,
  -- A JSON array of sentences.
  changes TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX audit_events_at ON audit_events (at);
CREATE INDEX audit_events_resource ON audit_events (resource_id, sequence);
`
