/**
 * Instances whose output is kept, notifications with their messages, and log drains. The database itself records what
 * happens, in the transaction of the change, so that a kill cannot come between a change and its message. `told` holds what
 * was reported last, where a change alone does not show whether to report it again. Times are integer milliseconds.
 */
export default `
CREATE TABLE log_instances (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  deploy_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  gone_at INTEGER
) STRICT;
CREATE INDEX log_instances_by_service ON log_instances (service_id, created_at);

CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('webhook', 'email', 'slack', 'discord', 'ntfy')),
  url BLOB,
  recipients TEXT NOT NULL DEFAULT '[]',
  secret BLOB,
  events TEXT,
  environment_id TEXT REFERENCES environments (id) ON DELETE CASCADE,
  services TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE notification_deliveries (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  notification_id TEXT NOT NULL REFERENCES notifications (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  message TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
  attempts TEXT NOT NULL DEFAULT '[]',
  next_attempt_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_of_notification ON notification_deliveries (notification_id, sequence);
CREATE INDEX deliveries_due ON notification_deliveries (next_attempt_at) WHERE status = 'pending';

CREATE TABLE happenings (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT,
  at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))
) STRICT;

CREATE TABLE told (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE TRIGGER deploy_started AFTER UPDATE OF status ON deploys
WHEN OLD.status = 'queued' AND NEW.status IN ('building', 'deploying')
  AND NOT EXISTS (SELECT 1 FROM told WHERE key = 'started ' || NEW.id)
BEGIN
  INSERT INTO told (key) VALUES ('started ' || NEW.id);
  INSERT INTO happenings (type, subject) VALUES ('deploy.started', NEW.id);
END;
CREATE TRIGGER deploy_succeeded AFTER UPDATE OF status ON deploys
WHEN NEW.status = 'live' AND OLD.status <> 'live'
BEGIN INSERT INTO happenings (type, subject) VALUES ('deploy.succeeded', NEW.id); END;
CREATE TRIGGER deploy_failed AFTER UPDATE OF status ON deploys
WHEN NEW.status IN ('build_failed', 'deploy_failed') AND OLD.status <> NEW.status
BEGIN INSERT INTO happenings (type, subject) VALUES ('deploy.failed', NEW.id); END;
CREATE TRIGGER deploy_forgotten AFTER DELETE ON deploys
BEGIN DELETE FROM told WHERE key = 'started ' || OLD.id; END;

CREATE TRIGGER job_failed AFTER UPDATE OF status ON jobs
WHEN NEW.status = 'failed' AND OLD.status <> 'failed'
BEGIN INSERT INTO happenings (type, subject) VALUES ('job.failed', NEW.id); END;

CREATE TRIGGER datastore_down AFTER UPDATE OF status ON datastores
WHEN NEW.status IN ('unavailable', 'failed') AND OLD.status IN ('available', 'upgrading', 'restoring')
  AND NOT EXISTS (SELECT 1 FROM told WHERE key = 'down ' || NEW.id)
BEGIN
  INSERT INTO told (key) VALUES ('down ' || NEW.id);
  INSERT INTO happenings (type, subject, detail) VALUES ('datastore.down', NEW.id, NEW.error);
END;
CREATE TRIGGER datastore_recovered AFTER UPDATE OF status ON datastores
WHEN NEW.status = 'available' AND EXISTS (SELECT 1 FROM told WHERE key = 'down ' || NEW.id)
BEGIN
  DELETE FROM told WHERE key = 'down ' || NEW.id;
  INSERT INTO happenings (type, subject) VALUES ('datastore.recovered', NEW.id);
END;
CREATE TRIGGER datastore_forgotten AFTER DELETE ON datastores
BEGIN DELETE FROM told WHERE key = 'down ' || OLD.id; END;

CREATE TRIGGER service_forgotten AFTER DELETE ON services
BEGIN DELETE FROM told WHERE key = 'down ' || OLD.id; END;

CREATE TRIGGER backup_failed AFTER UPDATE OF status ON backups
WHEN NEW.status = 'failed' AND OLD.status <> 'failed'
BEGIN INSERT INTO happenings (type, subject) VALUES ('backup.failed', NEW.id); END;

CREATE TRIGGER certificate_failed AFTER UPDATE OF status ON certificates
WHEN NEW.status = 'failed' AND NOT EXISTS (SELECT 1 FROM told WHERE key = 'certificate ' || NEW.id)
BEGIN
  INSERT INTO told (key) VALUES ('certificate ' || NEW.id);
  INSERT INTO happenings (type, subject, detail) VALUES ('certificate.failed', NEW.id, NEW.error);
END;
CREATE TRIGGER certificate_issued AFTER UPDATE OF status ON certificates WHEN NEW.status = 'issued'
BEGIN DELETE FROM told WHERE key IN ('certificate ' || NEW.id, 'expiring ' || NEW.id); END;
CREATE TRIGGER certificate_forgotten AFTER DELETE ON certificates
BEGIN DELETE FROM told WHERE key IN ('certificate ' || OLD.id, 'expiring ' || OLD.id); END;

CREATE TABLE log_drains (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('syslog', 'http', 'loki', 'otlp')),
  url BLOB NOT NULL,
  token BLOB,
  environment_id TEXT REFERENCES environments (id) ON DELETE CASCADE,
  services TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  sent INTEGER NOT NULL DEFAULT 0,
  dropped INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  last_sent_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE log_drain_places (
  drain_id TEXT NOT NULL REFERENCES log_drains (id) ON DELETE CASCADE,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  next_line INTEGER NOT NULL,
  PRIMARY KEY (drain_id, service_id)
) STRICT, WITHOUT ROWID;
`
