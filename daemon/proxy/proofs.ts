import type { CertificateFiles } from '#proxy/protocol.ts'

/** Proofs that the data plane shows to authorities during this process's orders. After a restart an order proves again. */
export interface Proofs {
  /** For HTTP-01 (RFC 8555 section 8.3), by token. */
  tokens: Map<string, string>
  /** For TLS-ALPN-01 (RFC 8737), by host. */
  handshakes: Map<string, CertificateFiles>
}

export const proofs: Proofs = { tokens: new Map(), handshakes: new Map() }
