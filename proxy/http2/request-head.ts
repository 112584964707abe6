/** Whatever would end a line of HTTP/1.1 or cut it short. */
const LINE_BREAKING = /[\r\n\0]/

const COLON = 58

/** Refused, as it names no host: what stands for a request that no head can be made of. */
const UNREADABLE = Buffer.from('GET / HTTP/1.1\r\n\r\n')

/** A request's head as HTTP/1.1 has it. */
export interface RequestHead {
  bytes: Buffer
  /** What follows it is its body. */
  hasBody: boolean
  /** Its body comes in chunks, as its length is not known. */
  chunked: boolean
}

/**
 * The head of an HTTP/2 request in the form of HTTP/1.1, for the relay to judge like any other. `headers` are names
 * and values in turn, as they came.
 */
export function requestHead(headers: readonly string[], hasBody: boolean): RequestHead {
  let method = ''
  let path = ''
  let authority = ''
  let host = ''
  let cookies = ''
  let lines = ''
  let length = ''
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index]!
    const value = headers[index + 1]!
    if (LINE_BREAKING.test(value)) return { bytes: UNREADABLE, hasBody: false, chunked: false }
    if (name === ':method') method = value
    else if (name === ':path') path = value
    else if (name === ':authority') authority = value
    else if (name === 'host') host = value
    // Crumbs of one field, sent apart to be compressed better (RFC 9113 8.2.3).
    else if (name === 'cookie') cookies += cookies === '' || value === '' ? value : `; ${value}`
    else if (name === 'content-length') length += `${name}: ${value}\r\n`
    else if (name.charCodeAt(0) !== COLON) lines += `${name}: ${value}\r\n`
  }
  // Both name the same thing, or one of them lies (RFC 9113 8.3.1): two hosts are refused.
  if (authority !== '' && host !== '' && authority.toLowerCase() !== host.toLowerCase())
    lines += `host: ${host}\r\n`
  if (cookies !== '') lines += `cookie: ${cookies}\r\n`
  // What follows CONNECT is no body, whatever its head says (RFC 9113 8.5), and nobody has checked its length.
  const tunnel = method === 'CONNECT'
  const chunked = hasBody && !tunnel && length === ''
  if (chunked) lines += 'transfer-encoding: chunked\r\n'
  else if (!tunnel) lines += length
  const text = `${method} ${tunnel ? authority : path} HTTP/1.1\r\nhost: ${authority || host}\r\n${lines}\r\n`
  return { bytes: Buffer.from(text, 'latin1'), hasBody: hasBody && !tunnel, chunked }
}
