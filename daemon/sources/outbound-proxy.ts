/** The variables with the host's outbound proxy, in order of precedence, as in git and curl: neither uses HTTP_PROXY. */
const OUTBOUND_PROXY = {
  http: ['http_proxy', 'all_proxy', 'ALL_PROXY'],
  https: ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
}

/** The outbound proxy of this host for a scheme; null when there is none, or it is not given as a URL. */
export function outboundProxy(scheme: 'http' | 'https'): URL | null {
  const named = OUTBOUND_PROXY[scheme].map((name) => process.env[name]).find((value) => value)
  if (named === undefined) return null
  // Without a scheme it is an HTTP proxy (curl(1), --proxy).
  return URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`)
}

/** Whether a proxy is an HTTP proxy, which sees requests, and not a SOCKS proxy, which passes on bytes. */
export function isOfHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}
