/**
 * What the server created in the container engine, by name and id, the settings its containers were created with, and
 * rollouts that stop the old instance first.
 */
export default `
CREATE TABLE engine_things (
  kind TEXT NOT NULL CHECK (kind IN ('container', 'image', 'network', 'volume', 'build_cache')),
  name TEXT NOT NULL,
  engine_id TEXT,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO engine_things (kind, name) SELECT 'container', id FROM instances;
INSERT OR IGNORE INTO engine_things (kind, name)
  SELECT 'container', holder FROM addresses WHERE part = 'job' AND holder IS NOT NULL;
INSERT INTO engine_things (kind, name)
  SELECT 'image', 'deployer-' || settings.value || '/' || deploys.service_id || ':' || deploys.id
  FROM deploys JOIN settings ON settings.key = 'server_id' WHERE deploys.image_id IS NOT NULL;
INSERT INTO engine_things (kind, name)
  SELECT 'network', 'deployer-' || id FROM environments WHERE subnet IS NOT NULL;
INSERT INTO engine_things (kind, name) SELECT 'volume', 'deployer-' || id FROM services;

ALTER TABLE instances ADD COLUMN settings TEXT;
ALTER TABLE deploys ADD COLUMN stops_first INTEGER NOT NULL DEFAULT 0;
`
