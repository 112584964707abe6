import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Page } from 'playwright-core'
import { fetchFrom } from '../../engine/live.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { waitFor } from '../../support/wait.ts'
import { PHONE, TestBrowser, waitForBadge } from '../browser.ts'

const DESKTOP = { width: 1280, height: 900 }
const SERVE = 'mkdir -p /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer({ engine: true })
  browser = await TestBrowser.launch()
  page = await browser.enter(server, { viewport: DESKTOP })
  await server.api('POST', '/services', { name: 'shop', image: 'busybox:1', start_command: SERVE })
  await page.goto('/services/shop')
  await waitForBadge(page, 'Running')
  for (let request = 0; request < 20; request++) await fetchFrom(server, 'shop.localhost')
  const isCounted = async () =>
    (await server.api('GET', '/services/shop/metrics')).body.requests.some(
      (point: { status_2xx: number }) => point.status_2xx > 0,
    )
  await waitFor(isCounted, 'a reading with the requests')
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

const section = (name: string) =>
  page.getByRole('navigation', { name: 'Server' }).getByRole('link', { name, exact: true }).click()
const chart = (title: string) => page.getByRole('figure').filter({ hasText: title }).getByRole('img')

test('the metrics of the server are drawn and described in words', async () => {
  await page.goto('/server')
  const pages = page.getByRole('list', { name: 'Pages of the server' }).getByRole('listitem')
  await pages
    .filter({ hasText: 'Doctor' })
    .getByText(/ passed, /)
    .waitFor()
  await pages
    .filter({ hasText: 'Disk' })
    .getByText(/ free of /)
    .waitFor()
  await pages.filter({ hasText: 'Backups' }).getByText('No backup yet').waitFor()
  await pages.filter({ hasText: 'Audit log' }).getByText('the server token').waitFor()
  await pages.getByRole('link', { name: 'Metrics' }).click()
  await page.waitForURL('**/server/metrics')
  expect(await chart('CPU of the machine').getAttribute('aria-label')).toMatch(/CPU: now .* %, between/)
  await chart('Requests').locator('canvas').waitFor()
  await page.getByRole('region', { name: 'Containers now' }).getByRole('link', { name: 'shop' }).waitFor()
  await page
    .getByRole('region', { name: 'Requests in this range' })
    .getByRole('link', { name: 'shop' })
    .waitFor()
  expect(browser.faults).toEqual([])
})

test('another range is in the address, which restores it', async () => {
  await page.getByRole('button', { name: '24 hours' }).click()
  await page.waitForURL('**/server/metrics?range=24h')
  // As an address named it before.
  await page.goto('/server?range=24h')
  await page.getByRole('button', { name: '24 hours', pressed: true }).waitFor()
  await chart('Memory of the machine').locator('canvas').waitFor()
  expect(browser.faults).toEqual([])
})

test('a service shows its requests, the slowest of them, its instances and its deploys', async () => {
  await page.goto('/services/shop')
  await page.getByRole('link', { name: 'Metrics' }).click()
  await page.waitForURL('**/services/shop/metrics')
  expect(await chart('Response time').getAttribute('aria-label')).toMatch(/p95: now .* ms/)
  expect(await chart('Memory of its instances').getAttribute('aria-label')).toMatch(/now .* [KM]iB/)
  const deploys = page.getByRole('region', { name: 'Deploys in this range' })
  await deploys.getByRole('link').click()
  await page.waitForURL(/\/deploys\/dep-/)
  expect(browser.faults).toEqual([])
})

test("the server's log is shown by level, and the level is in the address", async () => {
  await page.goto('/server')
  await section('Log')
  await page.getByText('API and dashboard at').first().waitFor()
  await page.getByLabel('Level').selectOption('error')
  await page.waitForURL('**/server/logs?level=error')
  await page.getByText('No lines at this level').waitFor()
  expect(browser.faults).toEqual([])
})

test('the doctor examines the server on request, and shows what needs attention first', async () => {
  await page.goto('/server')
  await section('Doctor')
  const checks = page.getByRole('list', { name: 'Checks' }).getByRole('listitem')
  await checks.filter({ hasText: 'Container engine' }).getByText('Passed').waitFor()
  await server.api('POST', '/datastores', { name: 'orders', kind: 'keyvalue' })
  const backups = checks.filter({ hasText: 'Backups of datastores' })
  await backups.getByText('there are no datastores').waitFor()
  await page.getByRole('button', { name: 'Check again' }).click()
  await backups.getByText('orders has no schedule').waitFor()
  await server.api('DELETE', '/datastores/orders')
  expect(browser.faults).toEqual([])
})

