import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

const ARCHIVE = { name: 'app.tar.gz', mimeType: 'application/gzip', buffer: await archive() }

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

async function archive(): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'index.html' }, 'from a folder')
  tar.finalize()
  return gzipSync(await buffer(tar))
}

/** Keeps an upload under way; returns a function that lets it arrive. */
async function holdUpload(): Promise<() => Promise<void>> {
  const held = Promise.withResolvers<void>()
  await page.route('**/deploys/upload*', async (route) => {
    await held.promise
    await route.continue().catch(() => {})
  })
  return async () => {
    held.resolve()
    await page.unroute('**/deploys/upload*')
  }
}

async function deploysOf(name: string): Promise<unknown[]> {
  return (await server.api('GET', `/services/${name}/deploys`)).body
}

test('an upload whose dialog is closed is canceled, and leads nowhere', async () => {
  await server.api('POST', '/services', { name: 'brochure' })
  await page.goto('/services/brochure')
  const arrive = await holdUpload()
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/deploys/upload'))
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Choose a .tar.gz file').setInputFiles(ARCHIVE)
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await dialog.getByRole('progressbar').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await ended
  await arrive()
  expect(await deploysOf('brochure')).toEqual([])
  // It can be started again.
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  expect(await dialog.getByRole('progressbar').count()).toBe(0)
  await dialog.getByLabel('Choose a .tar.gz file').setInputFiles(ARCHIVE)
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.waitForURL('**/services/brochure/deploys/dep-*')
  expect(await deploysOf('brochure')).toHaveLength(1)
  expect(browser.faults).toEqual([])
})

test('leaving the page of a new service during its upload does not lead back, and says what was created', async () => {
  const arrive = await holdUpload()
  const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/deploys/upload'))
  await page.goto('/services/new')
  await page.getByText('Upload', { exact: true }).click()
  await page.getByLabel('Choose a .tar.gz file').setInputFiles(ARCHIVE)
  await page.getByLabel('Name', { exact: true }).fill('left-alone')
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await page.getByRole('progressbar').waitFor()
  await page.getByRole('link', { name: 'Account' }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await ended
  await arrive()
  await page.getByText('left-alone was created. The upload was interrupted').waitFor()
  expect(new URL(page.url()).pathname).toBe('/account')
  expect(await deploysOf('left-alone')).toEqual([])
  // Unsaved work is asked about again.
  await page.goto('/services/new')
  await page.getByLabel('Name', { exact: true }).fill('not-saved')
  await page.getByRole('link', { name: 'Account' }).click()
  await page.getByRole('button', { name: 'Leave' }).waitFor()
  expect(browser.faults).toEqual([])
})

test('an upload that something other than the server answers says so', async () => {
  await server.api('POST', '/services', { name: 'leaflet' })
  await page.goto('/services/leaflet')
  await page.route('**/deploys/upload*', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<html>Sign in to the network</html>' }),
  )
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Choose a .tar.gz file').setInputFiles(ARCHIVE)
  await dialog.getByRole('button', { name: 'Deploy', exact: true }).click()
  await dialog.getByText('Something between you and the server answered instead').waitFor()
  await page.unroute('**/deploys/upload*')
})

test('a sample is deployed without a source, as its line says', async () => {
  const isKnown = Promise.withResolvers<void>()
  await page.route('**/api/v1/samples', async (route) => {
    await isKnown.promise
    await route.continue()
  })
  await page.goto('/services/new?source=sample')
  // Nothing is created before it is known what is deployed.
  const create = page.getByRole('button', { name: 'Create and deploy' })
  expect(await create.isDisabled()).toBe(true)
  isKnown.resolve()
  await page.getByRole('radio', { name: /^A static site/ }).waitFor()
  const name = page.getByLabel('Name', { exact: true })
  await expect.poll(() => name.inputValue()).toBe('site')
  await name.fill('first-site')
  await page
    .getByText('deployer deploy --sample site --service first-site --create', { exact: true })
    .waitFor()
  await create.click()
  await page.waitForURL('**/services/first-site/deploys/dep-*')
  expect((await server.api('GET', '/services/first-site')).body).toMatchObject({
    type: 'static_site',
    latest_deploy: { trigger: 'upload' },
  })
  expect(browser.faults).toEqual([])
})
