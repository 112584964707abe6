/** Credentials of image registries, and the one that a service names. */
export default `
CREATE TABLE registry_credentials (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  host TEXT NOT NULL,
  path_prefix TEXT,
  username TEXT NOT NULL,
  password BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

ALTER TABLE services ADD COLUMN registry_credential_id TEXT REFERENCES registry_credentials (id) ON DELETE SET NULL;
`
