import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../../support/server.ts'
import { TestBrowser, waitForBadge } from '../browser.ts'

const SERVE = 'mkdir -p /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www'

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
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

const undeployed = () => page.getByText('are not live yet')

test('changes that are not live yet are shown until they are deployed; scaling does not count', async () => {
  await page.getByRole('heading', { name: 'Live version' }).waitFor()
  await page.getByRole('button', { name: 'Add one instance' }).press('Enter')
  await page.getByText('Scaled to 2 instances').waitFor()
  await page.getByRole('button', { name: 'Add one instance' }).and(page.locator(':focus')).waitFor()
  expect(await undeployed().count()).toBe(0)
  await server.api('PATCH', '/services/shop/env', { set: { LEVEL: 'debug' } })
  await undeployed().waitFor()
  await page.getByRole('button', { name: 'Deploy them' }).click()
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
  await page.getByRole('region', { name: 'Live version' }).getByText('Live', { exact: true }).waitFor()
  await undeployed().waitFor()
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

test('the page of a service that is deleted elsewhere says so', async () => {
  await server.api('DELETE', '/services/shop')
  await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
  await page.getByText('This service does not exist').waitFor()
  expect(browser.faults).toEqual([])
})
