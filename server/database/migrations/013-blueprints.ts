/**
 * Blueprints that are kept in sync with a repository, and the variables that an apply wrote: one with another fingerprint
 * was set by hand since. Times are integer milliseconds.
 */
export default `
CREATE TABLE blueprints (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  repo_url TEXT NOT NULL,
  repo_credentials BLOB,
  branch TEXT,
  path TEXT,
  environment TEXT,
  auto_sync INTEGER NOT NULL,
  overwrite_variables INTEGER NOT NULL,
  pending_commit TEXT,
  synced_digest TEXT,
  last_sync TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE blueprint_variables (
  holder TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  generated INTEGER NOT NULL,
  PRIMARY KEY (holder, key)
) STRICT;
CREATE TRIGGER blueprint_variables_of_service AFTER DELETE ON services
BEGIN DELETE FROM blueprint_variables WHERE holder = OLD.id; END;
CREATE TRIGGER blueprint_variables_of_group AFTER DELETE ON env_groups
BEGIN DELETE FROM blueprint_variables WHERE holder = OLD.id; END;
`
