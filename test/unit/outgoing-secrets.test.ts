import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDrain, openDestination, patchDrain, viewDrain } from '#server/log-drains/operations.ts'
import { shownDestination } from '#server/network/outgoing.ts'
import { createNotification, openUrl, patchNotification } from '#server/notifications/operations.ts'
import { openContext } from '../support/context.ts'

let close: () => Promise<void>

beforeAll(async () => void ({ close } = await openContext()))
afterAll(() => close())

const drain = (url = 'https://logs.example.com/in', token: string | null = 'a token of the archive') =>
  createDrain({ name: 'archive', kind: 'http', url, token })

describe('the token of a log drain', () => {
  test.each([
    'https://attacker.example/in',
    'https://logs.example.com:8443/in',
    'http://logs.example.com/in',
    'https://logs.example.com@attacker.example/in',
  ])('is not sent to %s by a change of only the url', (url) => {
    const row = drain()
    expect(() => patchDrain(row, { url, name: 'other' })).toThrow(/^token: .*give it again/)
    expect(viewDrain(row)).toMatchObject({ name: 'archive', url: 'https://logs.example.com/***' })
  })

  test('stays valid if the url keeps its host, and if it is given with the url', () => {
    const row = patchDrain(drain(), { url: 'https://logs.example.com/other' })
    expect(openDestination(row)).toEqual({
      url: 'https://logs.example.com/other',
      token: 'a token of the archive',
    })
    const moved = patchDrain(row, { url: 'https://other.example/', token: 'another token' })
    expect(openDestination(moved)).toEqual({ url: 'https://other.example/', token: 'another token' })
    const bare = patchDrain(moved, { url: 'https://third.example/', token: null })
    expect(openDestination(bare)).toEqual({ url: 'https://third.example/', token: null })
    expect(openDestination(patchDrain(bare, { url: 'https://fourth.example/' })).token).toBeNull()
  })

  test('stays when the shown url is sent back', () => {
    const row = drain('https://key@logs.example.com/in?a=b')
    const { url } = viewDrain(row)
    expect(openDestination(patchDrain(row, { url: url!, enabled: false }))).toEqual(openDestination(row))
  })
})

test.each([
  'https://***@logs.example.com/in',
  'https://ada:***@logs.example.com/in',
  'https://logs.example.com/in?***',
  'https://logs.example.com/in?***&level=1',
  'https://hooks.slack.com/services/T0/B1/***',
  'https://discord.com/api/webhooks/123/***/slack',
  'https://hooks.slack.com/***1234',
])('a value that is hidden in %s is not the future url', (url) => {
  expect(() => patchDrain(drain(), { url, token: null })).toThrow(/^url: contains \*\*\*/)
  expect(() => createNotification({ name: 'chat', kind: 'slack', url })).toThrow(/^url: contains \*\*\*/)
})

test.each([
  ['http', 'http://logs.example.com:0/in'],
  ['syslog', 'tcp://logs.example.com:0'],
] as const)('a %s drain to port 0 is refused: nothing listens there', (kind, url) => {
  expect(() => createDrain({ name: 'archive', kind, url })).toThrow(/^url: must be/)
})

test.each(['tcp://ada@logs.example.com:514', 'tcp://:word@logs.example.com:514'])(
  'a syslog drain to %s is refused: syslog has no sign-in',
  (url) => expect(() => createDrain({ name: 'archive', kind: 'syslog', url })).toThrow(/^url: must be/),
)

describe('an address is shown', () => {
  test.each([
    ['https://token@example.com/', 'https://***@example.com/'],
    ['https://token:@example.com/', 'https://***@example.com/'],
    ['https://ada:word@example.com/a?key=1', 'https://ada:***@example.com/***'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com/?key=1', 'https://example.com/***'],
    ['https://example.com/#key', 'https://example.com/***'],
    ['https://a%zz:word@example.com/', 'https://***:***@example.com/'],
    ['tcp://logs.example.com:514', 'tcp://logs.example.com:514'],
    ['https://hooks.slack.com/services/T0/B0/key', 'https://hooks.slack.com/***'],
    ['https://hooks.slack.com/services/T0/B0/0123456789ab', 'https://hooks.slack.com/***89ab'],
    ['https://hooks.slack.com/services/T0/B0/0123456789ab/#/', 'https://hooks.slack.com/***89ab'],
    ['https://ntfy.sh/topic', 'https://ntfy.sh/***'],
    ['https://ntfy.sh/my-own-topic', 'https://ntfy.sh/***opic'],
    ['https://logs.example.com/loki/api/v1/push?key=a-long-key', 'https://logs.example.com/***'],
  ])('for %s as %s, which may be sent back', (url, shown) => {
    expect(shownDestination(url)).toBe(shown)
    const { row } = createNotification({ name: 'chat', kind: 'slack', url })
    const kept = patchNotification(row, { url: shown, name: 'other' })
    expect(openUrl(kept)).toBe(url)
  })
})
