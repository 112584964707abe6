import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { PHONE, TestBrowser } from './browser.ts'

/** Lines of the simulated log, of which the page requests the newest. */
const ALL = 5_000

let browser: TestBrowser
let server: TestServer

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  await browser.enter(server)
  await server.api('POST', '/services', { name: 'talker', image: 'busybox:1', deploy: false })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

/** Of a followed log only the stored lines can be simulated, since it stays open: the test itself sends later ones. */
const STAYS_OPEN = `const whole = fetch
  globalThis.fetch = async (url, ...rest) => {
    const answer = await whole(url, ...rest)
    if (!/\\/logs\\?.*follow=true/.test(String(url))) return answer
    const stored = new Uint8Array(await answer.arrayBuffer())
    const start = (stream) => {
      globalThis.said = stream
      stream.enqueue(stored)
    }
    return new Response(new ReadableStream({ start }), answer)
  }`

/** Three lines come at a time. */
const momentOf = (number: number) =>
  new Date(Date.UTC(2026, 0, 1) + Math.floor(number / 3) * 3_000).toISOString()

/** What the server answers for such a log. */
function answered(asked: URL): string {
  const { since = '', until, tail, follow } = Object.fromEntries(asked.searchParams)
  const lines = Array.from({ length: ALL }, (_, at) => ({ number: at + 1, ts: momentOf(at + 1) }))
    // Everything is older than what `since` asks for.
    .filter(({ ts }) => ts >= since && !since.endsWith('m') && (until === undefined || ts <= until))
    .slice(-Number(tail))
  const end = follow === 'true' ? '' : 'event: end\ndata: {}\n\n'
  return `${lines.map(({ number, ts }) => eventOf(number, ts)).join('')}${end}`
}

function eventOf(number: number, ts = momentOf(number)): string {
  return `event: log\ndata: ${JSON.stringify({ ts, stream: 'stdout', line: `said ${number}.` })}\n\n`
}

/** So many more lines come in a followed log. */
async function say(page: Page, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, at) => eventOf(ALL + at + 1)).join('')
  await page.evaluate(`said.enqueue(new TextEncoder().encode(${JSON.stringify(events)}))`)
}

/** A page with the log of a service at this place of its address. */
async function open(place = '', options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.enter(server, options)
  await page.addInitScript(STAYS_OPEN)
  await page.route('**/api/v1/services/*/logs?*', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: answered(new URL(route.request().url())) }),
  )
  await page.goto(`/services/talker/logs${place}`)
  return page
}

const rowOf = (page: Page, number: number) =>
  page
    .getByRole('log')
    .locator('.log-row')
    .filter({ hasText: `said ${number}.` })

test('a link to a line works even when newer lines have pushed it out of what is shown at first', async () => {
  const page = await open()
  await rowOf(page, ALL - 3)
    .getByRole('button')
    .click()
  await page.waitForURL(({ hash }) => hash === `#${momentOf(ALL - 3)}+2`)
  await page.context().close()

  const later = await open(`#${momentOf(100)}+1`)
  await rowOf(later, 100).and(later.locator('.log-marked')).waitFor()
  await expect.poll(() => rowOf(later, 100).isVisible()).toBe(true)
  expect(await later.locator('.log-marked').count()).toBe(1)
  // The lines before and after it are there too.
  await rowOf(later, 99).waitFor()
  await rowOf(later, 101).waitFor()
  expect(browser.faults).toEqual([])
  await later.context().close()
})

test('a selected line stays in view, and keeps the focus, while others come', async () => {
  const page = await open()
  const chosen = rowOf(page, ALL - 3)
  await chosen.getByRole('button').click()
  await chosen.and(page.locator('.log-marked')).waitFor()
  await say(page, 300)
  const rows = () => page.getByRole('log').evaluate((log) => Math.floor(log.scrollHeight / 20))
  await expect.poll(rows).toBeGreaterThanOrEqual(2_300)
  await page.getByRole('button', { name: 'Follow' }).waitFor()
  await chosen.getByRole('button').and(page.locator(':focus')).waitFor()
  expect(await rowOf(page, ALL + 300).count()).toBe(0)
  await page.context().close()
})

test('a link within a range that has moved on since works', async () => {
  const page = await open(`?since=15m#${momentOf(100)}+1`)
  await rowOf(page, 100).and(page.locator('.log-marked')).waitFor()
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('a link to a line that does not exist leads to the next one, and marks nothing', async () => {
  const page = await open(`#${momentOf(100)}+7`)
  await rowOf(page, 102).waitFor()
  expect(await page.locator('.log-marked').count()).toBe(0)
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test.for(['2030-01-01T00:00:00.000Z', '2025-99-99T00:00:00.000Z'])(
  'a log is followed although nothing has come of %s, to which its address leads',
  async (moment) => {
    const page = await open(`#${moment}`)
    await rowOf(page, ALL).waitFor()
    await say(page, 300)
    await rowOf(page, ALL + 300).waitFor()
    expect(browser.faults).toEqual([])
    await page.context().close()
  },
)

test('a log says that it has older lines, even to a browser whose clock is a little behind', async () => {
  const page = await open()
  await page.route('**/api/v1/services/*/logs?*', (route) => {
    const ahead = new Date(Date.now() + 2_000).toISOString()
    const events = Array.from({ length: 2_000 }, (_, at) => eventOf(at + 1, ahead))
    return route.fulfill({ contentType: 'text/event-stream', body: events.join('') })
  })
  await page.reload()
  await page.getByText('Only the newest lines are shown.').waitFor()
  await page.context().close()
})

test('a log of which only the newest lines are shown says so', async () => {
  const page = await open()
  const note = page.getByText('Only the newest lines are shown.')
  await note.waitFor()
  await page.goto(`/services/talker/logs?since=${momentOf(ALL - 10)}`)
  await rowOf(page, ALL).waitFor()
  expect(await note.count()).toBe(0)
  expect(await page.getByText('Only the newest matches are shown.').count()).toBe(0)
  await page.context().close()
})

test('the keyboard reaches the number of the line that was found, which links to it', async () => {
  const page = await open()
  await rowOf(page, ALL).waitFor()
  await page.getByLabel('Find in view').fill('said 4000.')
  await page.getByText('0 of 1').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('1 of 1').waitFor()
  await rowOf(page, 4_000).waitFor()
  await page.getByRole('log').focus()
  await page.keyboard.press('Tab')
  expect(
    await rowOf(page, 4_000)
      .getByRole('button')
      .evaluate((part) => part.matches(':focus')),
  ).toBe(true)
  await page.keyboard.press('Enter')
  await page.waitForURL(({ hash }) => hash === `#${momentOf(4_000)}+1`)
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('a log button that disappears gives the focus to its neighbour', async () => {
  const page = await open(`?since=${momentOf(ALL - 500)}`)
  await rowOf(page, ALL).waitFor()
  await page.getByRole('log').press('PageUp')
  await page.getByRole('button', { name: 'Follow' }).press('Enter')
  await page.getByRole('log').and(page.locator(':focus')).waitFor()
  await page.getByRole('button', { name: 'Clear' }).press('Enter')
  await page.getByLabel('Time range').and(page.locator(':focus')).waitFor()
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('touch reaches the number of a line', async () => {
  const page = await open('', { viewport: PHONE, hasTouch: true, isMobile: true })
  const box = await rowOf(page, ALL).getByRole('button').boundingBox()
  expect(Math.min(box!.width, box!.height)).toBeGreaterThanOrEqual(24)
  await page.context().close()
})
