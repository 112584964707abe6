/** API tokens that may do less than everything, and deploys whose commit must be on the service's branch. */
export default `
ALTER TABLE api_tokens ADD COLUMN mode TEXT NOT NULL DEFAULT 'full' CHECK (mode IN ('read', 'deploy', 'full'));
ALTER TABLE api_tokens ADD COLUMN secrets INTEGER NOT NULL DEFAULT 1;
ALTER TABLE api_tokens ADD COLUMN by_environment INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_tokens ADD COLUMN by_service INTEGER NOT NULL DEFAULT 0;

CREATE TABLE api_token_environments (
  token_id TEXT NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
  environment_id TEXT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
  PRIMARY KEY (token_id, environment_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_token_services (
  token_id TEXT NOT NULL REFERENCES api_tokens (id) ON DELETE CASCADE,
  service_id TEXT NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  PRIMARY KEY (token_id, service_id)
) STRICT, WITHOUT ROWID;

ALTER TABLE deploys ADD COLUMN is_confined INTEGER NOT NULL DEFAULT 0;
`
