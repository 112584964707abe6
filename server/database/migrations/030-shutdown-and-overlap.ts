/** How long a service's programs and requests may take to end, and whether a new deploy waits for the one in progress. */
export default `
ALTER TABLE services ADD COLUMN max_shutdown_delay_seconds INTEGER NOT NULL DEFAULT 30;
ALTER TABLE services ADD COLUMN drain_seconds INTEGER NOT NULL DEFAULT 30;
ALTER TABLE services ADD COLUMN overlap_policy TEXT NOT NULL DEFAULT 'wait' CHECK (overlap_policy IN ('wait', 'override'));
`
