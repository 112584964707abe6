/** The steps of a deploy with their times, as JSON, to compare a later deploy with. */
export default `
ALTER TABLE deploys ADD COLUMN steps TEXT;
`
