import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../support/server.ts'
import { PHONE, TestBrowser } from './browser.ts'

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

test('the overview has what is in the environment of its address, in one request, and follows changes', async () => {
  // The page of the test before may be asking still.
  await page.goto('about:blank')
  asked = []
  await page.goto('/overview?environment=staging')
  const list = page.getByRole('list', { name: 'Services and datastores' })
  const rows = list.getByRole('listitem')
  await rows.filter({ hasText: 'shop-10' }).waitFor()
  expect(await rows.count()).toBe(1)
  await page
    .getByRole('img', { name: /^Requests: not measured yet$|^Requests in the last hour: 0/ })
    .waitFor()
  expect(asked.filter((path) => /overview|services|datastores/.test(path))).toEqual([
    '/environments/staging/overview',
  ])

  await server.api('POST', '/datastores', { kind: 'keyvalue', name: 'cache', environment: 'staging' })
  await rows.filter({ hasText: 'cache' }).getByText('Key-value store').waitFor()
  // No engine answers, so its first deploy stays under way, and such come first.
  await server.api('POST', '/services', { name: 'zebra', image: 'busybox:1', environment: 'staging' })
  await expect.poll(() => rows.getByRole('link').allInnerTexts()).toContain('zebra')
  const icon = () => page.locator('link[rel=icon]').getAttribute('href')
  // Without an engine the datastore fails sooner or later.
  await expect.poll(icon).toMatch(/favicon-(?:failed|working)/)
  const names = async () => (await rows.allInnerTexts()).map((text) => /cache|zebra|shop-\d+/.exec(text)![0])
  expect((await names()).indexOf('zebra')).toBeLessThan((await names()).indexOf('shop-10'))
  await page.goto('/overview?environment=staging&first=name')
  await expect.poll(names).toEqual(['cache', 'shop-10', 'zebra'])
  await server.api('DELETE', '/services/zebra?environment=staging')
  await server.api('DELETE', '/datastores/cache?environment=staging')
  expect(browser.faults).toEqual([])
})

test('the environment that was chosen is in the address of every list, and all of them is a choice', async () => {
  await page.goto('/overview')
  const choice = page.getByRole('complementary', { name: 'Sidebar' }).getByLabel('Environment in view')
  const list = page.getByRole('list', { name: 'Services and datastores' })
  await list.getByText('Web service in production').first().waitFor()
  await choice.selectOption('staging')
  await page.waitForURL('**/overview?environment=staging')
  await expect.poll(() => list.getByRole('link', { name: /^shop-/ }).allInnerTexts()).toEqual(['shop-10'])

  const main = page.getByRole('navigation', { name: 'Main' })
  await main.getByRole('link', { name: 'Git' }).click()
  await page.waitForURL('**/git')
  await main.getByRole('link', { name: 'Services' }).click()
  await page.waitForURL('**/services?environment=staging')
  await page.getByRole('list', { name: 'Services in staging' }).waitFor()
  expect(await page.getByRole('list', { name: 'Services in production' }).count()).toBe(0)
  await page.getByRole('link', { name: 'New service' }).first().click()
  expect(await page.getByLabel('Environment', { exact: true }).inputValue()).toBe('staging')

  await choice.selectOption('All environments')
  await page.waitForURL((url) => url.pathname === '/overview' && url.search === '')
  // What is named of one environment is not in another.
  await page.goto('/logs?service=shop-11&level=error')
  await page.getByRole('button', { name: 'Services: shop-11' }).waitFor()
  await choice.selectOption('staging')
  await page.getByRole('button', { name: 'Services: All services' }).waitFor()
  expect(new URL(page.url()).search).toBe('?environment=staging&level=error')
  await page.goto('/services?environment=nowhere')
  await page.getByRole('heading', { name: 'This environment does not exist' }).waitFor()
  await page.getByRole('link', { name: 'Show all environments' }).click()
  await page.getByRole('list', { name: 'Services in production' }).waitFor()
  expect(browser.faults).toEqual([])
})

test('on a phone, the environment that is chosen is shown at once', async () => {
  const phone = await browser.enter(server, { viewport: PHONE })
  await phone.goto('/overview')
  await phone.getByRole('button', { name: 'Open navigation' }).click()
  const drawer = phone.getByRole('dialog', { name: 'Navigation' })
  await drawer.getByLabel('Environment in view').selectOption('staging')
  await drawer.waitFor({ state: 'hidden' })
  await phone.waitForURL('**/overview?environment=staging')
  await phone.context().close()
})

