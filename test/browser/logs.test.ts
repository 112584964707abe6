import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { storedLine } from '#server/logs/lines.ts'
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

test('neither the focus nor selected text passes to another line when theirs is scrolled away', async () => {
  const page = await open()
  const log = page.getByRole('log')
  const scrollTo = async (number: number) => {
    await log.evaluate((element, top) => (element.scrollTop = top), 20 * (number - 3_001))
    await rowOf(page, number).waitFor()
  }
  const chosen = rowOf(page, ALL - 3)
  await chosen.getByRole('button').click()
  await chosen.getByRole('button').and(page.locator(':focus')).waitFor()
  await scrollTo(3_001)
  await scrollTo(4_000)
  expect(await log.locator(':focus').count()).toBe(0)

  // Rows before and after those in view are there once it rests.
  await rowOf(page, 3_985).waitFor()
  await rowOf(page, 4_000).locator('.log-text').selectText()
  const selected = () => page.evaluate<string>('getSelection().toString()')
  await scrollTo(4_010)
  await scrollTo(3_995)
  await scrollTo(3_985)
  await log.locator('[data-scrolling]').waitFor({ state: 'detached' })
  expect(await selected()).toBe('said 4000.')
  await scrollTo(3_001)
  await scrollTo(3_500)
  expect(await selected()).toBe('')
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('a selection over lines is copied without numbers and times, in their order after scrolling', async () => {
  const page = await open('', { permissions: ['clipboard-read', 'clipboard-write'] })
  const log = page.getByRole('log')
  await rowOf(page, ALL).waitFor()
  for (const top of [0, 20 * 500, 20 * 510, 20 * 495]) {
    await log.evaluate((element, top) => (element.scrollTop = top), top)
    await rowOf(page, 3_001 + top / 20 + 5).waitFor()
  }
  await log.locator('[data-scrolling]').waitFor({ state: 'detached' })
  const order = await page
    .locator('[data-index]')
    .evaluateAll((rows) => rows.map((row) => Number(row.dataset.index)))
  expect(order).toEqual(order.toSorted((one, other) => one - other))
  await page.evaluate(`{
    const textOf = (said) => [...document.querySelectorAll('.log-text')].find((text) => text.textContent === said)
    getSelection().setBaseAndExtent(textOf('said 3500.'), 0, textOf('said 3511.'), 0)
  }`)
  await page.keyboard.press('ControlOrMeta+c')
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  const lines = copied.split('\n').filter((line) => line !== '')
  expect(lines).toEqual(Array.from({ length: 11 }, (_, at) => `said ${3_500 + at}.`))
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

test('the keyboard reaches the link of the line that was found', async () => {
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

test('a build log keeps its real numbers and the height of its rows when they have six digits', async () => {
  const { body: built } = await server.api('POST', '/services', { name: 'built', image: 'busybox:1' })
  const page = await browser.enter(server)
  await page.route('**/api/v1/deploys/*/logs?*', (route) => {
    const some = (first: number) => Array.from({ length: 50 }, (_, at) => eventOf(first + at)).join('')
    const skipped = `event: skipped\ndata: ${JSON.stringify({ count: 120_000 })}\n\n`
    const body = `${some(1)}${skipped}${some(120_051)}event: end\ndata: {}\n\n`
    return route.fulfill({ contentType: 'text/event-stream', body })
  })
  await page.goto(`/services/built/deploys/${built.latest_deploy.id}`)
  const last = rowOf(page, 120_100)
  await last.getByRole('button', { name: 'Link to line 120100', exact: true }).waitFor()
  expect((await last.boundingBox())!.height).toBe(20)
  const bottomOf = async (part: Locator) => {
    const box = (await part.boundingBox())!
    return box.y + box.height
  }
  const below = async () => (await bottomOf(last)) - (await bottomOf(page.getByRole('log')))
  await expect.poll(below).toBeLessThanOrEqual(0)
  await page.goto(`/services/built/deploys/${built.latest_deploy.id}#L120077`)
  await rowOf(page, 120_077).and(page.locator('.log-marked')).waitFor()
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('rows of a log that is in view as a whole are one below the other when lines wrap and times come', async () => {
  const { body: built } = await server.api('POST', '/services', { name: 'wordy', image: 'busybox:1' })
  const page = await browser.enter(server)
  await page.route('**/api/v1/deploys/*/logs?*', (route) => {
    const long = 'a word '.repeat(60)
    const event = (at: number) =>
      `event: log\ndata: ${JSON.stringify({ ts: momentOf(at), stream: 'stdout', line: long })}\n\n`
    const body = `${[1, 2, 3, 4, 5, 6, 7].map(event).join('')}event: end\ndata: {}\n\n`
    return route.fulfill({ contentType: 'text/event-stream', body })
  })
  await page.goto(`/services/wordy/deploys/${built.latest_deploy.id}`)
  const rows = page.getByRole('log').locator('[data-index]')
  /** How high the rows are, and how far each one begins below the end of the one before. */
  const places = async () => {
    const boxes = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().toJSON()))
    const gaps = boxes.slice(1).map(({ top }, at) => Math.round(top - boxes[at].bottom))
    return { heights: [...new Set(boxes.map(({ height }) => Math.round(height)))], gaps: [...new Set(gaps)] }
  }
  await expect.poll(places).toEqual({ heights: [20], gaps: [0] })
  for (const name of ['Wrap lines', 'Timestamps', 'Timestamps']) {
    await page.getByRole('button', { name }).click()
    await expect.poll(places).toEqual({ heights: [expect.toSatisfy((height) => height > 20)], gaps: [0] })
  }
  await page.getByRole('button', { name: 'Wrap lines' }).click()
  await expect.poll(places).toEqual({ heights: [20], gaps: [0] })
  await page.context().close()
})

/** The log of a build whose second step failed next to another one, which printed at the same time. */
function builtLog(): string {
  const started_at = momentOf(1)
  const step = (id: string, name: string, end: object) => {
    const running = { started_at, id, name, cached: false, duration_ms: null, status: 'running' }
    return `event: step\ndata: ${JSON.stringify({ ...running, ...end })}\n\n`
  }
  const said = (line: string, step?: string) =>
    `event: log\ndata: ${JSON.stringify({ ts: started_at, stream: step ? 'stdout' : 'system', line, step })}\n\n`
  const [source, tests, build] = [
    'Fetch the source',
    '[test 2/2] RUN npm test',
    '[build 2/2] RUN npm run build',
  ]
  return [
    step('source', source, {}),
    ...Array.from({ length: 200 }, (_, at) => said(`fetched ${at + 1}.`, 'source')),
    step('source', source, { duration_ms: 12_300, status: 'succeeded' }),
    step('build-1', '[1/2] FROM node:24', { cached: true, duration_ms: 0, status: 'succeeded' }),
    step('build-2', tests, {}),
    step('build-3', build, {}),
    ...Array.from({ length: 100 }, (_, at) => [
      said(`#2 ${tests}`, 'build-2'),
      said(at === 99 ? 'Error: 2 is not 3' : `tested ${at + 1}.`, 'build-2'),
      said(`#3 ${build}`, 'build-3'),
      said(`built ${at + 1}.`, 'build-3'),
    ]).flat(),
    said('#2 ERROR', 'build-2'),
    step('build-2', tests, { duration_ms: 4_000, status: 'failed' }),
    step('build-3', build, { duration_ms: 4_000, status: 'canceled' }),
    said('failed: exit code 1'),
    'event: end\ndata: {}\n\n',
  ].join('')
}

test('the log of a deploy is folded by steps, the failed one open; a link, a search and the error open others', async () => {
  const { body: service } = await server.api('POST', '/services', { name: 'stepped', image: 'busybox:1' })
  const page = await browser.enter(server, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.route('**/api/v1/deploys/*/logs?*', (route) =>
    route.fulfill({ contentType: 'text/event-stream', body: builtLog() }),
  )
  const place = `/services/stepped/deploys/${service.latest_deploy.id}`
  await page.goto(place)
  const log = page.getByRole('log')
  const step = (name: RegExp, expanded: boolean) => log.getByRole('button', { name, expanded })
  await log.getByText('failed: exit code 1').waitFor()
  await page.getByRole('button', { name: 'Jump to the error' }).click()
  // Its number counts all lines, also those that are not shown.
  await page.waitForURL(({ hash }) => hash === '#L598')
  expect(await log.locator('.log-marked').innerText()).toBe('Error: 2 is not 3')
  await log.evaluate((element) => (element.scrollTop = 0))
  await step(/^Fetch the source ?, succeeded.*12 s$/, false).waitFor()
  await log.getByText('[1/2] FROM node:24').waitFor()
  await log.getByText('cached').waitFor()
  expect(await step(/FROM node/, false).count()).toBe(0)
  await step(/RUN npm test ?, failed/, true).waitFor()
  // Neither the lines of the other step nor those that repeat the heading are in between.
  const texts = () => log.locator('.log-text').allInnerTexts()
  expect((await texts()).slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, at) => `tested ${at + 1}.`))

  await page.getByLabel('Find in view').fill('built 50.')
  await page.getByText('0 of 1').waitFor()
  await page.keyboard.press('Enter')
  await log.getByText('built 50.').waitFor()
  await page.getByLabel('Find in view').fill('')
  await log.locator('.log-found').waitFor({ state: 'detached' })

  // What is in view stays there while steps above it open.
  const foundAt = async () => (await log.getByText('built 50.').boundingBox())?.y
  const before = await foundAt()
  await page.getByRole('button', { name: 'Expand all steps' }).click()
  await expect.poll(() => log.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(20 * 200)
  expect(await foundAt()).toBe(before)
  // Elements of lines that may wrap, which are measured, become those of headings and of lines again.
  const wrap = page.getByRole('button', { name: 'Wrap lines' })
  await wrap.click()
  const heights = await log.evaluate(async (element) => {
    const heights = new Set([element.scrollHeight])
    for (const way of [1, -1])
      for (let count = 0; count < 60; count++) {
        element.scrollTop += way * 250
        await new Promise((drawn) => setTimeout(drawn, 20))
        heights.add(element.scrollHeight)
      }
    return heights.size
  })
  expect(heights).toBe(1)
  await wrap.click()
  await log.evaluate((element) => (element.scrollTop = 0))
  await log.getByText('fetched 1.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Collapse all steps' }).click()
  await step(/RUN npm run build ?, canceled/, false).waitFor()
  await expect.poll(texts).toEqual(['failed: exit code 1'])
  await page.getByRole('button', { name: 'Copy the log' }).click()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  expect(copied).toMatch(/fetched 200\.\n.*#2 \[test 2\/2\] RUN npm test\n.*tested 1\.\n/)

  await page.goto(`${place}#L100`)
  await page.reload()
  await log.getByText('fetched 100.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Group by steps' }).click()
  await log.evaluate((element) => (element.scrollTop = 20 * 200))
  await log.getByText('#2 [test 2/2] RUN npm test').first().waitFor()
  expect(await log.getByRole('button', { name: /RUN npm test/ }).count()).toBe(0)
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('lines of a running log have a link and no number: they would only count what is loaded', async () => {
  const page = await open()
  await rowOf(page, ALL).getByRole('button', { name: 'Link to this line' }).waitFor()
  expect(await page.locator('.log-number').first().getAttribute('data-number')).toBe('#')
  await page.context().close()
})

test('the deploy of an address is chosen although it is not among those to choose from', async () => {
  const deploy = `dep-${'0'.repeat(20)}`
  const page = await open(`?deploy=${deploy}`)
  await rowOf(page, ALL).waitFor()
  expect(await page.getByRole('combobox', { name: 'Deploy', exact: true }).inputValue()).toBe(deploy)
  await page.context().close()
})

test('a histogram that could not be counted says why, and is counted again on request', async () => {
  const page = await browser.enter(server)
  let refused = false
  await page.route('**/api/v1/logs/histogram?*', (route) => {
    if (refused) return route.continue()
    refused = true
    const error = { code: 'service_unavailable', message: '8 log searches are running' }
    return route.fulfill({ status: 503, json: { error } })
  })
  await page.goto('/logs')
  await page.getByRole('alert').getByText('8 log searches are running').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('img', { name: /^Lines over time/ }).waitFor()
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('touch reaches the link of a line', async () => {
  const page = await open('', { viewport: PHONE, hasTouch: true, isMobile: true })
  const box = await rowOf(page, ALL).getByRole('button').boundingBox()
  expect(Math.min(box!.width, box!.height)).toBeGreaterThanOrEqual(24)
  await page.context().close()
})

/** Creates a service whose log has these lines of each of these numbers of minutes ago. */
async function keepLog(name: string, lines: Record<number, string>): Promise<void> {
  const { body } = await server.api('POST', '/services', { name, image: 'busybox:1', deploy: false })
  const folder = join(server.dataDirectory, 'logs', 'services', body.id)
  mkdirSync(folder, { recursive: true })
  const stored = Object.entries(lines)
    .toSorted(([one], [other]) => Number(other) - Number(one))
    .flatMap(([minutes, text]) => {
      const ts = new Date(Date.now() - Number(minutes) * 60_000).toISOString()
      return text.split('\n').map((line) => storedLine({ ts, stream: 'stdout', line, instance: name }))
    })
  const day = new Date().toISOString().slice(0, 'yyyy-mm-dd'.length)
  writeFileSync(join(folder, `${'0'.repeat(15)}.${day}.ndjson`), stored.join(''))
}

test('logs of several services are narrowed down to a line, its surroundings and a link', async () => {
  await keepLog('shop', {
    40: 'order 1 placed',
    22: 'WARN slow <b>order</b>',
    20: 'order 2 placed',
    3: 'order 3 placed',
  })
  await keepLog('pay', { 30: 'paid 1', 21: 'ERROR card refused', 2: 'paid 2' })
  const page = await browser.enter(server)
  await page.goto('/logs')
  const rows = page.getByRole('log').locator('.log-row')
  const texts = () => rows.locator('.log-text').allTextContents()
  await expect
    .poll(texts)
    .toEqual([
      ...['order 1 placed', 'paid 1', 'WARN slow <b>order</b>', 'ERROR card refused', 'order 2 placed'],
      ...['order 3 placed', 'paid 2'],
    ])
  expect(await rows.locator('.log-service').first().getAttribute('data-service')).toBe('shop')
  const chart = page.getByRole('img', {
    name: /^Lines over time: 1 error, 1 warning, 5 info\. The most, 1, at /,
  })
  const box = (await chart.boundingBox())!
  // The histogram is of the last hour: from 25 to 15 minutes ago.
  const at = (minutes: number) => box.x + box.width * (1 - minutes / 60)
  await page.mouse.move(at(25), box.y + 20)
  await page.mouse.down()
  await page.mouse.move(at(15), box.y + 20, { steps: 3 })
  await page.mouse.up()
  await page.waitForURL(/since=.*until=/)
  const between = ['WARN slow <b>order</b>', 'ERROR card refused', 'order 2 placed']
  await expect.poll(texts).toEqual(between)
  await page.getByLabel('Level').selectOption('Warnings and errors')
  await expect.poll(texts).toEqual(between.slice(0, 2))
  // Only the keyboard.
  await page.getByRole('button', { name: 'Services: All services' }).press('Enter')
  await page
    .getByRole('menuitemcheckbox', { name: 'All services', exact: true })
    .and(page.locator(':focus'))
    .waitFor()
  await page.keyboard.type('pay')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.waitForURL(/service=pay/)
  await expect.poll(texts).toEqual(['ERROR card refused'])
  await rows.getByRole('button', { name: 'Link to this line' }).click()
  await page.getByText(/^Line of pay, instance pay, /).waitFor()
  // The address says everything.
  const later = await page.context().newPage()
  await later.goto(page.url())
  await later.locator('.log-marked').getByText('ERROR card refused').waitFor()
  await later.getByRole('button', { name: 'Services: pay' }).waitFor()
  await page.getByRole('link', { name: 'Show around this line' }).click()
  await page.waitForURL(/services\/pay\/logs\?.*instance=pay/)
  await page.locator('.log-marked').getByText('ERROR card refused').waitFor()
  expect(browser.faults).toEqual([])
  await page.context().close()
})

test('of lines at the same time, the one that was chosen is shown with what is around it', async () => {
  await keepLog('trace', { 5: 'Error: no card\n    at pay\n    at shop' })
  const page = await browser.enter(server)
  await page.goto('/logs?service=trace')
  const row = page.getByRole('log').locator('.log-row').filter({ hasText: 'at pay' })
  await row.getByRole('button', { name: 'Link to this line' }).click()
  await page.getByRole('link', { name: 'Show around this line' }).click()
  await page.waitForURL(/services\/trace\/logs/)
  await expect.poll(() => page.locator('.log-marked .log-text').allTextContents()).toEqual(['    at pay'])
  expect(browser.faults).toEqual([])
  await page.context().close()
})
