/** Second factors of the account, and when each session last showed one. */
export default `
CREATE TABLE totp (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  secret BLOB NOT NULL,
  -- The 30 seconds whose code was used last: neither it nor an earlier one counts again.
  last_step INTEGER NOT NULL,
  confirmed_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL
) STRICT;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- The host of the dashboard that it was created at, to which browsers restrict it.
  host TEXT NOT NULL,
  credential_id TEXT NOT NULL UNIQUE,
  public_key BLOB NOT NULL,
  counter INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

CREATE TABLE recovery_codes (
  hash TEXT PRIMARY KEY
) STRICT;

ALTER TABLE sessions ADD COLUMN verified_at INTEGER;
`
