import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { wantedNames } from '#daemon/certificates/needs.ts'
import { insertCertificate } from '#server/certificates/store.ts'
import { viewCertificates } from '#server/certificates/view.ts'
import type { Context } from '#server/context.ts'
import { ensureBaseDomain } from '#server/domains/operations.ts'
import { insertDomain } from '#server/domains/store.ts'
import { createService } from '#server/services/operations.ts'
import { ServiceInput } from '#server/services/input.ts'
import { openContext } from '../support/context.ts'

let context: Context
let close: () => Promise<void>

beforeEach(async () => {
  ;({ context, close } = await openContext())
})
afterEach(() => close())

/** Makes it the base domain, which is served while its records do not exist yet. */
function serveUnder(domain: string): void {
  context.options.baseDomain = domain
  ensureBaseDomain()
}

function addService(name: string, ...custom_domains: string[]): void {
  createService(ServiceInput.parse({ name, custom_domains }))
}

function waits(): Record<string, string | null> {
  return Object.fromEntries([...wantedNames()].map(([name, { waitsFor }]) => [name, waitsFor]))
}

describe('a host under a domain that does not point here yet', () => {
  test('waits for it if its name comes from its service', () => {
    serveUnder('example.com')
    addService('web')
    expect(waits()).toEqual({ 'web.example.com': 'example.com' })
    const entry = viewCertificates().find(({ host }) => host === 'web.example.com')
    expect(entry).toMatchObject({
      state: 'pending',
      error: 'example.com does not lead to this server yet',
    })
  })

  test('is looked up itself if it is a custom domain, and reports its own result', () => {
    addService('web', 'www.eu.shop.example.com', 'example.org')
    insertDomain('example.com', 'api')
    serveUnder('shop.example.com')
    expect(waits()).toEqual({
      'web.shop.example.com': 'shop.example.com',
      'www.eu.shop.example.com': null,
      'example.org': null,
    })
    const shown = () => viewCertificates().find(({ host }) => host === 'www.eu.shop.example.com')
    expect(shown()).toMatchObject({ state: 'pending', error: null })
    insertCertificate('www.eu.shop.example.com', context.options.acme.directory)
    const error = 'no such host'
    context.database.run('UPDATE certificates SET error = ?', error)
    expect(shown()).toMatchObject({ state: 'pending', error })
  })

  test('is looked up itself if it is the dashboard’s', () => {
    context.options.dashboardHost = 'deployer.example.com'
    insertDomain('example.com', 'api')
    expect(waits()).toEqual({ 'deployer.example.com': null })
  })
})

test('a custom domain does not wait for the wildcard of a domain, and is covered by it later', () => {
  context.options.acme.dns = { kind: 'cloudflare', token: 'secret' }
  addService('shop', 'old.example.com')
  serveUnder('example.com')
  expect(waits()).toEqual({ '*.example.com': 'example.com', 'old.example.com': null })
  context.database.run("UPDATE domains SET status = 'active' WHERE name = 'example.com'")
  expect(waits()).toEqual({ '*.example.com': null })
})
