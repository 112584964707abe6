/** Where the host names its outbound proxy, first match first, as git and curl read it: HTTP_PROXY counts for neither. */
const OUTBOUND_PROXY = {
  http: ['http_proxy', 'all_proxy', 'ALL_PROXY'],
  https: ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'],
}

/** The proxy through which this host goes out with a scheme; null when it has none, or names it in another way than by a URL. */
export function outboundProxy(scheme: 'http' | 'https'): URL | null {
  const named = OUTBOUND_PROXY[scheme].map((name) => process.env[name]).find((value) => value)
  if (named === undefined) return null
  // Without a scheme it is one of HTTP (curl(1), --proxy).
  return URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`)
}

/** Whether what is asked of a proxy is told in requests, not in bytes that are handed on (SOCKS). */
export function isOfHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}