test('the log of a service is narrowed to one of its instances, and the address keeps that', async () => {
  await server.api('POST', '/services', {
    name: 'pair',
    image: 'busybox:1',
    type: 'background_worker',
    instances: 2,
    start_command: 'echo "I am $HOSTNAME"; sleep 1000000',
  })
  await page.goto('/services/pair/logs')
  const lines = page.getByRole('log').getByText(/^I am/)
  await lines.nth(1).waitFor()
  const chosen = await page.getByLabel('Instance', { exact: true }).locator('option').nth(1).textContent()
  await page.getByLabel('Instance', { exact: true }).selectOption(chosen)
  await page.waitForURL(`**/logs?instance=${chosen}`)
  await waitFor(async () => (await lines.count()) === 1, 'the lines of one alone')
  await page.reload()
  await waitFor(async () => (await lines.count()) === 1, 'the same again')
  expect(browser.faults).toEqual([])
})

test('a notification that fails says so and why, and is limited to services', async () => {
  await page.goto('/notifications')
  await page.getByRole('button', { name: 'New notification' }).click()
  await page.getByLabel('Name').fill('Team')
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await page.getByLabel('All events').check()
  await page.getByLabel('These services').check()
  await page.keyboard.press('ArrowUp')
  expect(await page.getByLabel('All services').isChecked()).toBe(true)
  await page.keyboard.press('ArrowDown')
  await page.setViewportSize({ ...PHONE, height: 600 })
  await page.getByRole('button', { name: 'Create' }).click()
  const refusal = page.getByText('Choose at least one of the services, or all services.')
  await refusal.waitFor()
  const { y, height } = (await refusal.boundingBox())!
  expect(y + height).toBeLessThan(600)
  await page.setViewportSize(DESKTOP)
  await page.getByLabel('pair', { exact: true }).check()
  await page.getByRole('button', { name: 'Create' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  await server.api('POST', '/services/pair/deploys')
  const card = page.getByRole('list', { name: 'Notifications' }).getByRole('listitem')
  await card.getByText('Failing').waitFor()
  await card.getByText('Nothing answers at 127.0.0.1:9').waitFor()
  await card.getByText('1 service').waitFor()
  expect(browser.faults).toEqual([])
})

test('a log drain is changed on its page, which shows the result of its lines', async () => {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  await page.goto('/notifications')
  await page.getByRole('button', { name: 'New drain' }).click()
  await page.getByLabel('Kind').selectOption('http')
  await page.getByLabel('Name').fill('Archive')
  await page.getByLabel('URL').fill('http://127.0.0.1:9/logs')
  await page.getByLabel(/^Token/).fill('a-long-secret-token')
  await page.getByRole('button', { name: 'Create' }).click()
  const drain = page.getByRole('list', { name: 'Log drains' }).getByRole('listitem').first()
  await server.api('POST', '/services/pair/deploys')
  // The page requests it every 10 s.
  const known = async () => (await server.api('GET', '/log-drains')).body[0]
  await waitFor(async () => (await known()).last_error !== null, 'the failure')
  await page.reload()
  await drain.getByText('Failing').waitFor()
  await drain.getByRole('button', { name: 'Deliveries' }).click()
  await drain.getByText('Failed', { exact: true }).first().waitFor()
  await drain.getByRole('button', { name: 'Change' }).click()
  await page.getByText('Leave empty to keep the current token (…oken).').waitFor()
  await page.getByLabel('URL').fill(`${receiver.url}/logs`)
  await page.getByLabel(/^Token/).fill('another-secret-token')
  await page.getByRole('button', { name: 'Save' }).click()
  await waitFor(() => receiver.received.length > 0, 'the lines')
  expect(receiver.received[0]!.headers.authorization).toBe('Bearer another-secret-token')
  await waitFor(async () => (await known()).sent > 0, 'the success')
  await page.reload()
  await drain.getByRole('button', { name: 'Deliveries' }).click()
  await drain.getByText('Delivered', { exact: true }).first().waitFor()
  expect(browser.faults).toEqual([])
})
