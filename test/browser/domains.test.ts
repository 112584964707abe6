import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPlace, type Place } from '../acme/place.ts'
import { waitFor } from '../support/wait.ts'
import { setUp, TestBrowser } from './browser.ts'

const DASHBOARD = 'https://panel.example.com'

let place: Place
let browser: TestBrowser

beforeAll(async () => {
  place = await startPlace({ server: { flags: ['--dashboard-host', 'panel.example.com'] } })
  browser = await TestBrowser.launch(`--host-resolver-rules=MAP *.example.com ${place.ip}`)
  await place.reaches('panel.example.com', 'issued')
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await place?.stop()
})

test('the dashboard is set up and used at its own host over HTTPS', async () => {
  // The authority's root is new each time; other clients test that its certificates are good.
  const page = await browser.open(DASHBOARD, { ignoreHTTPSErrors: true })
  await setUp(page, place.server.setupCode)
  const [cookie] = await page.context().cookies()
  expect(cookie).toMatchObject({
    name: 'deployer_session_443',
    secure: true,
    httpOnly: true,
    sameSite: 'Strict',
  })

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Domains' }).click()
  const base = page.getByRole('article', { name: 'example.com' })
  await base.getByText('Active').waitFor()
  const certificates = page.getByRole('row', { name: /panel\.example\.com/ })
  await certificates.getByText('this dashboard').waitFor()
  await certificates.getByText('Issued', { exact: true }).waitFor()

  // A domain whose names point nowhere yet comes with its records, and is watched while it waits.
  await place.names.setDefault(null)
  await page.getByRole('button', { name: 'Connect a domain' }).click()
  await page.getByRole('textbox', { name: 'Domain' }).fill('192.0.2.1')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByText('must be a domain name, not an IP address').waitFor()
  await page.getByRole('textbox', { name: 'Domain' }).fill('Shop.Example.')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  const shop = page.getByRole('article', { name: 'shop.example' })
  await shop.getByText('Waiting for DNS').waitFor()
  await shop
    .getByRole('row', { name: /\*\.shop\.example/ })
    .getByText(place.ip)
    .waitFor()
  await shop.getByRole('list', { name: 'Checks' }).getByText('Failed').waitFor()
  await place.names.setDefault(place.ip)
  await shop.getByText('Active').waitFor()
  await shop.getByRole('button', { name: 'Make default' }).click()
  await shop.getByText('Default', { exact: true }).waitFor()
  await shop.getByRole('button', { name: 'Disconnect…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await waitFor(async () => (await shop.count()) === 0, 'the domain to be gone')
  await base.getByText('Default', { exact: true }).waitFor()
  expect(browser.faults).toEqual([])
})

test('a custom domain is added in the settings of a service, shows its certificate, and is removed', async () => {
  await place.server.api('POST', '/services', { name: 'web' })
  const page = await browser.enter(place.server)
  const { body: service } = await place.server.api('GET', '/services/web')
  await page.goto(`/services/${service.id}/settings`)
  const card = page.getByRole('region', { name: 'Custom domains' })
  await card.getByLabel('Add a domain').fill('web.example.com')
  await card.getByRole('button', { name: 'Add', exact: true }).click()
  await card.getByText('where services get hosts from their own names').waitFor()
  for (const host of ['www.brand.example', 'brand.example']) {
    await card.getByLabel('Add a domain').fill(host)
    await card.getByRole('button', { name: 'Add', exact: true }).click()
    await card.getByText(host, { exact: true }).first().waitFor()
  }
  await waitFor(
    async () => (await card.getByText('Issued', { exact: true }).count()) === 2,
    'both certificates',
  )
  await card.getByLabel('Canonical domain').selectOption('www.brand.example')
  await waitFor(
    async () =>
      (await place.server.api('GET', '/services/web')).body.canonical_domain === 'www.brand.example',
    'the canonical domain',
  )
  const refusal = { status: 409, json: { error: { code: 'conflict', message: 'it is being deleted' } } }
  await page.route(/\/services\/[^/]+$/, (route) =>
    route.request().method() === 'PATCH' ? route.fulfill(refusal) : route.continue(),
  )
  await card.getByLabel('Canonical domain').selectOption('brand.example')
  await card.getByRole('alert').getByText('It is being deleted').waitFor()
  expect(await card.getByLabel('Canonical domain').getAttribute('aria-invalid')).toBe('true')
  expect(await card.getByLabel('Canonical domain').inputValue()).toBe('www.brand.example')
  await page.unroute(/\/services\/[^/]+$/)
  expect(await place.ask('brand.example', { path: '/x' })).toMatchObject({
    status: 308,
    headers: { location: 'https://www.brand.example/x' },
  })
  await card.getByRole('button', { name: 'Remove brand.example…', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await waitFor(
    async () => (await card.getByText('brand.example', { exact: true }).count()) === 0,
    'it to be gone',
  )
  expect(browser.faults).toEqual([])
})
