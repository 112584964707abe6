/** The port of the host's loopback at which a datastore speaks TLS; null until its program was started with a certificate. */
export default `
ALTER TABLE datastores ADD COLUMN host_tls_port INTEGER;
`
