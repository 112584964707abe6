import { GET, H, SMUGGLED, get, post, type Served } from './cases.ts'

/** Unusual heads that have one meaning. */
export const READABLE: readonly Served[] = [
  { what: 'an empty line before', bytes: `\r\n${get()}`, read: [['GET /', '']] },
  {
    what: 'an empty line between two',
    bytes: `${get()}\r\n${SMUGGLED}`,
    read: [
      ['GET /', ''],
      ['GET /smuggled', ''],
    ],
  },
  {
    what: 'an empty line after a body',
    bytes: `${post(['Content-Length: 1'], 'x')}\r\n${SMUGGLED}`,
    read: [
      ['POST /', 'x'],
      ['GET /smuggled', ''],
    ],
  },
  {
    what: 'no space after the colon',
    bytes: `${GET}\r\nHost:app.test\r\n\r\n`,
    read: [['GET /', '']],
    kept: /\r\nHost: app\.test\r\n/,
  },
  { what: 'an empty value', bytes: get('X-Empty:'), read: [['GET /', '']], kept: /\r\nX-Empty: \r\n/ },
  {
    what: 'an empty value of white space',
    bytes: get('X-Empty: \t '),
    read: [['GET /', '']],
    kept: /\r\nX-Empty: \r\n/,
  },
  {
    what: 'white space around a value',
    bytes: get('X:\t a b \t'),
    read: [['GET /', '']],
    kept: /\r\nX: a b\r\n/,
  },
  {
    what: 'bytes over 127 in a value',
    bytes: get('X-Name: caf\xe9'),
    read: [['GET /', '']],
    kept: /caf\xe9\r/,
  },
  {
    what: 'every tchar in a name',
    bytes: get("!#$%&'*+-.^`|~09azAZ: y"),
    read: [['GET /', '']],
    kept: /\r\n!#\$%&'\*\+-\.\^`\|~09azAZ: y\r\n/,
  },
  {
    what: 'a colon and quotes in a value',
    bytes: get('X: a: "b, c'),
    read: [['GET /', '']],
    kept: /\r\nX: a: "b, c\r\n/,
  },
  {
    what: 'encoded line ends in the target',
    bytes: `GET /%0d%0aX:%20y HTTP/1.1\r\n${H}\r\n\r\n`,
    read: [['GET /%0d%0aX:%20y', '']],
  },
  {
    what: 'two slashes',
    bytes: `GET //evil.test/ HTTP/1.1\r\n${H}\r\n\r\n`,
    read: [['GET //evil.test/', '']],
  },
  {
    what: 'a path that climbs',
    bytes: `GET /../%2e%2e/x HTTP/1.1\r\n${H}\r\n\r\n`,
    read: [['GET /../%2e%2e/x', '']],
  },
  {
    what: 'an absolute address within the path',
    bytes: `GET /http://evil.test/ HTTP/1.1\r\n${H}\r\n\r\n`,
    read: [['GET /http://evil.test/', '']],
  },
  { what: 'a star for OPTIONS', bytes: `OPTIONS * HTTP/1.1\r\n${H}\r\n\r\n`, read: [['OPTIONS *', '']] },
  { what: 'a method of WebDAV', bytes: `PROPFIND / HTTP/1.1\r\n${H}\r\n\r\n`, read: [['PROPFIND /', '']] },
  {
    what: 'HTTP/1.0',
    bytes: `GET / HTTP/1.0\r\n${H}\r\n\r\n${SMUGGLED}`,
    read: [['GET /', '']],
    closes: true,
  },
  {
    what: 'HTTP/1.0 that asks to be kept',
    bytes: `GET / HTTP/1.0\r\n${H}\r\nConnection: keep-alive\r\n\r\n${SMUGGLED}`,
    read: [['GET /', '']],
    gone: /keep-alive/,
    closes: true,
  },
  {
    what: 'an expectation in HTTP/1.0',
    bytes: `POST / HTTP/1.0\r\n${H}\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx`,
    read: [['POST /', 'x']],
    gone: /Expect/,
    closes: true,
  },
  {
    what: 'close among other options',
    bytes: `${get('Connection: x, CLOSE ,keep-alive')}${SMUGGLED}`,
    read: [['GET /', '']],
    gone: /close/i,
    closes: true,
  },
  {
    what: 'close in a second field',
    bytes: `${get('Connection: keep-alive', 'Connection: close')}${SMUGGLED}`,
    read: [['GET /', '']],
    closes: true,
  },
  {
    what: 'empty members of Connection',
    bytes: get('Connection: , ,x-a,', 'X-A: 1', 'X-B: 2'),
    read: [['GET /', '']],
    gone: /X-A/,
    kept: /X-B: 2/,
  },
]
