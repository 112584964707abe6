import { execFileSync } from 'node:child_process'
import { assert, property } from 'fast-check'
import { expect, test } from 'vitest'
import { formatRepositoryUrl, parseRepositoryUrl } from '../../server/git/url.ts'
import { anyAddress } from '../support/any-address.ts'

/** What git itself reads an address as, without going there. */
function asGitReadsIt(url: string): Record<string, string> {
  const output = execFileSync('git', ['fetch-pack', '--diag-url', url]).toString()
  return Object.fromEntries(
    output
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => /^Diag: (\w+)=(.*)$/.exec(line)!.slice(1, 3) as [string, string]),
  )
}

/** Addresses whose host git itself reads from them; those of http pass through the gate. */
const ownProtocols = anyAddress
  .map((text) => parseRepositoryUrl(text))
  .filter((parsed) => parsed?.protocol === 'ssh' || parsed?.protocol === 'git')

test('git reads the same host, port and path from its address that were checked', () => {
  assert(
    property(ownProtocols, (parsed) => {
      const { protocol, username, host, port, path, scp } = parsed!
      const read = asGitReadsIt(formatRepositoryUrl(parsed!))
      const bracketed = host.includes(':') ? `[${host}]` : host
      const from = (scp ? path : `/${path}`).replace(/^\/~/, '~')
      if (protocol === 'git') {
        const place = port === null ? bracketed : `${bracketed}:${port}`
        expect(read).toMatchObject({ protocol, hostandport: place, path: from })
      } else {
        const user = username === null ? '' : `${username}@`
        expect(read).toMatchObject({ protocol, userandhost: user + host, path: from })
        expect(read.port).toBe(port === null ? 'NONE' : String(port))
      }
    }),
  )
})

test('git would read an option from an escaped host, which is refused', () => {
  const hostile = 'ssh://%2doProxyCommand=id/a'
  expect(asGitReadsIt(hostile)).toMatchObject({ userandhost: '-oProxyCommand=id' })
  expect(parseRepositoryUrl(hostile)).toBeNull()
})
