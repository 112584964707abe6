import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

/** After this, a page that waits for its code says so. */
const MOMENT_MS = 800

const loading = (page: Page) => page.getByText('Loading…', { exact: true })

test.for([
  ['the code', '**/assets/*.js', 'light'],
  ['the code', '**/assets/*.js', 'dark'],
  ['who is signed in', '**/api/v1/auth/status', 'light'],
] as const)('a page that waits for %s says so after a moment, and nothing moves then', async (given) => {
  const [, request, colorScheme] = given
  const page = await browser.open(server.url, { colorScheme })
  await page.addInitScript(`globalThis.moved = 0
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => (moved += entry.value)))
      .observe({ type: 'layout-shift', buffered: true })`)
  const held = Promise.withResolvers<void>()
  // The theme is chosen by the blocking script of the head.
  await page.route(request, async (route) => {
    if (!route.request().url().includes('/head-')) await held.promise
    await route.continue()
  })
  await page.goto('/sign-in', { waitUntil: 'commit' })
  await loading(page).waitFor({ state: 'attached' })
  // It has no animation before its style is computed.
  const shownAt = () =>
    page.evaluate<number>(
      `document.getAnimations().find(({ animationName }) => animationName === 'appear')?.effect.getTiming().delay`,
    )
  await expect.poll(shownAt).toBeGreaterThanOrEqual(500)
  await loading(page).waitFor()
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe(colorScheme)
  held.resolve()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await loading(page).isVisible()).toBe(false)
  expect(await page.evaluate('moved')).toBe(0)
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('a browser without JavaScript is told what else does the same', async () => {
  const page = await browser.open(server.url, { javaScriptEnabled: false })
  await page.goto('/services')
  // Playwright does not look for text in there.
  const told = page.locator('noscript p')
  await told.waitFor()
  expect(await told.innerText()).toContain('The dashboard needs JavaScript, which this browser does not run.')
  await delay(MOMENT_MS)
  expect(await loading(page).isVisible()).toBe(false)
  const { status } = await server.request('GET', '/api/openapi.json')
  expect(await told.locator('a').getAttribute('href')).toBe('/api/openapi.json')
  expect(status).toBe(200)
})

test('if the code does not arrive at all, nothing says that it is loading', async () => {
  const page = await browser.open(server.url)
  await page.route('**/assets/vue-*.js', (route) => route.abort())
  await page.goto('/sign-in')
  await page.getByText('The dashboard could not be loaded').waitFor()
  await delay(MOMENT_MS)
  expect(await loading(page).isVisible()).toBe(false)
})
