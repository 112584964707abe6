import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { PHONE, TestBrowser } from './browser.ts'
import { excessOf, movingOn } from './fit.ts'

/** After this a page repeats what it did not get, however often that failed. */
const LONGEST_PAUSE_MS = 5_000
/** As long as a name can be, without a place to break. */
const LONG = 'm'.repeat(63)
/** The name of a service with a disk, whose deploy is under way, as no engine answers. */
const BEGUN = 'w'.repeat(63)

let browser: TestBrowser
let server: TestServer

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  await browser.enter(server)
  await server.api('POST', '/services', { name: 'a-service-with-a-rather-long-name-that-goes-on' })
  await server.api('POST', '/environments', {
    name: 'an-environment-whose-name-is-as-long-as-a-name-can-be-and-it-is',
  })
  const placed = { name: LONG, environment: LONG }
  await server.api('POST', '/environments', { name: LONG })
  await server.api('POST', '/env-groups', { name: LONG, vars: [{ key: 'A', value: '1' }] })
  await server.api('POST', '/services', { ...placed, image: 'busybox:1', env_groups: [LONG], deploy: false })
  await server.api('POST', '/services', {
    ...{
      name: BEGUN,
      environment: LONG,
      image: `registry.example.com/${LONG}:1`,
      disk_mount_path: `/${LONG}`,
    },
  })
  await server.api('POST', '/datastores', { ...placed, kind: 'keyvalue' })
  const target = { name: LONG, url: `http://127.0.0.1:9/${LONG}` }
  await server.api('POST', '/notifications', { ...target, kind: 'webhook' })
  await server.api('POST', '/log-drains', { ...target, kind: 'http' })
  const login = { host: `${LONG}.example.com`, username: LONG, password: 'x' }
  await server.api('POST', '/registry-credentials', { ...login, name: LONG, path_prefix: LONG })
  await server.api('POST', '/redirects', {
    host: `${LONG}.example.net`,
    to: `https://${LONG}.example.com/${LONG}`,
  })
})
afterAll(async () => {
  await browser[Symbol.asyncDispose]()
  await server.stop()
})

test.for(['/', '/services', '/services/x/logs', '/setup?code=1', '/no/such/page'])(
  'the address %s answers the page with its policy, and is revalidated each time',
  async (path) => {
    const answer = await server.request('GET', path)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'self'; script-src 'self';")
    const again = await server.request('GET', path, undefined, {
      headers: { 'if-none-match': answer.headers.get('etag')! },
    })
    expect(again.status).toBe(304)
  },
)

test.for(['/api/nope', '/api', '/hooks/nope', '/assets/nope.js'])(
  'the address %s is not one of the dashboard and answers 404 as JSON',
  async (path) => {
    const answer = await server.request('GET', path)
    expect(answer.status).toBe(404)
    expect(answer.body.error.code).toBe('not_found')
  },
)

test('its files are compressed and cached for good, since their names change with them', async () => {
  const page = await server.request('GET', '/')
  const [, script] = /<script type="module"[^>]* src="([^"]+)"/.exec(page.body as string)!
  const answer = await server.request('GET', script!, undefined, { headers: { 'accept-encoding': 'br' } })
  expect(answer.headers.get('content-encoding')).toBe('br')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

const TABS = ['', '/deploys', '/logs', '/runs', '/variables', '/edge', '/settings']

test('no page is wider than its window, not at 400 % either, however long a name without a break is', async () => {
  const page = await browser.enter(server)
  const choosing = ['/blueprints/editor', '/datastores/new', '/environments']
  const held = [`/env-groups/${LONG}`, `/datastores/${LONG}.${LONG}`]
  const tabs = TABS.map((tab) => `/services/${LONG}.${LONG}${tab}`)
  const lists = [
    '/overview',
    '/services',
    '/datastores',
    '/domains',
    '/notifications',
    '/registries',
    '/server',
    '/server/metrics',
    '/server/audit?time=between',
    '/account',
  ]
  await expectToFit(page, ['/services/new', ...lists, ...choosing, ...held, ...tabs])
})

