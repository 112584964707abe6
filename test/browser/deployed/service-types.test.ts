import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../../support/server.ts'
import { TestBrowser, waitForBadge } from '../browser.ts'

/** A schedule that does not come due while the tests run. */
const RARELY = '0 0 29 2 *'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer({ engine: true })
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

async function tabs(): Promise<string[]> {
  return page.getByRole('navigation', { name: 'Service', exact: true }).getByRole('link').allInnerTexts()
}

test('an uploaded folder of files becomes a static site without instances, scale or a log of its own', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'site-'))
  const folder = join(parent, 'hours')
  for (const left of ['.git', 'node_modules/left']) {
    mkdirSync(join(folder, left), { recursive: true })
    writeFileSync(join(folder, left, 'out'), 'not sent')
  }
  writeFileSync(join(folder, 'index.html'), '<h1>Opening hours</h1>')
  await page.goto('/services/new')
  await page.getByText('Upload', { exact: true }).click()
  await page.getByLabel('Choose a folder').setInputFiles(folder)
  await page.getByText('hours.tar.gz').waitFor()
  await page.getByText(/^1 file, packed to/).waitFor()
  await page.getByLabel('Type').selectOption('Static site')
  await page.getByText('Build and publish directory').click()
  await page.getByLabel('Publish directory').waitFor()
  for (const absent of ['Port', 'Start command', 'Health check path', 'Schedule', 'Disk'])
    expect([absent, await page.getByLabel(absent).count()]).toEqual([absent, 0])
  await page.getByLabel('Runtime').selectOption('Files as they are')
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await page.waitForURL(/\/deploys\/dep-/)
  await waitForBadge(page, 'Live')
  rmSync(parent, { recursive: true })

  await page.getByRole('link', { name: 'hours', exact: true }).click()
  await page.waitForURL('**/services/hours')
  await waitForBadge(page, 'Live')
  expect(await tabs()).toEqual(['Overview', 'Deploys', 'Metrics', 'Variables', 'Edge', 'Settings'])
  expect(await page.getByRole('heading', { name: 'Instances' }).count()).toBe(0)
  const opened = page.waitForEvent('popup')
  await page.getByRole('link', { name: 'Open', exact: true }).click()
  const site = await opened
  expect(await site.getByRole('heading').innerText()).toBe('Opening hours')
  await site.close()
  expect(browser.faults).toEqual([])
})

test('a cron job shows when it is due, runs at once on request, and shows its output', async () => {
  await page.goto('/services/new')
  await page.getByText('Container image', { exact: true }).click()
  await page.getByLabel('Image', { exact: true }).fill('busybox:1')
  await page.getByLabel('Name', { exact: true }).fill('report')
  await page.getByLabel('Type').selectOption('Cron job')
  await page.getByLabel('Schedule').fill(RARELY)
  await page.getByText('On the 29th of February at 00:00 UTC').waitFor()
  expect(await page.getByRole('cell', { name: /29 Feb \d{4}, 00:00 UTC/ }).count()).toBeGreaterThanOrEqual(5)
  await page.getByLabel('Command optional', { exact: true }).fill('echo three sheets; exit 4')
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await waitForBadge(page, 'Live')

  await page.getByRole('link', { name: 'report', exact: true }).click()
  await page.waitForURL('**/services/report')
  await waitForBadge(page, 'Scheduled')
  expect(await tabs()).toEqual(['Overview', 'Deploys', 'Shell', 'Runs', 'Variables', 'Settings'])
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByText('No runs yet').waitFor()
  await page.getByText('echo three sheets; exit 4', { exact: true }).waitFor()
  await page.getByText('On the 29th of February at 00:00 UTC').waitFor()
  await page.getByRole('button', { name: 'Run now' }).click()
  await page.waitForURL(/\/runs\/job-[0-9a-f]{20}$/)
  await waitForBadge(page, 'Failed')
  await page.getByRole('log').getByText('three sheets', { exact: true }).waitFor()
  await page.getByText('exit code 4', { exact: true }).waitFor()

  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  const row = page.getByRole('list', { name: 'Runs, newest first' }).getByRole('listitem')
  await waitForBadge(page, 'Run failed')
  expect(await row.innerText()).toMatch(/Failed[^]*three sheets[^]*Started by hand · .* · exit code 4/)
  await page.goto('/services')
  await page.getByRole('link', { name: 'Last run failed, just now' }).click()
  await page.waitForURL(/\/services\/report\/runs\/job-[0-9a-f]{20}$/)
  expect(browser.faults).toEqual([])
})

test('a command runs next to a service and is canceled', async () => {
  await server.api('POST', '/services', {
    name: 'worker',
    type: 'background_worker',
    image: 'busybox:1',
    start_command: 'sleep 3600',
  })
  await page.goto('/services/worker/runs')
  await waitForBadge(page, 'Running')
  await page.getByRole('button', { name: 'Run a command…' }).click()
  await page.getByRole('textbox', { name: 'Command' }).fill('echo begun; sleep 3600')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.waitForURL(/\/runs\/job-/)
  await page.getByRole('log').getByText('begun', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await page.getByRole('button', { name: 'Cancel run' }).click()
  await waitForBadge(page, 'Canceled')
  expect(browser.faults).toEqual([])
})
