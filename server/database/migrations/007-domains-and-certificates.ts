/** Domains under which services are served, canonical hosts, and certificates of hosts. Times are integer milliseconds. */
export default `
CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  source TEXT NOT NULL CHECK (source IN ('config', 'api')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'failed')),
  is_default INTEGER NOT NULL DEFAULT 0,
  checks TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  checked_at INTEGER,
  verified_at INTEGER
) STRICT;
CREATE UNIQUE INDEX one_default_domain ON domains (is_default) WHERE is_default = 1;
CREATE UNIQUE INDEX one_base_domain ON domains (source) WHERE source = 'config';

ALTER TABLE services ADD COLUMN canonical_domain TEXT;

CREATE TABLE certificates (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('pending', 'issuing', 'issued', 'failed')),
  directory TEXT NOT NULL,
  error TEXT,
  retry_at INTEGER,
  failures INTEGER NOT NULL DEFAULT 0,
  order_url TEXT,
  version TEXT,
  issuer TEXT,
  not_before INTEGER,
  not_after INTEGER,
  renew_at INTEGER,
  advised_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE uploaded_certificates (
  id TEXT PRIMARY KEY,
  hosts TEXT NOT NULL,
  issuer TEXT NOT NULL,
  not_before INTEGER NOT NULL,
  not_after INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
`
