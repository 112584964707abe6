/** Databases and key-value stores. Times are integer milliseconds. */
export default `
CREATE TABLE datastores (
  id TEXT PRIMARY KEY,
  environment_id TEXT NOT NULL REFERENCES environments (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('relational', 'keyvalue')),
  repository TEXT NOT NULL,
  version TEXT NOT NULL,
  image_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('creating', 'available', 'unavailable', 'upgrading', 'restoring', 'failed', 'deleting')),
  error TEXT,
  database TEXT,
  username TEXT NOT NULL,
  password BLOB NOT NULL,
  volume TEXT NOT NULL,
  address TEXT,
  host_port INTEGER UNIQUE,
  memory_limit_mb INTEGER NOT NULL DEFAULT 0,
  cpu_limit REAL NOT NULL DEFAULT 0,
  generation INTEGER NOT NULL DEFAULT 1,
  observed_generation INTEGER NOT NULL DEFAULT 0,
  apply_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (environment_id, name)
) STRICT;
`