test('nor is a page of a service of another kind', { tags: ['slow'] }, async () => {
  const page = await browser.enter(server)
  const services = (await server.api('GET', '/services')).body
  const tabs = TABS.map((tab) => `/services/${services[0].id}${tab}`)
  await expectToFit(page, tabs)
})

test('nor is a page of the server or of a deploy, nor one that is shown without signing in', async () => {
  const page = await browser.enter(server)
  const address = `/services/${BEGUN}.${LONG}`
  const { body } = await server.api('GET', `/services/${BEGUN}?environment=${LONG}`)
  const { body: login } = await server.request('POST', '/api/v1/auth/cli', { name: LONG })
  const ofService = [`deploys/${body.latest_deploy.id}`, 'metrics', 'shell', 'disk']
  const ofServer = ['disk', 'backups', 'nodes', 'doctor', 'logs']
  await expectToFit(page, [
    ...['/logs', '/git', `/cli/${login.id}`],
    ...ofService.map((section) => `${address}/${section}`),
    ...ofServer.map((section) => `/server/${section}`),
  ])
  await expectToFit(await browser.open(server.url), ['/sign-in'])
})

test('nor is a dialog of many fields, which names services', async () => {
  const page = await browser.enter(server, { viewport: { ...PHONE, width: 320 } })
  await page.goto('/account')
  await page.getByRole('button', { name: 'New token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Changes no settings.').click()
  await dialog.getByLabel('These services').first().check()
  await dialog.getByLabel(LONG).first().waitFor()
  expect(await dialog.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
  expect({ excess: await excessOf(page), moving: await movingOn(page) }).toEqual({ excess: 0, moving: [] })
  await page.context().close()
})

/** At the width of a phone at 400 % and at that of a desktop; and nothing moves, as the browser of tests asks for that. */
async function expectToFit(page: Page, paths: string[]): Promise<void> {
  for (const path of paths) {
    await page.setViewportSize({ ...PHONE, width: 320 })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('status').getByText('Loading').first().waitFor({ state: 'detached' })
    if (path.endsWith('/editor'))
      await page.getByRole('combobox').getByText('an-environment').waitFor({ state: 'attached' })
    if (path.startsWith('/cli/')) await page.getByLabel('Code', { exact: true }).waitFor()
    const [excess, moving] = [await excessOf(page), await movingOn(page)]
    expect({ path, excess, moving }).toEqual({ path, excess: 0, moving: [] })
    await page.setViewportSize({ width: 1280, height: 800 })
    // Charts follow their frame a moment later.
    await expect.poll(() => excessOf(page), { message: `${path} at 1280` }).toBe(0)
  }
  expect(browser.faults).toEqual([])
}

test('breadcrumbs that are too long for their line break before a chevron, and end without one', async () => {
  const page = await browser.enter(server, { viewport: PHONE })
  await page.goto(`/services/${LONG}.${LONG}/deploys/dep-00000000000000000000`)
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('listitem')
  await crumbs.getByText(`${LONG}.${LONG}`).waitFor()
  const parts = await crumbs.evaluateAll((items) =>
    items.map((item) => [...item.children].map(({ localName }) => localName)),
  )
  expect(parts).toEqual([['a'], ['svg', 'a'], ['svg', 'a']])
  await page.context().close()
})

test('targets on a phone are at least 24 pixels high and wide, except for links within a sentence', async () => {
  const page = await browser.enter(server, { viewport: PHONE })
  for (const path of [`/services/${LONG}.${LONG}`, `/services/${LONG}.${LONG}/settings`, '/environments']) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('status').getByText('Loading').first().waitFor({ state: 'detached' })
    const small = await page.evaluate<string[]>(`[...document.querySelectorAll('a, button, summary')]
      .filter((part) => part.checkVisibility() && !part.closest('.sr-only'))
      .map((part) => ({ part, box: part.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 1 && Math.min(box.width, box.height) < 24)
      .map(({ part }) => part.innerText)`)
    expect({ path, small }).toEqual({ path, small: [] })
  }
})

test(
  'the page of the API shows a request that was sent as a line for a terminal',
  { tags: ['slow'] },
  async () => {
    const page = await browser.enter(server)
    await page.goto('/api/docs#/Environments/getEnvironments')
    await page.getByRole('button', { name: 'Try it out' }).click()
    await page.getByRole('button', { name: 'Execute' }).click()
    await page.getByRole('heading', { name: 'deployer', exact: true }).click()
    await page.locator('.request-snippets').getByText('deployer api GET /environments').waitFor()
    expect(browser.faults).toEqual([])
  },
)

test('what the server fails to return is reported in its place, until it succeeds', async () => {
  const page = await browser.enter(server)
  await server.api('POST', '/services', { name: 'shop', image: 'busybox:1' })
  const refusal = { error: { code: 'database_error', message: 'the database cannot be read' } }
  await page.clock.install()
  const failing = /\/services\/[^/]+\/(?:status|logs)(?:\?|$)/
  await page.route(failing, (route) => route.fulfill({ status: 500, json: refusal }))
  await page.goto('/services/shop')
  const instances = page.getByRole('region', { name: 'Instances' })
  await instances.getByText('The database cannot be read').waitFor()
  await page.getByRole('navigation', { name: 'Service' }).getByRole('link', { name: 'Logs' }).click()
  await page.getByRole('log').getByText('The database cannot be read').waitFor()
  await page.unroute(failing)
  await page.clock.fastForward(LONGEST_PAUSE_MS)
  await page.getByRole('log').getByText('Nothing logged yet').waitFor()
  expect(browser.faults).toEqual([])
})

test('a reader further up in a log keeps the place, also while the server is away and when the log is loaded again', async () => {
  await server.api('POST', '/services', { name: 'talker', image: 'busybox:1', deploy: false })
  const page = await browser.enter(server)
  let reads = 0
  const scrolled = Promise.withResolvers<void>()
  await page.route('**/services/*/logs?*', async (route) => {
    reads += 1
    const first = reads === 1 ? 1 : 101
    if (reads === 2) {
      // Otherwise it might be loaded again, and be elsewhere, before anybody has the place.
      await scrolled.promise
      return route.abort()
    }
    return route.fulfill({ contentType: 'text/event-stream', body: logOf(first, first + 399) })
  })
  await page.goto('/services/talker/logs')
  const log = page.getByRole('log')
  const line = (number: number) => log.getByText(`said ${number}.`, { exact: true })
  await line(400).waitFor()
  await log.hover()
  await page.mouse.wheel(0, -3_000)
  await line(250).waitFor()
  // Scrolling takes its time.
  const place = () => log.evaluate((element) => element.scrollTop)
  let before = Number.NaN
  await expect.poll(async () => before === (before = await place()), { interval: 200 }).toBe(true)
  scrolled.resolve()
  for (const seen of [2, 5]) {
    await expect.poll(() => reads).toBeGreaterThan(seen)
    await expect.poll(() => line(250).isVisible()).toBe(true)
    await expect.poll(() => line(400).count()).toBe(0)
  }
  // Nor does it move by a line each time.
  const settled = await place()
  const seen = reads
  await expect.poll(() => reads).toBeGreaterThan(seen + 3)
  await expect.poll(place).toBe(settled)
  expect(browser.faults).toEqual([])
})

/** A log stream of lines with these numbers, which is cut after them. */
function logOf(first: number, last: number): string {
  const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return numbers
    .map((number) => {
      const ts = new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString()
      return `event: log\ndata: ${JSON.stringify({ ts, stream: 'stdout', line: `said ${number}.` })}\n\n`
    })
    .join('')
}

test('a page whose code cannot be loaded is reloaded once and then says so', async () => {
  const page = await browser.open(server.url)
  let documents = 0
  page.on('request', (request) => (documents += request.resourceType() === 'document' ? 1 : 0))
  await page.route('**/assets/account-*.js', (route) => route.abort())
  await page.goto('/sign-in')
  await page.getByRole('alert').getByText('This page could not be loaded').waitFor()
  expect(documents).toBe(2)
})

test('a page whose first code was cut off on its way is reloaded once, and then says so', async () => {
  const page = await browser.open(server.url)
  let documents = 0
  page.on('request', (request) => (documents += request.resourceType() === 'document' ? 1 : 0))
  await page.route('**/assets/vue-*.js', (route) => (documents === 1 ? route.abort() : route.continue()))
  await page.goto('/sign-in')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(documents).toBe(2)

  await page.route('**/assets/vue-*.js', (route) => route.abort())
  await page.goto('/sign-in')
  await page.getByText('The dashboard could not be loaded').waitFor()
})

test('a dark system gets a dark page before anything is drawn, and a choice survives the page', async () => {
  const page = await browser.open(server.url, { colorScheme: 'dark' })
  await page.goto('/sign-in', { waitUntil: 'commit' })
  await page.locator('html.dark').waitFor()
  await page.evaluate("localStorage.setItem('theme', 'light')")
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.locator('html.dark').count()).toBe(0)
})

