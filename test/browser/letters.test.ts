import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

/** Twice the browser's default size. */
const LARGE = '--blink-settings=defaultFontSize=32'
/** The smallest text, at twice its size. */
const SMALLEST_PX = 24

/** A page of each kind: a list, forms, a log, charts, an editor. */
const PATHS = [
  '/services',
  '/services/new',
  '/services/shop',
  '/services/shop/logs',
  '/services/shop/metrics',
  '/services/shop/variables',
  '/blueprints/editor',
  '/account',
]
const FURTHER_PATHS = [
  '/services/shop/deploys',
  '/services/shop/edge',
  '/services/shop/settings',
  '/blueprints',
  '/datastores/new',
  '/environments',
  '/env-groups',
  '/domains',
  '/notifications',
  '/git',
  '/registries',
  '/server',
  '/server/metrics',
]

let server: TestServer
let large: TestBrowser
let page: Page

beforeAll(async () => {
  server = await startServer()
  large = await TestBrowser.launch(LARGE)
  page = await large.enter(server, { viewport: { width: 2400, height: 1000 } })
  await server.api('POST', '/services', { name: 'shop', image: 'busybox:1', deploy: false })
})
afterAll(async () => {
  await large?.[Symbol.asyncDispose]()
  await server?.stop()
})

/** Text that is smaller than the smallest text should be, once each. */
const SMALL = `[...new Set([...document.querySelectorAll('body *')]
  .filter((part) => [...part.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
  .filter((part) => part.checkVisibility() && Number.parseFloat(getComputedStyle(part).fontSize) < ${SMALLEST_PX - 0.01})
  .map((part) => part.textContent.trim()))]`

test.for(PATHS)('all text of %s is as large as the browser is set to', isAsLarge)
test.for(FURTHER_PATHS)(
  'all text of %s is as large as the browser is set to, too',
  { tags: ['slow'] },
  isAsLarge,
)

async function isAsLarge(path: string): Promise<void> {
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByRole('status').getByText('Loading').first().waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate<string[]>(SMALL)).toEqual([])
  for (const width of [2400, 1280, 500]) {
    await page.setViewportSize({ width, height: 1000 })
    // Charts follow their frame a moment later.
    const excess = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    await expect.poll(excess, { message: `at ${width}` }).toBe(0)
  }
}

test('the rows of a log are as high as their text, and follow each other', async () => {
  const line = (number: number) =>
    `event: log\ndata: ${JSON.stringify({ ts: '2026-01-01T00:00:00Z', stream: 'stdout', line: `said ${number}` })}\n\n`
  const body = Array.from({ length: 300 }, (_, number) => line(number)).join('')
  await page.route('**/services/*/logs?*', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body }),
  )
  await page.goto('/services/shop/logs')
  await page.getByText('said 299', { exact: true }).waitFor()
  const place = async (text: string) => (await page.getByText(text, { exact: true }).boundingBox())!
  const [before, last] = [await place('said 298'), await place('said 299')]
  expect(last.height).toBeGreaterThan(30)
  expect(last.y - before.y).toBe(40)
  const below = async () => {
    const [log, row] = [await page.getByRole('log').boundingBox(), await place('said 299')]
    return row.y + row.height - (log!.y + log!.height)
  }
  await expect.poll(below).toBeLessThanOrEqual(0)
  await page.unrouteAll()
})

/** What a browser does when its reader chooses another size while the page is open. */
const chooseLetters = (px: number) => page.evaluate(`document.documentElement.style.fontSize = '${px}px'`)

test('rows of an open log follow another text size', { tags: ['slow'] }, async () => {
  const events = Array.from({ length: 300 }, (_, number) => {
    const line = { ts: '2026-01-01T00:00:00Z', stream: 'stdout', line: `said ${number}` }
    return `event: log\ndata: ${JSON.stringify(line)}\n\n`
  })
  // Lines that are loaded again, as after a stream was cut, move the rows too.
  const body = `${events.join('')}event: end\ndata: {}\n\n`
  await page.route('**/services/*/logs?*', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body }),
  )
  await page.goto('/services/shop/logs')
  const distance = async () => {
    const [before, last] = await Promise.all(
      ['said 298', 'said 299'].map((text) => page.getByText(text, { exact: true }).boundingBox()),
    )
    return last!.y - before!.y
  }
  const heightOfRows = () =>
    page
      .getByRole('log')
      .locator('[data-index]')
      .first()
      .evaluate((row) => row.getBoundingClientRect().height)
  await page.getByText('said 299', { exact: true }).waitFor()
  expect(await distance()).toBe(40)
  await chooseLetters(14)
  await expect.poll(distance).toBe(20)
  await chooseLetters(28)
  await expect.poll(distance).toBe(40)

  // Someone reading further up keeps the place.
  const log = page.getByRole('log')
  await log.evaluate((element) => (element.scrollTop = 40 * 100))
  const firstShown = () =>
    log.evaluate((element) => {
      const { top } = element.getBoundingClientRect()
      const padding = Number.parseFloat(
        element.ownerDocument.defaultView!.getComputedStyle(element).paddingTop,
      )
      const rows = [...element.querySelectorAll('[data-index]')]
      return rows.find((row) => row.getBoundingClientRect().bottom > top + padding + 1)?.textContent?.trim()
    })
  await expect.poll(firstShown).toBe('said 100')
  for (const [px, height] of [
    [14, 20],
    [28, 40],
  ] as const) {
    await chooseLetters(px)
    await expect.poll(heightOfRows).toBe(height)
    await expect.poll(firstShown).toBe('said 100')
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('text of an open chart follows another size', async () => {
  // What is drawn is read from the library that draws it.
  await page.addInitScript(`globalThis.drawn = new Set()
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (...given) {
      drawn.add(Number.parseFloat(this.font))
      return fillText.apply(this, given)
    }`)
  await page.goto('/server/metrics')
  await page.getByRole('figure').first().waitFor()
  const drawn = () => page.evaluate<number[]>('[...drawn]')
  await expect.poll(drawn).toEqual([24])
  await page.evaluate('drawn.clear()')
  await chooseLetters(14)
  await expect.poll(drawn).toContain(12)
})

test('text as large as the browser is set to has room in the sidebar', async () => {
  const wide = await large.enter(server, { viewport: { width: 2400, height: 1000 } })
  await wide.goto('/services')
  const bar = wide.getByRole('complementary', { name: 'Sidebar' })
  const link = bar.getByRole('link', { name: 'Notifications' })
  const letters = 'Number.parseFloat(getComputedStyle(document.body).fontSize)'
  expect(await wide.evaluate<number>(letters)).toBe(28)
  expect(await link.evaluate((element) => element.clientHeight)).toBeLessThan(70)
  const excess = await bar.evaluate((element) =>
    Math.max(...[...element.querySelectorAll('*')].map((part) => part.scrollWidth - element.clientWidth)),
  )
  expect(excess).toBeLessThanOrEqual(0)
  expect(large.faults).toEqual([])
})
