/** Hosts that lead nowhere but to another address. */
export default `
CREATE TABLE redirect_hosts (
  id TEXT PRIMARY KEY,
  host TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,
  keep_path INTEGER NOT NULL,
  status INTEGER NOT NULL CHECK (status IN (301, 302, 303, 307, 308)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
`
