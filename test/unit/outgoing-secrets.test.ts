import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDrain, openTarget, patchDrain, viewDrain } from '#server/log-drains/operations.ts'
import { createNotification, shownUrl } from '#server/notifications/operations.ts'
import { shownTarget } from '#server/outgoing.ts'
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
  ])('is not sent to %s by a change of the url alone', (url) => {
    const row = drain()
    expect(() => patchDrain(row, { url, name: 'other' })).toThrow(/^token: .*give it again/)
    expect(viewDrain(row)).toMatchObject({ name: 'archive', url: 'https://logs.example.com/in' })
  })

  test('goes on where the url stays with its host, and where it is given with the url', () => {
    const row = patchDrain(drain(), { url: 'https://logs.example.com/other' })
    expect(openTarget(row)).toEqual({
      url: 'https://logs.example.com/other',
      token: 'a token of the archive',
    })
    const moved = patchDrain(row, { url: 'https://other.example/', token: 'another token' })
    expect(openTarget(moved)).toEqual({ url: 'https://other.example/', token: 'another token' })
    const bare = patchDrain(moved, { url: 'https://third.example/', token: null })
    expect(openTarget(bare)).toEqual({ url: 'https://third.example/', token: null })
    expect(openTarget(patchDrain(bare, { url: 'https://fourth.example/' })).token).toBeNull()
  })

  test('stays when what was shown of the url is sent back', () => {
    const row = drain('https://key@logs.example.com/in?a=b')
    const { url } = viewDrain(row)
    expect(openTarget(patchDrain(row, { url, enabled: false }))).toEqual(openTarget(row))
  })
})

test.each([
  'https://***@logs.example.com/in',
  'https://ada:***@logs.example.com/in',
  'https://logs.example.com/in?***',
  'https://logs.example.com/in?***&level=1',
  'https://hooks.slack.com/services/T0/B1/***',
  'https://discord.com/api/webhooks/123/***/slack',
])('what is hidden in %s is none of the url that it is to be', (url) => {
  expect(() => patchDrain(drain(), { url, token: null })).toThrow(/^url: has \*\*\*/)
  expect(() => createNotification({ name: 'chat', kind: 'slack', url })).toThrow(/^url: has \*\*\*/)
})

test.each([
  ['http', 'http://logs.example.com:0/in'],
  ['syslog', 'tcp://logs.example.com:0'],
] as const)('a %s drain to port 0 is refused: nothing listens there', (kind, url) => {
  expect(() => createDrain({ name: 'archive', kind, url })).toThrow(/^url: must be/)
})

test.each(['tcp://ada@logs.example.com:514', 'tcp://:word@logs.example.com:514'])(
  'a syslog drain to %s is refused: nothing signs in there',
  (url) => expect(() => createDrain({ name: 'archive', kind: 'syslog', url })).toThrow(/^url: must be/),
)

describe('an address is shown', () => {
  test.each([
    ['https://token@example.com/a', 'https://***@example.com/a'],
    ['https://token:@example.com/a', 'https://***@example.com/a'],
    ['https://ada:word@example.com/a?key=1', 'https://ada:***@example.com/a?***'],
    ['https://example.com/a', 'https://example.com/a'],
    ['https://a%zz:word@example.com/a', 'https://***:***@example.com/a'],
  ])('for %s as %s', (url, shown) => expect(shownTarget(url)).toBe(shown))

  test.each([
    ['slack', 'https://hooks.slack.com/services/T0/B0/key', 'https://hooks.slack.com/services/T0/B0/***'],
    ['slack', 'https://hooks.slack.com/services/T0/B0/key/', 'https://hooks.slack.com/services/T0/B0/***'],
    ['slack', 'https://hooks.slack.com/services/T0/B0/key#/', 'https://hooks.slack.com/services/T0/B0/***'],
    ['slack', 'https://chat.example.com/hooks/key', 'https://chat.example.com/hooks/***'],
    ['slack', 'https://discord.com/api/webhooks/1/key/slack', 'https://discord.com/api/webhooks/1/***'],
    ['discord', 'https://discord.com/api/webhooks/1/key?wait=true', 'https://discord.com/api/webhooks/1/***'],
  ] as const)("of %s's %s as %s", (kind, url, shown) => expect(shownUrl(kind, url)).toBe(shown))
})
