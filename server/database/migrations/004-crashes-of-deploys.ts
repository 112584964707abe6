/** At how many crashes of the server in a row a deploy was under way. */
export default `
ALTER TABLE deploys ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
`
