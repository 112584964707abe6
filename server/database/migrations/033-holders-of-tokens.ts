/** Who acts with an API token: a program it was made for, a terminal that signed in, or a command on the host. */
export default `
ALTER TABLE api_tokens ADD COLUMN holder TEXT NOT NULL DEFAULT 'token' CHECK (holder IN ('token', 'terminal', 'host'));
`
