/** Log drains that forward the audit log, too, and up to where they have. */
export default `
ALTER TABLE log_drains ADD COLUMN audit INTEGER NOT NULL DEFAULT 0 CHECK (audit IN (0, 1));
ALTER TABLE log_drains ADD COLUMN next_event INTEGER;
`
