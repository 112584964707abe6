/** The number of crashes of the server in a row during which a deploy was in progress. */
export default `
ALTER TABLE deploys ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
`
