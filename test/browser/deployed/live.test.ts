import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../../support/server.ts'
import { DIALOG, findingsOf } from '../axe.ts'
import { TestBrowser, waitForBadge } from '../browser.ts'

const SERVE = 'echo serving; mkdir -p /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer({ engine: true })
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
  await server.api('POST', '/services', { name: 'shop', image: 'busybox:1', start_command: SERVE })
  await page.goto('/services/shop')
  await waitForBadge(page, 'Running')
  await page.locator('link[rel=icon]:not([href*=failed]):not([href*=working])').waitFor({ state: 'attached' })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

const undeployed = () => page.getByRole('button', { name: /not live$/ })

test('changes that are not live yet are shown until they are deployed; scaling does not count', async () => {
  await page.getByRole('heading', { name: 'Live version' }).waitFor()
  await page.getByRole('button', { name: 'Add one instance' }).press('Enter')
  await page.getByText('Scaled to 2 instances').waitFor()
  await page.getByRole('button', { name: 'Add one instance' }).and(page.locator(':focus')).waitFor()
  expect(await undeployed().count()).toBe(0)
  await server.api('PATCH', '/services/shop/env', { set: { LEVEL: 'debug' } })
  await page.getByRole('button', { name: '1 change not live' }).click()
  const dialog = page.getByRole('dialog', { name: '1 change not live' })
  await dialog.getByRole('region', { name: 'Variables' }).getByText('LEVEL added').waitFor()
  await dialog.getByRole('button', { name: 'Deploy' }).click()
  await page.waitForURL(/\/deploys\/dep-/)
  await waitForBadge(page, 'Live')
  await page.goBack()
  await undeployed().waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByLabel('Health check path').fill('/')
  await page.getByRole('button', { name: 'Save and deploy' }).click()
  await page.waitForURL(/\/deploys\/dep-/)
  await waitForBadge(page, 'Live')
  expect((await server.api('GET', '/services/shop')).body.health_check_path).toBe('/')
  await page.goto('/services/shop')
  await page.getByRole('heading', { name: 'Live version' }).waitFor()
  expect(await undeployed().count()).toBe(0)
  expect(browser.faults).toEqual([])
})

test('the overview shows what happens as it happens, the last lines and what depends on it', async () => {
  const timeline = page.getByRole('region', { name: 'Timeline' })
  const today = timeline.getByRole('region', { name: 'Today' }).getByRole('listitem')
  await today.filter({ hasText: 'Settings saved: health_check_path' }).getByText('by ada@').waitFor()
  await server.api('PATCH', '/services/shop', { drain_seconds: 5 })
  await today.first().getByText('Settings saved: drain_seconds').waitFor()
  await today.first().getByText('by the server token').waitFor()
  // One entry for each deploy: its start is of no interest once it is live.
  expect(await timeline.getByText(/^Deploy started/).count()).toBe(0)
  await timeline
    .getByRole('link', { name: /^Deploy of / })
    .first()
    .waitFor()
  await page.getByRole('log', { name: 'Last lines' }).getByText('serving').first().waitFor()
  await server.api('POST', '/services', {
    ...{ name: 'cart', image: 'busybox:1', deploy: false },
    env: [{ key: 'SHOP', value: '${{service.shop.url}}' }],
  })
  const connections = page.getByRole('region', { name: 'Connections' })
  await connections.getByRole('link', { name: 'cart' }).waitFor()
  await page
    .getByRole('region', { name: 'Last hour' })
    .getByRole('img', { name: /^Memory\./ })
    .waitFor()
  await server.api('DELETE', '/services/cart')
  await connections.waitFor({ state: 'detached' })
  expect(browser.faults).toEqual([])
})

test('what differs is shown old and new, for a deploy, a rollback and what is saved, which can be discarded', async () => {
  await page.getByRole('link', { name: 'View log' }).click()
  await page.locator('summary', { hasText: 'Changes' }).click()
  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByText('Health check path').waitFor()
  expect(
    (await settings.innerText())
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean),
  ).toEqual([...['Settings', 'Health check path', 'Before:', 'not set', 'After:', '/']])
  const first = (await server.api('GET', '/services/shop/deploys')).body.at(-1).id
  await page.getByLabel('Compared with').selectOption(first)
  await page.getByRole('region', { name: 'Variables' }).getByText('LEVEL added').waitFor()
  expect(await findingsOf(page, 'details[open]')).toEqual([])

  await page.goto('/services/shop/deploys')
  await page.getByRole('button', { name: 'Roll back to' }).last().click()
  const rollback = page.getByRole('dialog', { name: 'Roll back to this version?' })
  await rollback.getByRole('region', { name: 'What changes' }).getByText('LEVEL removed').waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await rollback.getByRole('button', { name: 'Cancel' }).click()

  await server.api('PATCH', '/services/shop', { health_check_path: '/health' })
  await server.api('PATCH', '/services/shop/env', { set: { LEVEL: 'info' } })
  await page.getByRole('button', { name: '2 changes not live' }).click()
  const saved = page.getByRole('dialog', { name: '2 changes not live' })
  await saved.getByText('/health').waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await saved.getByRole('button', { name: 'Discard…' }).click()
  const discard = page.getByRole('dialog', { name: 'Discard 2 changes?' })
  // What somebody else saves meanwhile is not what was agreed to.
  await server.api('PATCH', '/services/shop', { start_command: 'other' })
  await page.getByText('3 changes not live').waitFor()
  await discard.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('button', { name: '1 change not live' }).waitFor()
  await server.api('POST', '/services/shop/changes/discard', {})
  await undeployed().waitFor({ state: 'detached' })
  expect((await server.api('GET', '/services/shop')).body.health_check_path).toBe('/')
  expect((await server.api('GET', '/services/shop/env')).body).toEqual([{ key: 'LEVEL', value: 'debug' }])
  await page.goto('/services/shop')
  expect(browser.faults).toEqual([])
})

