/**
 * Files that services and env groups hold for containers and builds; holder is the id of either. A fingerprint changes with
 * the content and reveals nothing about it. Times are integer milliseconds.
 */
export default `
CREATE TABLE secret_files (
  holder TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  -- Octal, such as 0400.
  mode TEXT NOT NULL,
  -- Sealed.
  content BLOB NOT NULL,
  size_bytes INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  is_secret INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (holder, name)
) STRICT;
CREATE TRIGGER secret_files_of_service AFTER DELETE ON services
BEGIN DELETE FROM secret_files WHERE holder = OLD.id; END;
CREATE TRIGGER secret_files_of_group AFTER DELETE ON env_groups
BEGIN DELETE FROM secret_files WHERE holder = OLD.id; END;
`
