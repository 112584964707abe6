import { constantFrom, integer, oneof, option, record, string, tuple } from 'fast-check'

const HOSTILE = [
  '-oProxyCommand=x',
  '..',
  '.',
  '/',
  '\\',
  '\n',
  '\0',
  '%',
  '@',
  ':',
  '#',
  '?',
  '\u00e4',
  '\u202e',
]

const escaped = (part: string) =>
  part.replaceAll(/[^]/gu, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  )

const anyPart = (...plain: string[]) => {
  const piece = oneof(constantFrom(...plain), constantFrom(...HOSTILE), string({ maxLength: 4 }))
  return tuple(oneof(constantFrom(...plain), piece), option(piece, { freq: 8, nil: '' })).chain((pieces) =>
    constantFrom(pieces.join(''), pieces.map(escaped).join(''), pieces[0] + escaped(pieces[1])),
  )
}

/** Texts that are nearly addresses: their parts are plain, hostile, and either of them escaped once. */
export const anyAddress = oneof(
  record({
    scheme: constantFrom('https://', 'HTTP://', 'ssh://', 'git://', 'ext::'),
    user: option(anyPart('git', 'ada:secret'), { nil: null }),
    host: anyPart('example.com', '127.1', '[::1]', 'EXAMPLE.com'),
    port: option(integer({ min: 0, max: 70_000 }), { nil: null }),
    path: anyPart('team/api.git', 'a//b', '~/a'),
  }).map(
    ({ scheme, user, host, port, path }) =>
      `${scheme}${user === null ? '' : `${user}@`}${host}${port === null ? '' : `:${port}`}/${path}`,
  ),
  tuple(anyPart('git'), anyPart('example.com', '[::1]'), anyPart('team/api.git', '/srv/a')).map(
    ([user, host, path]) => `${user}@${host}:${path}`,
  ),
)
