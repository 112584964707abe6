/** The host of a URL as sockets and DNS take it: an IPv6 address without its brackets (RFC 3986, section 3.2.2). */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
