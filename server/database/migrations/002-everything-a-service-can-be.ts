/** Sites, jobs, env groups, references and the rest of environments. Times are integer milliseconds. */
export default `
ALTER TABLE services ADD COLUMN pre_deploy_command TEXT;

ALTER TABLE deploys ADD COLUMN site_id TEXT;
ALTER TABLE deploys ADD COLUMN health_check_path TEXT;
UPDATE deploys SET health_check_path = (SELECT health_check_path FROM services WHERE services.id = service_id);
ALTER TABLE deploys ADD COLUMN pre_deployed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deploys ADD COLUMN replaced_at INTEGER;
CREATE INDEX deploys_with_image ON deploys (service_id, finished_at) WHERE image_id IS NOT NULL;
CREATE INDEX deploys_by_site ON deploys (service_id, replaced_at) WHERE site_id IS NOT NULL;

CREATE TABLE env_groups (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE env_group_variables (
  group_id TEXT NOT NULL REFERENCES env_groups (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value BLOB NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (group_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE env_group_links (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  group_id TEXT NOT NULL REFERENCES env_groups (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  PRIMARY KEY (service_id, group_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX env_group_links_by_group ON env_group_links (group_id);

CREATE TABLE variable_references (
  holder TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('service', 'datastore')),
  name TEXT NOT NULL,
  property TEXT NOT NULL,
  PRIMARY KEY (holder, key, kind, name, property)
) STRICT, WITHOUT ROWID;
CREATE INDEX variable_references_by_name ON variable_references (kind, name);

ALTER TABLE addresses ADD COLUMN part TEXT NOT NULL DEFAULT 'instance' CHECK (part IN ('instance', 'job'));
CREATE INDEX addresses_of_jobs ON addresses (holder) WHERE part = 'job' AND holder IS NOT NULL;

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'succeeded', 'failed', 'canceled')),
  trigger TEXT NOT NULL CHECK (trigger IN ('schedule', 'manual')),
  command TEXT,
  own_command INTEGER NOT NULL,
  deploy_id TEXT NOT NULL,
  image TEXT,
  snapshot BLOB,
  exit_code INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX jobs_by_service ON jobs (service_id, sequence);
CREATE INDEX jobs_in_progress ON jobs (sequence) WHERE status IN ('pending', 'running');

CREATE TABLE schedule_marks (
  service_id TEXT PRIMARY KEY REFERENCES services (id) ON DELETE CASCADE,
  schedule TEXT NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE resting_subnets (
  subnet TEXT PRIMARY KEY,
  released_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
