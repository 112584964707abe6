/** Whether the data plane compresses what a service answers. */
export default `
ALTER TABLE services ADD COLUMN compression INTEGER NOT NULL DEFAULT 0;
`
