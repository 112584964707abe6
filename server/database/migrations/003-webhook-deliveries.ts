/** Accepted deliveries of pushes, so that a replayed one is recognized. */
export default `
CREATE TABLE webhook_deliveries (
  sequence INTEGER PRIMARY KEY,
  body_digest TEXT NOT NULL UNIQUE,
  delivery_id TEXT UNIQUE,
  received_at INTEGER NOT NULL
) STRICT;
`
