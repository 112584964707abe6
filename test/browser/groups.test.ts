import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { DARK, LIGHT, NARROW, Visitor } from './axe.ts'
import { PHONE, setUp, TestBrowser } from './browser.ts'
import { excessOf, movingOn } from './fit.ts'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer({
    flags: [
      ...['--base-domain', 'apps.example.com', '--tls', 'off', '--public-ip', '203.0.113.7'],
      // Nothing answers there: every check fails at once.
      ...['--dns-resolvers', '127.0.0.1:1'],
    ],
  })
  browser = await TestBrowser.launch()
  page = await browser.open(server.url)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

const main = (name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click()
const button = (name: string) => page.getByRole('button', { name, exact: true })

test('setup asks for the code that the link lacks, and again for one that the server refuses', async () => {
  const visitor = new Visitor(browser, page)
  expect(await visitor.look({ name: 'setup', path: '/setup' }, [NARROW, DARK, LIGHT])).toEqual([])
  const focused = () => page.evaluate<string>("document.activeElement.labels?.[0].innerText ?? ''")
  await waitFor(async () => (await focused()).trim() === 'Setup code', 'the focus in the first empty field')
  await page.goto('/setup?code=mistyped')
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple')
  expect(await page.getByLabel('Setup code').count()).toBe(0)
  await button('Create account').click()
  await page.getByText('The setup code is wrong').waitFor()
  await page.setViewportSize({ ...PHONE, width: 320 })
  expect({ excess: await excessOf(page), moving: await movingOn(page) }).toEqual({ excess: 0, moving: [] })
  await page.setViewportSize(LIGHT.viewport)
  expect(await page.getByLabel('Setup code').inputValue()).toBe('mistyped')
  await setUp(page, server.setupCode)
})

test('an environment is created on its page or with a new service, contains it, and is deleted once it is empty', async () => {
  await main('Environments')
  const production = page.getByRole('article', { name: 'production' })
  await production.getByText('Protected').waitFor()
  expect(await production.getByRole('button', { name: /^Delete/ }).count()).toBe(0)
  await button('New environment').click()
  await page.getByLabel('Name', { exact: true }).fill('production')
  await button('Create environment').click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await page.getByLabel('Name', { exact: true }).fill('staging')
  await button('Create environment').click()
  const staging = page.getByRole('article', { name: 'staging' })
  await staging.getByText('http://<service>.staging.apps.example.com').waitFor()

  await staging.getByText('DNS records and checks').click()
  const record = staging.getByRole('row', { name: /\*\.staging\.apps\.example\.com/ })
  await record.getByRole('button', { name: 'Copy the value of *.staging.apps.example.com A' }).waitFor()
  await record.getByText('203.0.113.7').waitFor()
  await staging.getByText('Waiting for DNS').waitFor()

  await server.api('POST', '/services', { name: 'web', environment: 'staging', deploy: false })
  await staging.getByRole('link', { name: 'web', exact: true }).waitFor()
  await staging.getByRole('button', { name: /Delete its services and datastores first/ }).waitFor()

  await page.goto('/services/new')
  await button('New environment…').click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('preview')
  await button('Create environment').click()
  await waitFor(
    async () => (await page.getByLabel('Environment', { exact: true }).inputValue()) === 'preview',
    'the new environment to be chosen',
  )
  await page.getByLabel('Environment', { exact: true }).selectOption('staging')
  await main('Environments')
  await page.getByRole('button', { name: /^Delete preview/ }).click()
  await button('Delete environment').click()
  await page.getByRole('article', { name: 'preview' }).waitFor({ state: 'detached' })
  expect(browser.faults).toEqual([])
})

test('a domain lists the records of every environment', async () => {
  await main('Domains')
  const domain = page.getByRole('article', { name: 'apps.example.com' })
  await domain
    .getByRole('row', { name: /\*\.staging\.apps\.example\.com/ })
    .getByText('for staging')
    .waitFor()
})

test('an env group is created, filled, linked from both sides, unlinked, and deleted, naming what uses it', async () => {
  await main('Env groups')
  await button('New env group').click()
  await page.getByLabel('Name', { exact: true }).fill('shared')
  await button('Create env group').click()
  await page.waitForURL('**/env-groups/shared')
  await button('Add variable').click()
  await page.getByLabel('Name', { exact: true }).fill('LOG_LEVEL')
  await page.getByLabel('Value of LOG_LEVEL', { exact: true }).fill('info')
  await button('Save').click()
  await page.getByText('Saved. The values reach the linked services').waitFor()
  // What another client adds appears, and what is saved here leaves it as it is.
  await server.api('PATCH', '/env-groups/shared/env', { set: { OTHER: 'kept' } })
  await button('Show the value of OTHER').waitFor()

  for (const environment of ['production', 'staging'])
    await server.api('POST', '/services', { name: 'api', environment, deploy: false })
  await page.getByLabel('Link a service').selectOption('api.staging')
  await button('Link').click()
  await button('Unlink api.staging').waitFor()

  await page.goto('/services/api/variables')
  await page.getByLabel('Link an env group').selectOption('shared')
  await button('Link').click()
  await page.getByText('LOG_LEVEL', { exact: true }).waitFor()
  expect((await server.api('GET', '/services/api')).body.env_groups).toEqual(['shared'])

  await main('Env groups')
  await page.getByText('2 variables, used by api, api.staging').waitFor()
  await page.getByRole('link', { name: 'shared', exact: true }).click()
  await button('Unlink api.staging').press('Enter')
  await button('Unlink api.staging').waitFor({ state: 'detached' })
  await page.locator('h1:focus').waitFor()
  await button('Delete env group…').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('link', { name: 'api', exact: true }).waitFor()
  await dialog.getByRole('textbox').fill('shared')
  await dialog.getByRole('button', { name: 'Delete anyway' }).click()
  await page.waitForURL('**/env-groups')
  await page.getByText('Keep shared variables in one place').waitFor()
  expect((await server.api('GET', '/services/api')).body.env_groups).toEqual([])
  expect(browser.faults).toEqual([])
})

test('a new service is linked to the env groups that are chosen for it', async () => {
  await server.api('POST', '/env-groups', { name: 'chosen', vars: [{ key: 'A', value: '1' }] })
  await page.goto('/services/new')
  await page.getByText('Container image').click()
  await page.getByLabel('Image', { exact: true }).fill('busybox:1')
  await page.getByLabel('Name', { exact: true }).fill('linked')
  await page.getByText('Environment variables').click()
  await page.getByLabel('chosen').check()
  await button('Create and deploy').click()
  await page.waitForURL('**/services/linked/deploys/*')
  expect((await server.api('GET', '/services/linked')).body.env_groups).toEqual(['chosen'])
})

test('secret files are written or chosen, shown only where they are not secret, replaced and deleted', async () => {
  await server.api('POST', '/env-groups', { name: 'files' })
  await page.goto('/env-groups/files')
  const files = page.getByRole('region', { name: 'Secret files' })
  const dialog = page.getByRole('dialog')
  const act = async (file: string, action: string) => {
    await button(`Actions of ${file}`).click()
    await page.getByRole('menuitem', { name: action }).click()
  }
  await button('Add a file').click()
  await dialog.getByLabel('Name', { exact: true }).fill('app.json')
  await dialog.getByLabel('Content').fill('{"a": 1}\n')
  await dialog.getByLabel(/^Path in the container/).fill('/etc/passwd')
  await dialog.getByRole('checkbox', { name: /^Secret/ }).uncheck()
  await button('Add file').click()
  await dialog.getByRole('alert').getByText('must not be directly in /etc').waitFor()
  await dialog.getByLabel(/^Path in the container/).fill('/app/app.json')
  await button('Add file').click()
  await files.getByText('/app/app.json').waitFor()
  await act('app.json', 'Show and edit…')
  expect(await dialog.getByLabel('Content').inputValue()).toBe('{"a": 1}\n')
  await dialog.getByLabel('Mode').selectOption('0444')
  await button('Replace file').click()
  await files.getByText('mode 0444').waitFor()

  await button('Add a file').click()
  const buffer = Buffer.from([0, 13, 10, 255])
  const chosen = { name: 'my key.p12', mimeType: 'application/octet-stream', buffer }
  await dialog.getByLabel('File of this computer').setInputFiles(chosen)
  await button('Add file').click()
  await files.getByText('/etc/secrets/my-key.p12').waitFor()
  const { body } = await server.api('GET', '/env-groups/files/secret-files/my-key.p12')
  expect(body).toMatchObject({ content_base64: buffer.toString('base64'), secret: true })
  await button('Actions of my-key.p12').click()
  await page.getByRole('menuitem', { name: 'Replace…' }).waitFor()
  expect(await page.getByRole('menuitem', { name: /Show|Download/ }).count()).toBe(0)
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await button('Delete file').click()
  await files.getByText('/etc/secrets/my-key.p12').waitFor({ state: 'detached' })

  await page.goto('/services/linked/variables')
  await files.getByText('No secret files.').waitFor()
  await server.api('PUT', '/services/linked/secret-files/appears', { content: 'x' })
  await files.getByText('/etc/secrets/appears').waitFor()
  expect(browser.faults).toEqual([])
})

test('a custom domain comes with its record and where it points, and is removed only after confirmation', async () => {
  await server.api('POST', '/services', { name: 'site', deploy: false })
  await server.api('POST', '/services/site/domains', { domain: 'www.brand.example' })
  await page.goto('/services/site/settings')
  const card = page.getByRole('region', { name: 'Custom domains' })
  await card
    .getByRole('row', { name: /www\.brand\.example/ })
    .getByText('203.0.113.7')
    .waitFor()
  await card.getByText('Waiting for DNS').waitFor()
  await button('Remove www.brand.example…').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await card.getByText('www.brand.example', { exact: true }).first().waitFor({ state: 'detached' })
  expect((await server.api('GET', '/services/site/domains')).body).toEqual([])
  expect(browser.faults).toEqual([])
})

test('on a phone a certificate is a card whose parts are all visible', async () => {
  await page.setViewportSize(PHONE)
  await page.goto('/domains')
  const row = page.getByRole('row', { name: /linked\.apps\.example\.com/ })
  const badge = await row.getByText('HTTPS is off').boundingBox()
  expect(badge!.x + badge!.width).toBeLessThan(PHONE.width)
})