test('the menu of a row is opened with the keyboard, and gives the focus back', async () => {
  await page.goto('/overview?q=shop-12')
  const button = page.getByRole('button', { name: 'Actions for shop-12' })
  await button.press('Enter')
  const items = page.getByRole('menuitem')
  await expect.poll(() => items.allInnerTexts()).toContain('Suspend…')
  expect(await page.getByRole('menuitem', { name: 'Restart' }).getAttribute('aria-disabled')).toBe('true')
  await page.keyboard.press('Escape')
  await expect.poll(() => button.evaluate((element) => element.matches(':focus'))).toBe(true)
  await button.press('Enter')
  await page.getByRole('menuitem', { name: 'Suspend…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  const row = page.getByRole('listitem').filter({ has: button })
  await row.getByText('Suspended').waitFor()
  await button.click()
  await page.getByRole('menuitem', { name: 'Resume', exact: true }).click()
  await page.getByText('shop-12 is starting again.').waitFor()
  await row.getByText('Suspended').waitFor({ state: 'detached' })
  expect(browser.faults).toEqual([])
})

test('a long list is there to its end without being scrolled, and marks the row at which the pointer rests', async () => {
  await server.api('POST', '/environments', { name: 'long' })
  for (let number = 1; number <= 104; number++)
    await server.api('POST', '/services', { name: `row-${number}`, environment: 'long', deploy: false })
  await page.goto('/overview?environment=long&first=name')
  const rows = page.getByRole('list', { name: 'Services and datastores' }).getByRole('listitem')
  await expect.poll(() => rows.count(), { timeout: 20_000 }).toBe(104)
  expect(await page.evaluate('scrollY')).toBe(0)
  // Although most of it was never painted.
  const heights = await page.evaluate<number[]>(
    `[document.querySelector('main [role=list]'), document.querySelector('main [role=listitem]')].map((element) => element.offsetHeight)`,
  )
  expect(heights[0]! / (104 * heights[1]!)).toBeCloseTo(1, 1)
  const pointed = page.locator('[data-pointed]')
  await rows.nth(2).hover()
  await expect.poll(() => pointed.getByRole('link').first().innerText()).toBe('row-3')
  // By more rows than are in view.
  await page.mouse.wheel(0, 2_000)
  const under = page.locator('[role=listitem]:hover').getByRole('link').first()
  await expect.poll(() => under.innerText()).not.toBe('row-3')
  await expect.poll(async () => (await pointed.allInnerTexts()).length).toBe(1)
  await expect
    .poll(async () => (await pointed.getByRole('link').first().innerText()) === (await under.innerText()))
    .toBe(true)
  await page.mouse.move(1, 1)
  await expect.poll(() => pointed.count()).toBe(0)
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

test('the palette finds what has a name anywhere, and acts on a service that is chosen', async () => {
  await server.api('PATCH', '/services/shop-11/env', { set: { GREETING_TEXT: 'not a name' } })
  await page.goto('/services')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const field = page.getByRole('dialog').getByRole('combobox')
  await field.fill('greeting')
  await page.getByRole('option', { name: 'GREETING_TEXT Variable of shop-11' }).click()
  await page.waitForURL('**/services/shop-11/variables')
  await server.api('POST', '/env-groups', { name: 'of-everybody' })
  await server.api('POST', '/services/shop-11/domains', { domain: 'www.brand.example' })
  const headers = { origin: server.url }
  const made = await page.request.post('/api/v1/auth/tokens', { headers, data: { name: 'runner-7' } })
  expect(made.status()).toBe(201)
  for (const [typed, option, path] of [
    ['stagi', 'staging Environment', '/overview?environment=staging'],
    ['everybody', 'of-everybody Env group', '/env-groups/of-everybody'],
    ['runner', 'runner-7 API token', '/account'],
    ['brand.ex', 'www.brand.example Domain of shop-11', '/services/shop-11/settings#custom-domains'],
  ] as const) {
    await page.keyboard.press('Control+k')
    await field.fill(typed)
    await page.getByRole('option', { name: option, exact: true }).click()
    await page.waitForURL(`**${path}`)
  }

  await page.keyboard.press('Control+k')
  await field.fill('shop-11')
  // Although this is its page, where its actions come first.
  await expect
    .poll(() => page.getByRole('option', { selected: true }).innerText())
    .toMatch(/^shop-11\nService in production/)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await field.fill('suspend shop-10')
  await expect
    .poll(() => page.getByRole('option').allInnerTexts())
    .toEqual(['Suspend shop-10…\nAction', 'Suspend shop-10.staging…\nAction'])
  await field.fill('shop-12')
  await field.press('ArrowRight')
  await page.getByRole('option', { name: 'Deploy shop-12 Action' }).waitFor()
  // What comes first only leads somewhere.
  expect(await page.getByRole('option', { selected: true }).innerText()).toMatch(/^shop-12 deploys/)
  await field.fill('suspend')
  await field.press('Enter')
  await page.getByRole('dialog', { name: 'Suspend shop-12?' }).getByRole('button', { name: 'Cancel' }).click()
  expect((await server.api('GET', '/services/shop-12')).body.suspended).toBe(false)
  expect(browser.faults).toEqual([])
})

test('keys of one letter lead through the pages, and never while something is typed', async () => {
  await page.goto('/services')
  const filter = page.getByLabel('Filter by name')
  await filter.waitFor()
  await page.keyboard.press('/')
  await expect.poll(() => filter.evaluate((field) => field.matches(':focus'))).toBe(true)
  await page.keyboard.type('g?/')
  expect(await filter.inputValue()).toBe('g?/')
  await filter.fill('')
  await filter.blur()
  await page.keyboard.press('Control+g')
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.waitForURL('**/datastores')
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keys' })
  await keys.getByText('Env groups').waitFor()
  await keys.getByRole('checkbox').uncheck()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.keyboard.press('/')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('show the keys')
  expect(new URL(page.url()).pathname).toBe('/datastores')
  await page.keyboard.press('Enter')
  await keys.getByRole('checkbox').check()
  await page.keyboard.press('Escape')
})

test.for([
  ...['repo_url', 'branch', 'auto_deploy', 'runtime', 'root_dir', 'build_command', 'apt_packages'],
  ...['start_command', 'pre_deploy_command', 'port', 'health_check_path', 'disks', 'memory_limit_mb'],
  ...['cpu_limit', 'overlap_policy', 'drain_seconds', 'max_shutdown_delay_seconds', 'compression'],
  ...['custom_domains', 'watch_paths'],
])('the setting %s is found by its name in the API, and gets the focus', async (name) => {
  if (!page.url().includes('/services/settled/settings')) {
    const repo_url = 'http://127.0.0.1:9/x.git'
    await server.api('POST', '/services', { name: 'settled', repo_url, deploy: false })
    await page.goto('/services/settled/settings')
  }
  const search = page.getByRole('search', { name: 'Settings' }).getByRole('searchbox')
  await search.fill(name)
  const found = page.getByRole('list', { name: 'Settings found' }).getByRole('link').first()
  const [label] = (await found.innerText()).split('\n')
  await search.press('Enter')
  const text = 'document.activeElement.labels?.[0]?.textContent.trim() ?? ""'
  await expect.poll(() => page.evaluate<string>(text)).toContain(label)
})

test('an address names a section of the settings, which the index marks, and settings of other pages are found', async () => {
  await page.goto('/services')
  await page.goto('/services/settled/settings#rollout')
  await expect.poll(focused).toMatch(/^H2 Rollout/)
  const index = page.getByRole('navigation', { name: 'Sections of the settings' })
  await index.locator('a[aria-current=location]').getByText('Rollout').waitFor()
  await index.getByRole('link', { name: 'Build', exact: true }).click()
  await page.waitForURL('**/settings#build')
  await index.locator('a[aria-current=location]').getByText('Build', { exact: true }).waitFor()
  const search = page.getByRole('search', { name: 'Settings' }).getByRole('searchbox')
  await search.fill('nothing like it')
  await page.getByText('No setting matches.').waitFor()
  await search.fill('max_body_mb')
  await search.press('Enter')
  await page.waitForURL('**/services/settled/edge#limits')
  await expect.poll(focused).toMatch(/^H2 Limits/)
  expect(browser.faults).toEqual([])
})

test('the audit log is narrowed to a time, and exported as it is shown', async () => {
  await page.goto('/server/audit?action=environment')
  const events = page.getByRole('list', { name: 'Events' })
  await events.getByText('Environment created').first().waitFor()
  await page.getByLabel('Time').selectOption('last hour')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL('**/server/audit?action=environment&time=1h')
  const saving = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  const lines = readFileSync(await (await saving).path(), 'utf8')
    .trim()
    .split('\n')
  expect(new Set(lines.map((line) => JSON.parse(line).action))).toEqual(new Set(['environment.created']))
  await page.getByLabel('Time').selectOption('between…')
  await page.getByLabel('To').fill('2020-01-01T00:00')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByText('No event matches.').waitFor()
  expect(browser.faults).toEqual([])
})

test('the services are fetched once per load, and a change fetches the one service', async () => {
  // The page of the test before may be asking still.
  await page.goto('about:blank')
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
  expect(asked.filter((path) => path.startsWith('/services'))).toEqual([`/services/${body.id}`])
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
  await server.api('POST', '/services', { name: 'newborn', deploy: false })
  await other.goto('/services/newborn')
  await other.getByRole('complementary', { name: 'Details' }).getByText('just now').waitFor()
  await other.context().close()
  await server.api('DELETE', '/services/newborn')
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
