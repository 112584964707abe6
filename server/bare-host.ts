/** The host of a URL in the form that sockets and DNS take: an IPv6 address has no brackets (RFC 3986, section 3.2.2). */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}
