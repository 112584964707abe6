/** Instances whose output is kept, notifications with what they send, and log drains. Times are integer milliseconds. */
export default `
CREATE TABLE log_instances (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  deploy_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  gone_at INTEGER
) STRICT;
CREATE INDEX log_instances_by_service ON log_instances (service_id, created_at);
`
