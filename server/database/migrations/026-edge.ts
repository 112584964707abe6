/** What services ask for their requests; JSON where the API has lists or objects. Environments have some for their services. */
export default `
ALTER TABLE services ADD COLUMN ip_allow_list TEXT;
ALTER TABLE services ADD COLUMN redirects TEXT;
ALTER TABLE services ADD COLUMN maintenance TEXT;
ALTER TABLE services ADD COLUMN rate_limit TEXT;
ALTER TABLE services ADD COLUMN basic_auth TEXT;
ALTER TABLE services ADD COLUMN headers TEXT;
ALTER TABLE services ADD COLUMN session_affinity INTEGER NOT NULL DEFAULT 0;
ALTER TABLE services ADD COLUMN upstream_timeout_seconds INTEGER;
ALTER TABLE services ADD COLUMN max_body_mb INTEGER;
ALTER TABLE services ADD COLUMN access_log INTEGER NOT NULL DEFAULT 0;

ALTER TABLE environments ADD COLUMN basic_auth TEXT;
ALTER TABLE environments ADD COLUMN ip_allow_list TEXT;
`
