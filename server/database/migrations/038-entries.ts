/** Nodes that also serve requests. The server's own does without being recorded as one. */
export default `
ALTER TABLE nodes ADD COLUMN is_entry INTEGER NOT NULL DEFAULT 0;
-- Whether a data plane may be there, also when the node is not to serve any more.
ALTER TABLE nodes ADD COLUMN has_data_plane INTEGER NOT NULL DEFAULT 0;
-- What DNS names in place of its address.
ALTER TABLE nodes ADD COLUMN public_address TEXT;
`
