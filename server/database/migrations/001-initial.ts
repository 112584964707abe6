/** The first tables: account, credentials, environments, services, deploys and instances. Times are integer milliseconds. */
export default `
CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  only_one INTEGER NOT NULL DEFAULT 1 UNIQUE CHECK (only_one = 1),
  email TEXT NOT NULL,
  password_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  secret_hash TEXT NOT NULL UNIQUE,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT;

CREATE TABLE environments (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  subnet TEXT UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE services (
  id TEXT PRIMARY KEY,
  environment_id TEXT NOT NULL REFERENCES environments (id),
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('web_service', 'private_service', 'background_worker', 'static_site', 'cron_job')),
  runtime TEXT NOT NULL,
  repo_url TEXT,
  repo_credentials BLOB,
  branch TEXT,
  root_dir TEXT,
  dockerfile_path TEXT,
  image TEXT,
  build_command TEXT,
  start_command TEXT,
  publish_dir TEXT,
  health_check_path TEXT,
  port INTEGER,
  variable_port INTEGER,
  schedule TEXT,
  disk_mount_path TEXT,
  instances INTEGER NOT NULL,
  memory_limit_mb INTEGER NOT NULL DEFAULT 0,
  cpu_limit REAL NOT NULL DEFAULT 0,
  auto_deploy INTEGER NOT NULL,
  suspended INTEGER NOT NULL DEFAULT 0,
  deleting INTEGER NOT NULL DEFAULT 0,
  custom_domains TEXT NOT NULL DEFAULT '[]',
  deploy_hook_key TEXT NOT NULL,
  live_deploy_id TEXT,
  generation INTEGER NOT NULL DEFAULT 1,
  observed_generation INTEGER NOT NULL DEFAULT 0,
  apply_error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (environment_id, name)
) STRICT;

CREATE TABLE service_variables (
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value BLOB NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (service_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE deploys (
  id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL UNIQUE,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  status TEXT NOT NULL CHECK (status IN ('queued', 'building', 'deploying', 'live', 'build_failed', 'deploy_failed', 'canceled', 'deactivated')),
  trigger TEXT NOT NULL,
  source TEXT NOT NULL,
  repo_credentials BLOB,
  archive_id TEXT,
  clear_cache INTEGER NOT NULL DEFAULT 0,
  rollback_of TEXT,
  commit_sha TEXT,
  commit_message TEXT,
  image TEXT,
  image_id TEXT,
  port INTEGER,
  snapshot BLOB,
  was_live INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX deploys_by_service ON deploys (service_id, sequence);
CREATE INDEX deploys_in_progress ON deploys (sequence) WHERE status IN ('queued', 'building', 'deploying');
CREATE UNIQUE INDEX deploys_one_live ON deploys (service_id) WHERE status = 'live';

CREATE TABLE instances (
  id TEXT PRIMARY KEY,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  deploy_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('starting', 'ready', 'failing', 'down', 'draining')),
  address TEXT NOT NULL,
  upstream_host TEXT,
  upstream_port INTEGER,
  restarts INTEGER NOT NULL DEFAULT 0,
  exit_code INTEGER,
  reason TEXT,
  started_at INTEGER,
  left_rotation_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX instances_by_service ON instances (service_id);

CREATE TABLE addresses (
  environment_id TEXT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
  address TEXT NOT NULL,
  holder TEXT,
  released_at INTEGER,
  PRIMARY KEY (environment_id, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX addresses_by_holder ON addresses (holder);
`
