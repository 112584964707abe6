/** So many of the newest events of a service are kept. */
const MOST = 2_000

/**
 * What happened to services. As for notifications, the database itself notes changes of a status in the transaction of the
 * change: whatever `happenings` tells of a service is in its timeline too, whether or not anyone is notified. The facts are
 * copied, since deploys, jobs and backups are removed earlier. `created_by` is JSON of who asked for a deploy or a backup; null
 * for the server itself. Times are integer milliseconds.
 */
export default `
ALTER TABLE deploys ADD COLUMN created_by TEXT;
ALTER TABLE backups ADD COLUMN created_by TEXT;

CREATE TABLE service_events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE DEFAULT ('evt-' || lower(hex(randomblob(10)))),
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  type TEXT NOT NULL,
  deploy_id TEXT,
  instance TEXT,
  details TEXT NOT NULL DEFAULT '{}',
  actor TEXT,
  count INTEGER NOT NULL DEFAULT 1,
  first_at INTEGER
) STRICT;
CREATE INDEX service_events_of ON service_events (service_id, sequence);
CREATE INDEX service_events_at ON service_events (at);

CREATE TRIGGER service_events_bounded AFTER INSERT ON service_events
BEGIN
  DELETE FROM service_events WHERE service_id = NEW.service_id AND sequence <=
    (SELECT sequence FROM service_events WHERE service_id = NEW.service_id ORDER BY sequence DESC LIMIT 1 OFFSET ${MOST});
END;

-- A crash loop would push out everything else: the same trouble again only counts in the event before it.
CREATE TRIGGER service_event_repeated AFTER INSERT ON service_events
WHEN NEW.type IN
    ('service.crashed', 'service.out_of_memory', 'service.unresponsive', 'job.failed', 'job.missed')
  AND EXISTS (
  SELECT 1 FROM service_events AS former WHERE former.sequence =
      (SELECT max(sequence) FROM service_events WHERE service_id = NEW.service_id AND sequence < NEW.sequence)
    AND former.type = NEW.type
    AND coalesce(json_extract(former.details, '$.reason'), '') = coalesce(json_extract(NEW.details, '$.reason'), ''))
BEGIN
  UPDATE service_events SET at = NEW.at, deploy_id = NEW.deploy_id, instance = NEW.instance, details = NEW.details,
      first_at = coalesce(first_at, at), count = count + 1
    WHERE sequence = (SELECT max(sequence) FROM service_events WHERE service_id = NEW.service_id AND sequence < NEW.sequence);
  DELETE FROM service_events WHERE sequence = NEW.sequence;
END;

CREATE TRIGGER happening_of_service AFTER INSERT ON happenings
BEGIN
  INSERT INTO service_events (service_id, at, type, deploy_id, details, actor)
    SELECT service_id, NEW.at, NEW.type, id, json_object('trigger', trigger, 'commit_sha', commit_sha,
        'commit_message', substr(commit_message, 1, 200), 'image', image, 'rollback_of', rollback_of,
        'reason', substr(error, 1, 1000)), created_by
    FROM deploys WHERE id = NEW.subject;
  INSERT INTO service_events (service_id, at, type, instance, details)
    SELECT id, NEW.at, NEW.type, iif(NEW.type = 'service.out_of_memory', NEW.detail, NULL), CASE NEW.type
        WHEN 'service.out_of_memory' THEN '{}'
        WHEN 'job.missed' THEN json_object('due_at', NEW.detail)
        ELSE json_object('reason', substr(NEW.detail, 1, 1000)) END
    FROM services WHERE id = NEW.subject;
  INSERT INTO service_events (service_id, at, type, details)
    SELECT service_id, NEW.at, NEW.type,
        json_object('job_id', id, 'trigger', trigger, 'exit_code', exit_code, 'reason', substr(error, 1, 1000))
    FROM jobs WHERE id = NEW.subject;
  INSERT INTO service_events (service_id, at, type, details, actor)
    SELECT service_id, NEW.at, NEW.type,
        json_object('backup_id', id, 'trigger', trigger, 'disk', disk, 'reason', substr(error, 1, 1000)), created_by
    FROM backups WHERE id = NEW.subject AND service_id IS NOT NULL;
END;

-- What nobody is notified of. A scheduled backup that could not start has failed from the beginning.
CREATE TRIGGER disk_backup_succeeded AFTER UPDATE OF status ON backups
WHEN NEW.service_id IS NOT NULL AND NEW.status = 'succeeded' AND OLD.status <> 'succeeded'
BEGIN
  INSERT INTO service_events (service_id, type, details, actor) VALUES (NEW.service_id, 'backup.succeeded',
    json_object('backup_id', NEW.id, 'trigger', NEW.trigger, 'disk', NEW.disk, 'size_bytes', NEW.size_bytes), NEW.created_by);
END;
CREATE TRIGGER disk_backup_missed AFTER INSERT ON backups
WHEN NEW.service_id IS NOT NULL AND NEW.status = 'failed'
BEGIN
  INSERT INTO service_events (service_id, type, details, actor) VALUES (NEW.service_id, 'backup.failed',
    json_object('backup_id', NEW.id, 'trigger', NEW.trigger, 'disk', NEW.disk, 'reason', substr(NEW.error, 1, 1000)),
    NEW.created_by);
END;
`
