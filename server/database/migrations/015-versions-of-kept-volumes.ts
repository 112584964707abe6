/** Which version wrote a volume that is kept after its datastore got another; null where that was not recorded yet. */
export default `
ALTER TABLE spare_volumes ADD COLUMN version TEXT;
`
