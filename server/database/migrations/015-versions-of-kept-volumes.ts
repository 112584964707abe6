/** The version that wrote a volume which was kept after its datastore got another one; null if it was not recorded. */
export default `
ALTER TABLE spare_volumes ADD COLUMN version TEXT;
`
