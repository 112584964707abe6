/** Where the copy of a backup is, and objects in a bucket that are to be removed. */
export default `
ALTER TABLE backups ADD COLUMN object_url TEXT;

-- While one is copied the next may be made.
DROP INDEX backups_running;
CREATE UNIQUE INDEX backups_running ON backups (datastore_id) WHERE status = 'running' AND sha256 IS NULL;

CREATE TABLE spare_objects (
  url TEXT PRIMARY KEY
) STRICT;
`
