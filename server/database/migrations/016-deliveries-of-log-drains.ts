/**
 * The results of sending lines to log drains. Consecutive attempts with the same result are one row, so that a busy drain
 * writes as little as a quiet one. Times are integer milliseconds.
 */
export default `
CREATE TABLE log_drain_deliveries (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  drain_id TEXT NOT NULL REFERENCES log_drains (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('delivered', 'failed', 'dropped')),
  lines INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 1,
  error TEXT,
  began_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_of_log_drain ON log_drain_deliveries (drain_id, sequence);
`
