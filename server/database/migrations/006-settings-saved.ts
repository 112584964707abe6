/** When a setting or variable that takes effect with a deploy was last saved. */
export default `
ALTER TABLE services ADD COLUMN settings_updated_at INTEGER NOT NULL DEFAULT 0;
UPDATE services SET settings_updated_at = updated_at;
`
