import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  page = await browser.enter(server, { loadsAhead: true })
  await server.api('POST', '/services', {
    name: 'kept',
    image: 'busybox:1',
    deploy: false,
    env: [{ key: 'LEVEL', value: 'info' }],
  })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

/** What the list of services may cost before it can be used: requests, and bytes of compressed JavaScript. */
const MAX_FIRST_REQUESTS = 30
const MAX_FIRST_BYTES = 90 * 1_024
/** All code but that of the editor. */
const EVERYTHING = [
  ...['head', 'index', 'vue', 'shared', 'services', 'settings', 'logs', 'charts'],
  ...['datastores', 'server', 'account', 'others'],
]

const notice = () => page.getByRole('status').getByText('No connection to the server.')

test('a first visit waits for little, and the code of every page is fetched in advance once it has its data', async () => {
  const fetched: Promise<number>[] = []
  const code = new Set<string>()
  page.on('requestfinished', (request) => {
    const name = /\/assets\/([\w-]+)-[\w-]{8}\.js$/.exec(new URL(request.url()).pathname)?.[1]
    const size = request.sizes().then(({ responseBodySize }) => (name ? responseBodySize : 0))
    fetched.push(size)
    if (name) code.add(name)
  })
  const held = Promise.withResolvers<void>()
  await page.route('**/api/v1/services', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto('/services')
  await page.getByRole('heading', { name: 'Services', level: 1 }).waitFor()
  // Everything but the list itself is there.
  await page.waitForFunction('new Promise((resolve) => requestIdleCallback(resolve))')
  expect([...code].toSorted()).toEqual(['head', 'index', 'vue'])
  expect(fetched.length).toBeLessThanOrEqual(MAX_FIRST_REQUESTS)
  const bytes = (await Promise.all(fetched)).reduce((sum, size) => sum + size, 0)
  expect(bytes).toBeGreaterThan(10 * 1_024)
  expect(bytes).toBeLessThanOrEqual(MAX_FIRST_BYTES)
  held.resolve()
  await expect.poll(() => [...code].toSorted(), { timeout: 20_000 }).toEqual([...EVERYTHING].toSorted())
  await page.unrouteAll()
})

test('a page whose code the network cut off is loaded all the same', async () => {
  const fresh = await browser.enter(server)
  await fresh.goto('/services')
  await fresh.getByRole('heading', { name: 'Services', level: 1 }).waitFor()
  const cutOff = (pattern: string) =>
    fresh.route(pattern, (route) => route.abort('connectionfailed'), { times: 1 })
  await cutOff('**/assets/account-*.js')
  await cutOff('**/healthz')
  await fresh.getByRole('link', { name: 'Account', exact: true }).click()
  await fresh.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
  await fresh.context().close()
})

test('while the server is away the page stays with what was typed, a link waits, and both go on when it is back', async () => {
  await page.goto('/services/kept/settings')
  await page.getByLabel('Start command').fill('typed meanwhile')
  const before = await page.getByLabel('Port').boundingBox()
  await server.kill('SIGKILL')
  const lostAt = Date.now()
  await notice().waitFor()
  expect(Date.now() - lostAt).toBeGreaterThan(2_500)
  expect(await page.getByLabel('Port').boundingBox()).toEqual(before)

  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByRole('alert').getByText('The server does not answer.').waitFor()
  expect(await page.getByLabel('Start command').inputValue()).toBe('typed meanwhile')

  await server.restart()
  await notice().waitFor({ state: 'detached' })
  await server.api('PATCH', '/services/kept', { port: 4000 })
  await expect.poll(() => page.getByLabel('Port').inputValue()).toBe('4000')
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' })
  expect((await server.api('GET', '/services/kept')).body.start_command).toBe('typed meanwhile')

  await server.kill('SIGKILL')
  await notice().waitFor()
  await page.getByRole('link', { name: 'Domains', exact: true }).click()
  const waits = page.getByText('The page that you chose opens once it does.')
  await waits.waitFor()
  await page.getByRole('link', { name: 'Account' }).click()
  expect(new URL(page.url()).pathname).toBe('/services/kept/settings')
  await server.restart()
  await page.waitForURL('**/account')
  await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
  await waits.waitFor({ state: 'detached' })
  expect(browser.faults).toEqual([])
})

test.for(['services/kept?*', 'services/kept/env', 'services/*/env', 'environments', 'auth/status'])(
  'a request for %s that the network cut off is repeated, although the change feed stayed open',
  async (path) => {
    let isCut = false
    await page.route(`**/api/v1/${path}`, async (route) => {
      if (isCut) return route.continue()
      isCut = true
      await route.abort('connectionreset')
    })
    await page.goto('/services/kept/variables')
    await page.getByRole('button', { name: 'Show values' }).waitFor()
    await page.unrouteAll()
  },
)

test('without a session, sign-in is shown even if the first request was cut off', async () => {
  const stranger = await browser.open(server.url)
  let cut = 0
  await stranger.route('**/api/v1/auth/status', (route) =>
    cut++ < 2 ? route.abort('connectionreset') : route.continue(),
  )
  await stranger.goto('/services/kept/variables')
  await stranger.getByRole('heading', { name: 'Sign in' }).waitFor()
  await stranger.context().close()
})

test('an absence of less than three seconds is not mentioned', async () => {
  await page.clock.install()
  await page.goto('/services')
  await page.getByRole('link', { name: 'kept', exact: true }).waitFor()
  await page.evaluate(`globalThis.seen = false
    new MutationObserver(() => (seen ||= document.body.innerText.includes('No connection')))
      .observe(document.body, { childList: true, subtree: true })`)
  // For the page it takes no time, however busy the machine is. A moment that has passed cannot be paused at.
  await page.clock.pauseAt(Date.now() + 60_000)
  await server.restart()
  await server.api('POST', '/services', { name: 'after', deploy: false })
  await page.clock.resume()
  await page.getByRole('link', { name: 'after', exact: true }).waitFor()
  expect(await page.evaluate('seen')).toBe(false)
})
