/** Whether the data plane compresses a service's responses. */
export default `
ALTER TABLE services ADD COLUMN compression INTEGER NOT NULL DEFAULT 0;
`
