import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startPlace, type Place } from './place.ts'

let place: Place

afterEach(() => place?.stop())

test('an account is bound to the one that the authority has given out, and its key is kept over restarts', async () => {
  const key = randomBytes(32).toString('base64url')
  place = await startPlace({
    authority: { externalAccounts: { 'kid-1': key } },
    server: { flags: ['--acme-eab-kid', 'kid-1', '--acme-eab-key', key, '--acme-email', 'ada@example.com'] },
  })
  await place.server.api('POST', '/services', { name: 'bound' })
  await place.reaches('bound.example.com', 'issued')
  // Not where the data plane reads.
  const folder = join(place.server.dataDirectory, 'acme-accounts')
  expect(readdirSync(join(place.server.dataDirectory, 'certificates'))).toEqual(['bound.example.com'])
  const [account] = readdirSync(folder)
  const file = join(folder, account!, 'privkey.pem')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { mtimeMs } = statSync(file)
  await place.server.restart()
  await place.server.api('POST', '/services', { name: 'later' })
  await place.reaches('later.example.com', 'issued')
  expect(statSync(file).mtimeMs).toBe(mtimeMs)
})

test('an authority that needs a bound account is reported to the administrator if there is none', async () => {
  const key = randomBytes(32).toString('base64url')
  place = await startPlace({ authority: { externalAccounts: { 'kid-1': key } } })
  await place.server.api('POST', '/services', { name: 'unbound' })
  expect((await place.reaches('unbound.example.com', 'failed')).error).toMatch(/external/i)
})
