import { CHUNKED, SMUGGLED, byteName, post, type Refused, type Served } from './cases.ts'

/** Chunks that end at once; a length counts in what follows. */
const CL_TE = `0\r\n\r\n${SMUGGLED}`
/** A chunk that contains a request; a length ends before it. */
const TE_CL = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`
const COUNTED = `Content-Length: ${CL_TE.length}`

/** Both framings in one head, in both orders. */
function both(what: string, status: number, ...coding: string[]): Refused[] {
  return [
    [`${what}, after a length`, status, post([COUNTED, ...coding], CL_TE)],
    [`${what}, before a length`, status, post([...coding, 'Content-Length: 4'], TE_CL)],
  ]
}

/** Transfer-Encoding in disguises that some readers see through and others do not. */
const DISGUISES: [what: string, status: number, ...fields: string[]][] = [
  ['chunks', 400, CHUNKED],
  ['chunks in upper case', 400, 'TRANSFER-ENCODING: CHUNKED'],
  ['chunks in mixed case', 400, 'tRaNsFeR-eNcOdInG: cHuNkEd'],
  ['chunks without a space', 400, 'Transfer-Encoding:chunked'],
  ['chunks after a tab', 400, 'Transfer-Encoding:\tchunked'],
  ['chunks after many spaces', 400, `Transfer-Encoding:${' '.repeat(40)}chunked`],
  ['chunks before a tab', 400, 'Transfer-Encoding: chunked\t'],
  ['chunks before a space', 400, 'Transfer-Encoding: chunked '],
  ['a space before the colon', 400, 'Transfer-Encoding : chunked'],
  ['a tab before the colon', 400, 'Transfer-Encoding\t:\tchunked'],
  ['a word before the colon', 400, 'Transfer-Encoding x: chunked'],
  ['a space in the name', 400, 'Transfer Encoding: chunked'],
  ['a backslash in the name', 400, 'Transfer\\Encoding: chunked'],
  ['a CR in the name', 400, 'Tra\rnsfer-Encoding: chunked'],
  ['a NUL in the name', 400, 'Transfer-Encoding\0: chunked'],
  ['a letter of no ASCII in the name', 400, 'Transf\x82r-Encoding: chunked'],
  ['an indented field', 400, 'X: y', ' Transfer-Encoding: chunked'],
  ['a field indented by a tab', 400, 'X: y', '\tTransfer-Encoding: chunked'],
  ['a field after a lone CR', 400, 'X: y\rTransfer-Encoding: chunked'],
  ['a field after a lone LF', 400, 'X: y\nTransfer-Encoding: chunked'],
  ['a field after CR LF CR', 400, 'X: y', '\rTransfer-Encoding: chunked'],
  ['a field after two lone LFs', 400, 'X: yn\n\nTransfer-Encoding: chunked'],
  ['a value on the next line', 400, 'Transfer-Encoding:', ' chunked'],
  ['a value on the next line after a tab', 400, 'Transfer-Encoding:', '\tchunked'],
  ['a value after a lone LF', 400, 'Transfer-Encoding:\n chunked'],
  ['a value after LF and a vertical tab', 400, 'Transfer-Encoding: \n\x0bchunked'],
  ['a value that goes on', 501, 'Transfer-Encoding: chun', ' ked'],
  ['a colon after LF', 400, 'Transfer-Encoding\n : chunked'],
  ['two colons', 501, 'Transfer-Encoding:: chunked'],
  ['a CR after the value', 400, 'Transfer-Encoding: chunked\r'],
  ['an empty coding', 400, 'Transfer-Encoding:'],
  ['a coding that is white space', 400, 'Transfer-Encoding: \t '],
  ['xchunked', 501, 'Transfer-Encoding: xchunked'],
  ['chunk', 501, 'Transfer-Encoding: chunk'],
  ['chunkedx', 501, 'Transfer-Encoding: chunkedx'],
  ['chunked in double quotes', 501, 'Transfer-Encoding: "chunked"'],
  ['chunked in single quotes', 501, "Transfer-Encoding: 'chunked'"],
  ['chunked with a letter of no ASCII', 501, 'Transfer-Encoding: ch\x96nked'],
  ['chunked with a parameter', 501, 'Transfer-Encoding: chunked;q=1'],
  ['chunked before a semicolon', 501, 'Transfer-Encoding: chunked;'],
  ['chunked before a comma', 501, 'Transfer-Encoding: chunked,'],
  ['chunked after a comma', 501, 'Transfer-Encoding: ,chunked'],
  ['chunked between commas', 501, 'Transfer-Encoding: , chunked ,'],
  ['chunked twice in a list', 501, 'Transfer-Encoding: chunked, chunked'],
  ['chunked, then identity', 501, 'Transfer-Encoding: chunked, identity'],
  ['identity, then chunked', 501, 'Transfer-Encoding: identity, chunked'],
  ['chunked within identity', 501, 'Transfer-Encoding: identity, chunked, identity'],
  ['an unknown coding, then chunked', 501, 'Transfer-Encoding: cow, chunked'],
  ['gzip, then chunked', 501, 'Transfer-Encoding: gzip, chunked'],
  ['gzip', 501, 'Transfer-Encoding: gzip'],
  ['words without commas', 501, 'Transfer-Encoding: cow chunked bar'],
  ['chunked and a NUL', 400, 'Transfer-Encoding: chunked\0'],
  ['identity', 501, 'Transfer-Encoding: identity'],
  ['two codings', 400, CHUNKED, CHUNKED],
  ['two codings, identity last', 400, CHUNKED, 'Transfer-Encoding: identity'],
  ['two codings, identity first', 501, 'Transfer-Encoding: identity', CHUNKED],
  ['two codings, an unknown first', 501, 'Transfer-Encoding: cow', CHUNKED],
  ['two codings, one empty', 400, CHUNKED, 'Transfer-Encoding:'],
  ['two codings in two spellings', 400, 'transfer-encoding: chunked', 'Transfer-encoding: cow'],
  ['chunks that Connection names', 400, 'Connection: transfer-encoding', CHUNKED],
  ['chunks beside a length that Connection names', 400, 'Connection: content-length', CHUNKED],
]

/** Bytes that some readers skip as white space or cut a line at. */
const SWEPT = [0, 1, 8, 0x0b, 0x0c, 0x0e, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0xa0, 0xff]

const sweeps: Refused[] = SWEPT.flatMap((byte): Refused[] => {
  const odd = String.fromCharCode(byte)
  // Bytes over 127 are allowed in a value (RFC 9110 5.5), but they are part of it.
  const status = byte < 0x80 ? 400 : 501
  const name = byteName(byte)
  const head = (coding: string) => post([COUNTED, coding], CL_TE)
  return [
    [`${name} before the name of the coding field`, 400, head(`${odd}${CHUNKED}`)],
    [`${name} before the colon`, 400, head(`Transfer-Encoding${odd}: chunked`)],
    [`${name} after the colon`, status, head(`Transfer-Encoding:${odd}chunked`)],
    [`${name} before chunked`, status, head(`Transfer-Encoding: ${odd}chunked`)],
    [`${name} after chunked`, status, head(`${CHUNKED}${odd}`)],
  ]
})

export const FRAMING: readonly Refused[] = [
  ...DISGUISES.flatMap(([what, status, ...fields]) => both(what, status, ...fields)),
  ...sweeps,
  ['chunks before a tab alone', 400, post(['Transfer-Encoding: chunked\t'], CL_TE)],
  ['chunks before a space and a tab', 400, post(['Transfer-Encoding: chunked \t '], CL_TE)],
  ['chunks in HTTP/1.0', 400, post([CHUNKED], '0\r\n\r\n').replace('HTTP/1.1', 'HTTP/1.0')],
  [
    'chunks in HTTP/1.0 that is kept alive',
    400,
    post(['Connection: keep-alive', CHUNKED], TE_CL).replace('HTTP/1.1', 'HTTP/1.0'),
  ],
]

const WHOLE = ['POST /', CL_TE] as const
const NEXT = ['GET /smuggled', ''] as const

/** What is not a transfer coding to us must not be one to the upstream: only a length frames the body. */
function counted(what: string, field: string, gone?: RegExp): Served {
  return { what, bytes: post([COUNTED, field], CL_TE), read: [WHOLE], gone: gone ?? /^\b$/ }
}

export const FRAMED: readonly Served[] = [
  counted('Transfer_Encoding with an underscore', 'Transfer_Encoding: chunked', /chunked\r/),
  counted('TRANSFER_ENCODING as CGI spells it', 'TRANSFER_ENCODING: chunked', /chunked\r/),
  counted('a coding of the content', 'Content-Encoding: chunked'),
  counted('an encoded letter in the name', 'Transfer-%45ncoding: chunked'),
  counted('another name that begins alike', 'Transfer-Encodings: chunked'),
  counted('a name in front', 'X-Transfer-Encoding: chunked'),
  counted('TE', 'TE: chunked', /\r\nTE:/i),
  {
    what: 'a request inside of chunks',
    bytes: post([CHUNKED], TE_CL),
    read: [['POST /', SMUGGLED]],
  },
  {
    what: 'a request after chunks (TE.0)',
    bytes: post([CHUNKED], `0\r\n\r\n${SMUGGLED}`),
    read: [['POST /', ''], NEXT],
  },
  {
    what: 'a request after a body of no length (CL.0)',
    bytes: post(['Content-Length: 0'], SMUGGLED),
    read: [['POST /', ''], NEXT],
  },
  {
    what: 'a request after a POST without a length',
    bytes: post([], SMUGGLED),
    read: [['POST /', ''], NEXT],
  },
  {
    what: 'a request as the body of another (0.CL)',
    bytes: post([`Content-Length: ${SMUGGLED.length}`], SMUGGLED),
    read: [['POST /', SMUGGLED]],
  },
  {
    what: 'a request as the body of a GET',
    bytes: post([`Content-Length: ${SMUGGLED.length}`], SMUGGLED).replace('POST', 'GET'),
    read: [['GET /', SMUGGLED]],
  },
  {
    what: 'a request as the chunked body of a GET',
    bytes: post([CHUNKED], TE_CL).replace('POST', 'GET'),
    read: [['GET /', SMUGGLED]],
  },
  {
    what: 'a request as the body of a HEAD',
    bytes: post([`Content-Length: ${SMUGGLED.length}`], SMUGGLED).replace('POST', 'HEAD'),
    read: [['HEAD /', SMUGGLED]],
  },
  {
    what: 'a coding in mixed case and white space',
    bytes: post(['tRANSFER-eNCODING:   ChunKed  '], '1\r\na\r\n0\r\n\r\n'),
    read: [['POST /', 'a']],
    kept: /\r\ntRANSFER-eNCODING: chunked\r\n/,
  },
  {
    what: 'a coding that Connection names',
    bytes: post(['Connection: transfer-encoding', CHUNKED], '1\r\na\r\n0\r\n\r\n'),
    read: [['POST /', 'a']],
    kept: /\r\nTransfer-Encoding: chunked\r\n/,
  },
  {
    what: 'an upgrade of a request with a body',
    bytes: post(['Connection: upgrade', 'Upgrade: websocket', 'Content-Length: 2'], `ab${SMUGGLED}`),
    read: [['POST /', 'ab'], NEXT],
    gone: /upgrade/i,
  },
]
