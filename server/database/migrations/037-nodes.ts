/** Nodes, where everything is placed, and moves between them. The server's own node exists from the start. */
export default `
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  is_own INTEGER NOT NULL DEFAULT 0,
  -- Swarm's id of it; null on a server of one node.
  swarm_id TEXT UNIQUE,
  address TEXT,
  -- JSON: texts by label.
  labels TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL CHECK (status IN ('joining', 'ready', 'unreachable', 'down')),
  reason TEXT,
  availability TEXT NOT NULL DEFAULT 'active' CHECK (availability IN ('active', 'drain')),
  -- How many instances a drain found; null without one.
  drain_total INTEGER,
  engine_version TEXT,
  architecture TEXT,
  cpus REAL,
  memory_bytes INTEGER,
  disk_free_bytes INTEGER,
  last_seen_at INTEGER,
  -- When it first was ready; null while it joins, also if it goes down meanwhile.
  joined_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX own_node ON nodes (is_own) WHERE is_own = 1;
-- The name is that of the host, which the server's start fills in.
INSERT INTO nodes (id, name, is_own, status, joined_at, created_at)
  VALUES ('nod-' || lower(hex(randomblob(10))), '', 1, 'ready', unixepoch() * 1000, unixepoch() * 1000);

ALTER TABLE environments ADD COLUMN overlay_subnet TEXT;

-- No references: what was on a node that is lost still says where it was when the node's record is gone.
-- JSON: {nodes, labels, spread}.
ALTER TABLE services ADD COLUMN placement TEXT;
-- Of a service with a disk: the node of its disks, also of those that were taken away, which come back with their content.
ALTER TABLE services ADD COLUMN node_id TEXT;
UPDATE services SET node_id = (SELECT id FROM nodes)
  WHERE disks <> '[]' OR id IN (SELECT service_id FROM disk_volumes);
ALTER TABLE datastores ADD COLUMN node_id TEXT;
UPDATE datastores SET node_id = (SELECT id FROM nodes);
ALTER TABLE instances ADD COLUMN node_id TEXT;
UPDATE instances SET node_id = (SELECT id FROM nodes);
ALTER TABLE jobs ADD COLUMN node_id TEXT;
UPDATE jobs SET node_id = (SELECT id FROM nodes);
ALTER TABLE spare_volumes ADD COLUMN node_id TEXT;
UPDATE spare_volumes SET node_id = (SELECT id FROM nodes);

CREATE TABLE engine_things_of_nodes (
  node_id TEXT NOT NULL REFERENCES nodes (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('container', 'image', 'network', 'volume', 'build_cache')),
  name TEXT NOT NULL,
  engine_id TEXT,
  PRIMARY KEY (node_id, kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO engine_things_of_nodes (node_id, kind, name, engine_id)
  SELECT (SELECT id FROM nodes), kind, name, engine_id FROM engine_things;
DROP TABLE engine_things;
ALTER TABLE engine_things_of_nodes RENAME TO engine_things;

-- The last move of a service with a disk or of a datastore.
CREATE TABLE moves (
  resource_id TEXT PRIMARY KEY,
  from_node_id TEXT NOT NULL,
  to_node_id TEXT NOT NULL,
  from_backup INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'succeeded', 'failed', 'canceled')),
  -- JSON: the volumes of a service that are being filled, by disk. That of a datastore is in its replacement.
  volumes TEXT NOT NULL DEFAULT '{}',
  tries INTEGER NOT NULL DEFAULT 0,
  done_bytes INTEGER,
  total_bytes INTEGER,
  error TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
`
