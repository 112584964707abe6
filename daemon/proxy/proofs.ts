import type { CertificateFiles } from '#proxy/protocol.ts'

/** What the data plane shows to authorities while orders of this process are under way; one that a restart cuts off proves anew. */
export interface Proofs {
  /** Of HTTP-01 (RFC 8555 section 8.3), by token. */
  tokens: Map<string, string>
  /** Of TLS-ALPN-01 (RFC 8737), by host. */
  handshakes: Map<string, CertificateFiles>
}

export const proofs: Proofs = { tokens: new Map(), handshakes: new Map() }
