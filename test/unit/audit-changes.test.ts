import { expect, test } from 'vitest'
import { z } from 'zod'
import { secret } from '#server/access/shown.ts'
import { actionOf } from '#server/audit/action.ts'
import { changesBetween, fieldsOf, tellable } from '#server/audit/changes.ts'

const Thing = z.object({
  port: z.int(),
  image: z.string().nullable(),
  tags: z.array(z.string()),
  key: secret(z.string()),
  keys: z.array(secret(z.string())),
  login: z.object({ user: z.string() }),
  updated_at: z.string(),
})
const thing = { port: 3000, image: 'web:1', tags: ['a'], login: { user: 'me' }, updated_at: 'then' }
const told = (more: object) => tellable(Thing, { ...thing, key: 'hidden-1', keys: ['hidden-2'], ...more })

test('of what changed, the old and the new value are told, and of secrets that they changed', () => {
  const after = { port: 8080, image: null, tags: ['a', 'b'], key: 'hidden-3', updated_at: 'now' }
  const given = { port: 8080, image: null, tags: ['a', 'b'], key: 'hidden-3', updated_at: 'now' }
  expect(changesBetween(told({}), told(after), given)).toEqual([
    'port: 3000 -> 8080',
    'image: web:1 -> none',
    'tags: ["a"] -> ["a","b"]',
    'key: changed',
  ])
  expect(changesBetween(told({}), told({ key: null }), { key: null })).toEqual(['key: changed'])
  expect(changesBetween(told({}), told({ keys: ['hidden-4', null] }), { keys: [] }).join()).not.toContain(
    'hidden',
  )
})

test('what a state never has is told as set, without its value', () => {
  const given = { port: 3000, login: { user: 'me', password: 'hidden-5' }, token: 'hidden-6' }
  expect(changesBetween(told({}), told({}), given)).toEqual(['login.password: set', 'token: set'])
  // Of a URL, a state may have only the end.
  expect(changesBetween(told({}), told({}), { key: 'hidden-9' })).toEqual(['key: set'])
})

test('of what something was made with, the values are told that its answer shows', () => {
  const given = {
    ...{ port: 3000, image: 'web:1?', key: 'hidden-1', login: { user: 'me', password: 'hidden-5' } },
    ...{
      token: 'hidden-6',
      env: [{ key: 'KEY', value: 'hidden-7' }],
      headers: { 'X-Key': 'hidden-8' },
      none: null,
    },
  }
  const named = ['env.KEY: set', 'headers.X-Key: set', 'none: none']
  expect(fieldsOf(given, told({}))).toEqual([
    ...['port: 3000', 'image: web:1', 'key: set', 'login.user: me', 'login.password: set', 'token: set'],
    ...named,
  ])
  expect(fieldsOf(given)).toEqual([
    ...['port: 3000', 'image: set', 'key: set', 'login.user: set', 'login.password: set', 'token: set'],
    ...named,
  ])
})

test('members of the same name are told by their places', () => {
  const Fields = z.object({ headers: z.array(z.object({ path: z.string(), name: z.string() })) })
  const state = (path: string) =>
    tellable(Fields, { headers: ['/*', path].map((at) => ({ path: at, name: 'X-A' })) })
  expect(changesBetween(state('/a'), state('/b'), { headers: [] })).toEqual(['headers.1.path: /a -> /b'])
})

test('of a text with a hidden part, it is told that it was set', () => {
  const state = tellable(z.object({ url: z.string() }), { url: 'https://***@git.example.com/a' })
  const given = { url: 'https://me:hidden@git.example.com/a' }
  expect(changesBetween(state, state, given)).toEqual(['url: set'])
  expect(fieldsOf(given, state)).toEqual(['url: set'])
})

test('variables are told by their names, and all of them are compared', () => {
  const Variables = z.array(z.object({ key: z.string(), value: z.string() }))
  const state = (variables: object) =>
    tellable(
      Variables,
      Object.entries(variables).map(([key, value]) => ({ key, value })),
    )
  const given = { set: [{ key: 'OTHER', value: 'y' }], unset: ['GONE'] }
  const [before, after] = [
    { KEPT: 'x', GONE: 'x', OTHER: 'x' },
    { KEPT: 'x', OTHER: 'y', NEW: 'z' },
  ]
  expect(changesBetween(state(before), state(after), given, 'env')).toEqual([
    'env.GONE: removed',
    'env.OTHER: changed',
    'env.NEW: added',
  ])
})

test('long texts and long lists are cut', () => {
  const long = { note: 'x'.repeat(10_000) }
  expect(fieldsOf(long, long)[0]!.length).toBeLessThan(250)
  const many = fieldsOf(Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`f${index}`, index])))
  expect([many.length, many.at(-1)]).toEqual([51, '30 more'])
})

test.each([
  ['POST', '/api/v1/services', 'service.created'],
  ['PATCH', '/api/v1/services/:id/env', 'service.updated'],
  ['POST', '/api/v1/services/:id/disk/backups/:backup_id/restore', 'disk_backup.restored'],
  ['DELETE', '/api/v1/server/backups/:id', 'server_backup.deleted'],
  ['PATCH', '/api/v1/server/settings', 'server.updated'],
  ['POST', '/api/v1/certificates/uploaded', 'certificate.created'],
])('%s %s is %s', (method, path, action) => {
  expect(actionOf(method, path)).toBe(action)
})

test('a path that does not say what it does is refused', () => {
  expect(() => actionOf('POST', '/api/v1/services/:id/frobnicate')).toThrow(TypeError)
})
