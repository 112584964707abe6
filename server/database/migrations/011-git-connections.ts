/** Accounts at git providers, what their pushes led to, and the paths a service watches. Times are integer milliseconds. */
export default `
CREATE TABLE git_connections (
  id TEXT PRIMARY KEY,
  provider TEXT NOT NULL CHECK (provider IN ('gitprov_a', 'gitprov_b')),
  auth TEXT NOT NULL CHECK (auth IN ('hosted_app', 'oauth', 'token')),
  status TEXT NOT NULL CHECK (status IN ('connected', 'pending')),
  base_url TEXT,
  organization TEXT,
  account TEXT,
  account_name TEXT,
  app_id INTEGER,
  app_slug TEXT,
  app_url TEXT,
  installation_id INTEGER,
  manage_url TEXT,
  client_id TEXT,
  push_events INTEGER NOT NULL DEFAULT 0,
  repository_selection TEXT,
  scopes TEXT NOT NULL DEFAULT '[]',
  token_hint TEXT,
  token_expires_at INTEGER,
  secrets BLOB,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE git_applications (
  base_url TEXT PRIMARY KEY,
  client_id TEXT NOT NULL,
  client_secret BLOB NOT NULL
) STRICT;

CREATE TABLE git_readers (
  repository TEXT PRIMARY KEY,
  connection_id TEXT NOT NULL REFERENCES git_connections (id) ON DELETE CASCADE
) STRICT;

CREATE TABLE git_deliveries (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  event TEXT,
  delivery TEXT,
  repository TEXT,
  ref TEXT,
  commit_sha TEXT,
  verdict TEXT NOT NULL CHECK (verdict IN ('deployed', 'ignored', 'refused')),
  reason TEXT,
  deploys TEXT NOT NULL
) STRICT;

ALTER TABLE services ADD COLUMN watch_paths TEXT;
`
