/**
 * The settings that a deploy was made with, with fingerprints in place of secrets; and, for as long as its image or site is
 * kept, the secrets themselves, sealed.
 */
export default `
ALTER TABLE deploys ADD COLUMN setup TEXT;
ALTER TABLE deploys ADD COLUMN setup_secrets BLOB;
CREATE INDEX deploys_with_secrets ON deploys (service_id) WHERE setup_secrets IS NOT NULL;
CREATE INDEX deploys_once_live ON deploys (service_id, sequence) WHERE was_live = 1;
`
