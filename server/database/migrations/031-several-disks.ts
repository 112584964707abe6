/** Several disks of a service: their list, their volumes, and which one a backup, a restore or a kept volume is of. */
export default `
ALTER TABLE services ADD COLUMN disks TEXT NOT NULL DEFAULT '[]';
UPDATE services SET disks = json_array(json_object('name', 'data', 'mount_path', disk_mount_path))
  WHERE disk_mount_path IS NOT NULL;
ALTER TABLE services DROP COLUMN disk_mount_path;
ALTER TABLE services ADD COLUMN disk_mount_path TEXT GENERATED ALWAYS AS (disks ->> '$[0].mount_path') VIRTUAL;

-- The volume of each disk that a service has or had.
CREATE TABLE disk_volumes (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  disk TEXT NOT NULL,
  volume TEXT NOT NULL UNIQUE,
  PRIMARY KEY (service_id, disk)
) STRICT;
INSERT INTO disk_volumes (service_id, disk, volume)
  SELECT id, 'data', disk_volume FROM services WHERE disk_volume IS NOT NULL;
ALTER TABLE services DROP COLUMN disk_volume;

ALTER TABLE disk_restores ADD COLUMN disk TEXT NOT NULL DEFAULT 'data';
ALTER TABLE spare_volumes ADD COLUMN disk TEXT;
UPDATE spare_volumes SET disk = 'data' WHERE service_id IS NOT NULL;
DROP INDEX backups_running;
CREATE UNIQUE INDEX backups_running ON backups (owner_id, coalesce(disk, ''))
  WHERE status = 'running' AND sha256 IS NULL;

CREATE TABLE restore_steps_of_all (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  resource TEXT NOT NULL CHECK (resource IN ('datastore', 'disk', 'service', 'unknown')),
  id TEXT NOT NULL,
  -- The name of a disk, whose id is that of its service.
  disk TEXT,
  name TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('adopt', 'restore', 'deploy', 'none')),
  status TEXT NOT NULL CHECK (status IN ('waiting', 'running', 'done', 'failed')),
  error TEXT,
  work_id TEXT
) STRICT;
INSERT INTO restore_steps_of_all (sequence, resource, id, disk, name, action, status, error, work_id)
  SELECT sequence, resource, id, CASE resource WHEN 'disk' THEN 'data' END, name, action, status, error, work_id
  FROM restore_steps;
DROP TABLE restore_steps;
ALTER TABLE restore_steps_of_all RENAME TO restore_steps;
CREATE UNIQUE INDEX restore_steps_of ON restore_steps (resource, id, coalesce(disk, ''));
`
