/** When a setting or variable was last saved that reaches containers with a deploy. */
export default `
ALTER TABLE services ADD COLUMN settings_updated_at INTEGER NOT NULL DEFAULT 0;
UPDATE services SET settings_updated_at = updated_at;
`