test('the live version is shown next to a newest deploy that failed, whose error is plain text', async () => {
  await server.api('PATCH', '/services/shop', {
    start_command: String.raw`printf '\033[31mno \033]0;title\007such file\033[0m\n'; exit 2`,
  })
  await server.api('POST', '/services/shop/deploys', {})
  const latest = page.getByRole('region', { name: 'Latest deploy' })
  await latest.getByText('Deploy failed').waitFor()
  expect(await latest.getByRole('group', { name: 'Reason' }).innerText()).toMatch(
    /^The program ended 3 times: exit code 2\nno such file$/,
  )
  await latest.getByText('The live version keeps serving.').waitFor()
  expect(await page.title()).toContain('shop (failed)')
  await page.locator('link[rel=icon][href*=failed]').waitFor({ state: 'attached' })
  await page.getByRole('region', { name: 'Live version' }).getByText('Live', { exact: true }).waitFor()
  await undeployed().waitFor()
  expect(browser.faults).toEqual([])
})

test('a shell opens in an instance, shows what is typed, and ends with its page', async () => {
  await page.goto('/services/shop/shell')
  const panel = page.getByRole('region', { name: 'Terminal' })
  const shown = panel.locator('.xterm-rows')
  await panel.getByText(/^Not open\. It opens in instance [0-9a-f]{5}\.$/).waitFor()
  await panel.getByRole('button', { name: 'Open shell' }).click()
  await panel.getByText(/^Open in instance [0-9a-f]{5}$/).waitFor()
  const title = await page.title()
  // A program can neither rename the page nor write to the clipboard.
  await page.keyboard.type(
    String.raw`printf '\033]0;mine\007\033]52;c;bWluZQ==\007'; echo "<b>$((40 + 2))</b>"`,
  )
  await page.keyboard.press('Enter')
  await shown.getByText('<b>42</b>', { exact: true }).waitFor()
  expect(await page.title()).toBe(title)
  // The terminal takes Tab; this leads out of it.
  await page.keyboard.press('Control+Shift+Enter')
  await panel.getByRole('combobox', { name: 'Open it in' }).waitFor()
  expect(await page.evaluate('document.activeElement.closest(".xterm") === null')).toBe(true)
  await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Overview' }).click()
  const leaving = page.getByRole('dialog', { name: 'Leave and close the shell?' })
  await leaving.getByRole('button', { name: 'Stay' }).click()
  await panel.locator('.xterm-screen').click()
  await page.keyboard.type('exit 3')
  await page.keyboard.press('Enter')
  await panel.getByText('The program ended with exit code 3.').waitFor()
  await panel.getByRole('combobox', { name: 'Open it in' }).selectOption('Fresh container')
  await panel.getByRole('button', { name: 'Open again' }).click()
  await panel.getByText('Open in a fresh container').waitFor()
  await panel.getByRole('button', { name: 'Close' }).click()
  await panel.getByText(/^Not open/).waitFor()
  await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('heading', { name: 'Live version' }).waitFor()
  expect(browser.faults).toEqual([])
})

test('scaling to 0 asks for confirmation', async () => {
  await page.getByRole('button', { name: 'Remove one instance' }).click()
  await page.getByText('Scaled to 1 instance').waitFor()
  await page.getByRole('button', { name: 'Remove one instance' }).click()
  const dialog = page.getByRole('dialog', { name: 'Scale shop to 0?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await server.api('GET', '/services/shop')).body.instances).toBe(1)
  await page.getByRole('button', { name: 'Remove one instance' }).click()
  await dialog.getByRole('button', { name: 'Scale to 0' }).click()
  await waitForBadge(page, 'Scaled to 0')
  expect(browser.faults).toEqual([])
})

test('the version of a suspended service is not called live', async () => {
  await server.api('POST', '/services/shop/suspend')
  const version = page.getByRole('region', { name: 'Suspended version' })
  await version.getByText('Suspended', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Latest deploy' }).getByText('The service is suspended.').waitFor()
  expect(await page.getByText('Live version').count()).toBe(0)
  expect(browser.faults).toEqual([])
})

test('the page of a service that is deleted elsewhere says so', async () => {
  await server.api('DELETE', '/services/shop')
  await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
  await page.getByText('This service does not exist').waitFor()
  expect(browser.faults).toEqual([])
})
