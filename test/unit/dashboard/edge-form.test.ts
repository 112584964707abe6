import { expect, test } from 'vitest'
import type { Service } from '../../../dashboard/src/api/types.ts'
import { edgeFormOf, edgePatchOf } from '../../../dashboard/src/edge/form.ts'
import { trialOf } from '../../../dashboard/src/edge/trial.ts'
import {
  headerLines,
  headersOf,
  redirectLines,
  redirectsOf,
  sourceLines,
  sourcesOf,
} from '../../../dashboard/src/edge/lines.ts'

const NOTHING = {
  ip_allow_list: null,
  redirects: null,
  maintenance: null,
  rate_limit: null,
  basic_auth: null,
  headers: null,
  session_affinity: false,
  upstream_timeout_seconds: null,
  max_body_mb: null,
  access_log: false,
} as Service

const WHOLE = {
  ip_allow_list: [
    { source: '203.0.113.0/24', description: 'the office' },
    { source: '::1', description: null },
  ],
  redirects: [
    { from: '/a/*', to: '/b/:splat', status: 301 },
    { from: '/c', to: 'https://example.com', status: 308 },
  ],
  maintenance: { enabled: false, message: 'Soon', page: '<p>\n', retry_after_seconds: 5, allow_ips: ['::1'] },
  rate_limit: { requests: 10, period_seconds: 60, burst: 2 },
  basic_auth: { users: [{ username: 'ada', password: null }], except_paths: ['/x'] },
  headers: [
    { path: '/*', name: 'X-A', value: 'b: c' },
    { path: '/x', name: 'Server', value: null },
  ],
  session_affinity: true,
  upstream_timeout_seconds: 5,
  max_body_mb: 6,
  access_log: true,
} as Service

test('a form that nobody touched changes nothing, and one that was filled in everything', () => {
  for (const service of [NOTHING, WHOLE])
    expect(edgePatchOf(edgeFormOf(service), edgeFormOf(service))).toEqual({})
  expect(edgePatchOf(edgeFormOf(NOTHING), edgeFormOf(WHOLE))).toEqual(WHOLE)
  expect(edgePatchOf(edgeFormOf(WHOLE), edgeFormOf(NOTHING))).toEqual(NOTHING)
})

test('an empty list of addresses is not the same as no list', () => {
  const form = edgeFormOf(NOTHING)
  expect(edgePatchOf(form, { ...form, restricts_addresses: true })).toEqual({ ip_allow_list: [] })
})

test('of a user, only a typed password is sent', () => {
  const form = edgeFormOf(WHOLE)
  const users = JSON.stringify([
    { username: 'ada', password: '' },
    { username: 'bob', password: 'new' },
    { username: '', password: '' },
  ])
  expect(edgePatchOf(form, { ...form, basic_auth: users }).basic_auth).toEqual({
    users: [
      { username: 'ada', password: null },
      { username: 'bob', password: 'new' },
    ],
    except_paths: ['/x'],
  })
})

test('lists are read back from their lines, and lines with other spaces are read the same', () => {
  expect(sourcesOf(sourceLines(WHOLE.ip_allow_list!))).toEqual(WHOLE.ip_allow_list)
  expect(redirectsOf(redirectLines(WHOLE.redirects!))).toEqual(WHOLE.redirects)
  expect(headersOf(headerLines(WHOLE.headers!))).toEqual(WHOLE.headers)
  expect(redirectsOf('\n  /a/*\t/b/:splat   301 \n\n')).toEqual([WHOLE.redirects![0]])
  expect(headersOf(' X-A:b: c \n /x -Server')).toEqual(WHOLE.headers)
})

test('the lines for a terminal quote what was typed', () => {
  const form = { ...edgeFormOf(NOTHING), basic_auth: JSON.stringify([{ username: "o'hara", password: 'x' }]) }
  expect(trialOf('http://web.localhost', { ...form, redirects: '/a/:b/* /c' })).toBe(
    [
      "curl -i 'http://web.localhost/'",
      "curl -i 'http://web.localhost/a/x/x'",
      String.raw`curl -i -u 'o'\''hara' 'http://web.localhost/'`,
    ].join('\n'),
  )
})
