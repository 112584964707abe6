import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer
let page: Page
/** Paths under /api/v1 that the page has requested. */
let asked: string[] = []

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname.startsWith('/api/v1/')) asked.push(pathname.slice('/api/v1'.length) + search)
  })
  await server.api('POST', '/environments', { name: 'staging' })
  const names = Array.from({ length: 30 }, (_, at) => `shop-${10 + at}`)
  await Promise.all(names.map((name) => server.api('POST', '/services', { name, deploy: false })))
  await server.api('POST', '/services', { name: 'shop-10', environment: 'staging', deploy: false })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

const focused = () =>
  page.evaluate<string>('document.activeElement.tagName + " " + document.activeElement.innerText')

test('services of every environment are in the list, under the name of their environment', async () => {
  await page.goto('/services')
  const staging = page.getByRole('list', { name: 'Services in staging' })
  await staging.getByRole('link', { name: 'shop-10', exact: true }).click()
  await page.waitForURL('**/services/shop-10.staging')
  await page.getByText('Web service in staging').waitFor()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.reload()
  await page.getByText('Web service in staging').waitFor()
  expect(browser.faults).toEqual([])
})

test('the palette finds services of every environment and names the environment', async () => {
  await page.goto('/services')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('shop-10 staging')
  await page.getByRole('option', { name: 'shop-10 Service in staging' }).click()
  await page.waitForURL('**/services/shop-10.staging')
})

test('the services are fetched once per load, and a change fetches the one service', async () => {
  asked = []
  await page.goto('/services')
  await page.getByRole('link', { name: 'shop-39', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'shop-39', exact: false }).first().waitFor()
  await page.keyboard.press('Escape')
  expect(asked.filter((path) => path === '/services')).toHaveLength(1)
  asked = []
  const { body } = await server.api('PATCH', '/services/shop-39', { name: 'renamed' })
  await page.getByRole('link', { name: 'renamed', exact: true }).waitFor()
  expect(asked).toEqual([`/services/${body.id}`])
  await server.api('PATCH', '/services/renamed', { name: 'shop-39' })
})

test('a page follows its service through a change of its name', async () => {
  await page.goto('/services/shop-38/deploys')
  await page.getByRole('heading', { name: 'shop-38' }).waitFor()
  await server.api('PATCH', '/services/shop-38', { name: 'moved' })
  await page.waitForURL('**/services/moved/deploys')
  await page.getByRole('heading', { name: 'moved' }).waitFor()
  expect(browser.faults).toEqual([])
})

test('navigation moves the focus to the heading of the page, a first load does not', async () => {
  await page.goto('/services')
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await focused()).not.toContain('H1')
  await page.getByRole('link', { name: 'shop-12', exact: true }).click()
  await expect.poll(focused).toContain('H1 shop-12')
  await page.getByRole('link', { name: 'Variables' }).click()
  await expect.poll(focused).toMatch(/^H1 shop-12\s*, Variables$/)
  await page.goBack()
  await page.goBack()
  await expect.poll(focused).toBe('H1 Services')
})

test("how long ago something was is calculated with the server's clock", async () => {
  const other = await browser.open(server.url, { storageState: await page.context().storageState() })
  await other.clock.install({ time: Date.now() - 7 * 3_600_000 })
  await other.goto('/services/shop-12')
  await other.getByRole('complementary', { name: 'Details' }).getByText('just now').waitFor()
  await other.context().close()
})

test('older deploys that are loaded with the keyboard keep the focus there', async () => {
  const { body: service } = await server.api('GET', '/services/shop-12')
  const deploy = (at: number) => ({
    id: `dep-${String(at).padStart(20, '0')}`,
    service_id: service.id,
    status: 'canceled',
    trigger: 'manual',
    source: { kind: 'image' },
    image: `busybox:${at}`,
    created_at: service.created_at,
  })
  await page.route('**/deploys?limit=*', (route) => {
    const limit = Number(new URL(route.request().url()).searchParams.get('limit'))
    return route.fulfill({ json: Array.from({ length: Math.min(limit, 70) }, (_, at) => deploy(at)) })
  })
  await page.goto('/services/shop-12/deploys')
  await page.getByRole('button', { name: 'Show older deploys' }).press('Enter')
  await expect.poll(focused).toContain('A busybox:30')
  await page.unroute('**/deploys?limit=*')
  expect(browser.faults).toEqual([])
})

test('a dialog gives the focus back to what opened it', async () => {
  await page.goto('/services/shop-12/settings')
  await page.getByRole('button', { name: 'Delete service…' }).click()
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(focused).toContain('BUTTON Delete service…')
  const more = page.getByRole('button', { name: 'More actions' })
  await more.click()
  await page.getByRole('menuitem', { name: 'Suspend…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await expect.poll(() => more.evaluate((button) => button.matches(':focus'))).toBe(true)
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => more.evaluate((button) => button.matches(':focus'))).toBe(true)
})

test("going back restores the list's position and its filter", async () => {
  await page.goto('/services')
  await page.getByLabel('Filter by name').fill('shop')
  await page.getByLabel('State').selectOption('Not deployed')
  const link = page.getByRole('link', { name: 'shop-30', exact: true })
  await link.evaluate((element) => element.scrollIntoView({ block: 'center' }))
  const place = await page.evaluate<number>('scrollY')
  expect(place).toBeGreaterThan(300)
  await link.click()
  await page.getByRole('heading', { level: 1, name: 'shop-30' }).waitFor()
  expect(await page.evaluate('scrollY')).toBe(0)
  await page.goBack()
  await expect.poll(() => page.evaluate('scrollY')).toBe(place)
  expect(await page.getByLabel('Filter by name').inputValue()).toBe('shop')
  await page.goto('about:blank')
  await page.goBack()
  await expect.poll(() => page.evaluate('scrollY')).toBe(place)
})

test.for([
  ['/services/nothing', 'This service does not exist'],
  ['/services/shop-10.nowhere', 'This service does not exist'],
  ['/services/shop-10/deploys/dep-00000000000000000000', 'This deploy does not exist'],
  ['/services/shop-10/runs/job-00000000000000000000', 'This run does not exist'],
  ['/no/such/page', 'There is nothing here'],
])('%s has a heading and says what does not exist', async ([path, text]) => {
  await page.goto(path!)
  await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
  await page.getByRole('heading', { level: 2, name: text }).waitFor()
})

test('variables of linked groups are shown, with what overrides them', async () => {
  for (const [name, value] of [
    ['early', '1'],
    ['late', '2'],
  ])
    await server.api('POST', '/env-groups', {
      name,
      vars: [
        { key: 'LEVEL', value },
        { key: `ONLY_${name!.toUpperCase()}`, value },
      ],
    })
  await server.api('POST', '/services', { name: 'grouped', deploy: false, env_groups: ['early', 'late'] })
  await page.goto('/services/grouped/variables')
  const early = page.getByRole('list', { name: 'early' }).getByRole('listitem')
  expect(await early.filter({ hasText: 'LEVEL' }).innerText()).toContain('Overridden by late')
  const late = page.getByRole('list', { name: 'late' }).getByRole('listitem')
  expect(await late.filter({ hasText: 'LEVEL' }).innerText()).not.toContain('Overridden')
  await server.api('PATCH', '/services/grouped/env', { set: { LEVEL: 'own' } })
  await late.filter({ hasText: "Overridden by this service's own" }).waitFor()
  await server.api('PATCH', '/env-groups/late/env', { set: { ADDED: 'now' } })
  await late.filter({ hasText: 'ADDED' }).waitFor()
  expect(browser.faults).toEqual([])
})
