/** The author of a deploy's commit. */
export default `
ALTER TABLE deploys ADD COLUMN commit_author TEXT;
`
