/** The port for TLS of a datastore on the host's loopback; null until its program was started with a certificate. */
export default `
ALTER TABLE datastores ADD COLUMN host_tls_port INTEGER;
`
