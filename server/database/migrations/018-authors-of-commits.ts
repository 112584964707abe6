/** Who wrote the commit of a deploy. */
export default `
ALTER TABLE deploys ADD COLUMN commit_author TEXT;
`