test('nothing moves for someone who asked for that', async () => {
  const page = await browser.enter(server, { reducedMotion: 'reduce' })
  await page.goto('/services')
  await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  expect(await movingOn(page)).toEqual([])
  await page.context().close()
})

test('with forced colours, the selection can be told apart from the rest', async () => {
  const page = await browser.enter(server, { forcedColors: 'active' })
  await page.goto('/services')
  const bar = page.getByRole('complementary', { name: 'Sidebar' })
  const look = (part: Locator) =>
    part.evaluate((element) => {
      const { backgroundColor, outlineStyle } = element.ownerDocument.defaultView!.getComputedStyle(element)
      return `${backgroundColor} ${outlineStyle}`
    })
  const [shown, other] = [
    bar.getByRole('link', { name: 'Services' }),
    bar.getByRole('link', { name: 'Datastores' }),
  ]
  expect(await look(shown)).not.toBe(await look(other))
  const systemColour = await page.evaluate<string>(`(() => {
    document.head.style.color = 'SelectedItemText'
    return getComputedStyle(document.head).color
  })()`)
  const colour = (part: Locator) =>
    part.evaluate((element) => element.ownerDocument.defaultView!.getComputedStyle(element).color)
  expect(await colour(shown)).toBe(systemColour)
  const themes = bar.getByRole('group', { name: 'Colour theme' })
  expect(await look(themes.getByRole('button', { name: 'System' }))).not.toBe(
    await look(themes.getByRole('button', { name: 'Dark' })),
  )
  await page.goto('/services/new')
  const card = (name: string) => page.locator('label', { hasText: name })
  expect(await look(card('Git repository'))).not.toBe(await look(card('Upload')))
  await page.goto(`/services/${LONG}.${LONG}`)
  const tabs = page.getByRole('navigation', { name: 'Service' })
  expect(await look(tabs.getByRole('link', { name: 'Overview' }))).not.toBe(
    await look(tabs.getByRole('link', { name: 'Logs' })),
  )
  expect(await colour(tabs.getByRole('link', { name: 'Overview' }))).toBe(systemColour)
  await page.goto(`/services/${LONG}.${LONG}/settings`)
  const sections = page.getByRole('navigation', { name: 'Sections of the settings' }).getByRole('link')
  expect(await look(sections.first())).not.toBe(await look(sections.last()))
  expect(browser.faults).toEqual([])
})
