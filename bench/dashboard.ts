// Measures pages of the dashboard in a browser whose processor is slowed 4 times: how long until they can be used, what they
// load until then, and how smoothly a long log and a long overview are followed and scrolled, with the whole processor too.
import type { CDPSession, Page } from 'playwright-core'
import { startServer, type TestServer } from '../test/support/server.ts'
import { builtServer } from '../test/support/build.ts'
import { openDashboard } from './lib/dashboard-browser.ts'
import { FRAMES, framesDuring, heapBytes, LINES_ARRIVE, whenUsable, type Visit } from './lib/in-page.ts'
import { formatMib, median } from './lib/figures.ts'

const SLOWED = 4
const ROUNDS = 7
const SERVICES = 50
const MANY_SERVICES = 500
const LOG_LINES = 200_000
const LINES_PER_SECOND = 1_000
const FOLLOW_MS = 5_000
const SCROLL_STEPS = 100
/** Pixels each time the page answers: as fast as a hand turns a wheel, and as far as a scroll bar is dragged. */
const SPEEDS = { 'by the wheel': 120, 'by the bar': 900 }
/** As fast as several deploys at a time change services. */
const CHANGE_MS = 200
const MEASURE_MS = 10_000
/** An hour of a talkative service. */
const HOUR_LINES = 3_600 * 100
const BURST_LINES = 20_000
const KIB = 1_024

/** What a page is usable by. */
interface Subject {
  label: string
  path: string
  /** Something that is only there once the page shows its data. */
  selector: string
}

await builtServer()
// The engine is not needed: what is shown does not run.
const server = await startServer()
const browser = await openDashboard(server)
try {
  await createServices(server, 0, SERVICES)
  const deploy = await logOf(server)
  const empty = { label: 'an empty page', path: '/nothing-here', selector: 'main h2' }
  const pages: Subject[] = [
    { label: `/services of ${SERVICES}`, path: '/services', selector: 'main [role=listitem]' },
    { label: '/', path: '/', selector: 'main [role=listitem]' },
    { label: 'a service', path: '/services/service-1', selector: 'main h2' },
    { label: 'a deploy', path: `/services/talker/deploys/${deploy}`, selector: '[role=log] .log-row' },
  ]
  await compare(empty, pages)
  await createServices(server, SERVICES, MANY_SERVICES)
  await compare(empty, [{ ...pages[0]!, label: `/services of ${MANY_SERVICES}` }])
  for (const times of [1, SLOWED]) {
    await measureOverview(times)
    await measureLog(times)
  }
} finally {
  await browser.close()
  await server.stop()
}

async function createServices(server: TestServer, from: number, to: number): Promise<void> {
  for (let number = from; number < to; number++)
    await server.api('POST', '/services', {
      name: `service-${number}`,
      repo_url: 'https://git.example.com/team/app.git',
      deploy: false,
    })
}

/** Creates a deploy, which without an engine waits and has a log. */
async function logOf(server: TestServer): Promise<string> {
  const { body } = await server.api('POST', '/services', { name: 'talker', image: 'busybox:1' })
  return body.latest_deploy.id as string
}

/** Visits an empty page and these in turns, each time in a browser that has nothing of them. */
async function compare(empty: Subject, pages: Subject[]): Promise<void> {
  const visits = new Map<Subject, Visit[]>([empty, ...pages].map((page) => [page, []]))
  for (let round = 0; round < ROUNDS; round++) for (const [page, list] of visits) list.push(await visit(page))
  const usual = median(visits.get(empty)!.map(({ ms }) => ms))
  for (const [page, list] of visits) {
    const ms = median(list.map((each) => each.ms))
    const { scriptBytes, requests } = list[0]!
    const ratio = page === empty ? '' : `, ${(ms / usual).toFixed(2)} times the empty page`
    const aim = page.path === '/services' ? ' (aim: 1.5 times, 90 KiB, 30 requests)' : ''
    console.log(
      `${page.label}: usable after ${ms.toFixed(0)} ms${ratio}, ${(scriptBytes / KIB).toFixed(1)} KiB of JavaScript, ${requests} requests${aim}`,
    )
  }
}

async function visit({ path, selector }: Subject): Promise<Visit> {
  const page = await browser.page()
  await slow(page)
  await page.addInitScript(whenUsable(selector))
  await page.goto(path, { waitUntil: 'commit' })
  const found = await said(page, 'usable')
  await page.context().close()
  return found as Visit
}

/** Waits for a value that a script in the page sets. The page's policy keeps `waitForFunction` from taking a text. */
function said(page: Page, name: string): Promise<unknown> {
  return page.evaluate(
    (name) =>
      new Promise((resolve) => {
        const look = (): void => {
          const value = (globalThis as unknown as Record<string, unknown>)[name]
          if (value === undefined) setTimeout(look, LOOK_AGAIN_MS)
          else resolve(value)
        }
        const LOOK_AGAIN_MS = 20
        look()
      }),
    name,
  )
}

async function slow(page: Page, times = SLOWED): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: times })
  return session
}

/** Everything of the overview has figures. They change as often as the server measures, all of them. */
async function measureOverview(times: number): Promise<void> {
  const subject = `/overview of ${MANY_SERVICES} services, ${speedOf(times)}`
  const page = await browser.page()
  await page.addInitScript(FRAMES)
  await page.route('**/api/v1/overview', async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: withFigures(await answer.json()) })
  })
  await page.goto('/overview')
  await page.locator('main [role=listitem]').first().waitFor()
  await slow(page, times)
  await page.mouse.move(600, 400)
  for (const [how, speed] of Object.entries(SPEEDS)) {
    const scrolling = await framesDuring(page, () => scroll(page, speed))
    console.log(`${subject}, scrolled ${how} while rows come: ${scrolling} (aim: 50 frames a second)`)
  }
  // Down to the last row, so that all of them are there.
  for (let step = 0; step < SCROLL_STEPS; step++) await turn(page, SPEEDS['by the bar'])
  const following = await framesDuring(page, async () => {
    for (let ms = 0; ms < 2 * MEASURE_MS; ms += CHANGE_MS) {
      await server.api('PATCH', `/services/service-${ms / CHANGE_MS}`, { branch: `branch-${ms}` })
      await page.waitForTimeout(CHANGE_MS)
    }
  })
  console.log(
    `the same with all its rows, while ${1_000 / CHANGE_MS} changes come a second: ${following} (aim: 50 frames a second)`,
  )
  // A reading may be under way.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
}

function speedOf(times: number): string {
  return times === 1 ? 'with the whole processor' : `with a processor slowed ${times} times`
}

/** Turns the wheel on, and then most of the way back; does something else now and then. */
async function scroll(page: Page, speed: number, meanwhile?: () => Promise<void>): Promise<void> {
  for (let step = 0; step < SCROLL_STEPS; step++) {
    await turn(page, step < SCROLL_STEPS / 2 ? speed : -0.8 * speed)
    if (step % 10 === 0) await meanwhile?.()
  }
}

async function turn(page: Page, pixels: number): Promise<void> {
  await page.mouse.wheel(0, pixels)
  await page.waitForTimeout(20)
}

interface Measured {
  entries: Record<string, unknown>[]
}

function withFigures(overview: Measured): Measured {
  const measuring = Math.floor(Date.now() / MEASURE_MS)
  const some = (below: number, at = 0) => (measuring * 7_919 + at * 104_729) % below
  const points = (below: number) => Array.from({ length: 30 }, (_, at) => some(below, at))
  const entries = overview.entries.map((entry) => ({
    ...entry,
    instances: { running: 2, wanted: 2 },
    traffic: { requests: points(3_000), status_5xx: points(3) },
    memory: { used_bytes: some(512 * KIB * KIB), limit_bytes: 512 * KIB * KIB },
  }))
  return { ...overview, entries }
}

async function measureLog(times: number): Promise<void> {
  const subject = `a log of ${LOG_LINES} lines, ${speedOf(times)}`
  const page = await browser.page()
  await page.addInitScript(LINES_ARRIVE)
  await page.addInitScript(FRAMES)
  await page.goto(`/services/talker/logs`)
  await said(page, 'isOpen')
  for (let lines = 0; lines < LOG_LINES; lines += BURST_LINES) await say(page, BURST_LINES)
  const session = await slow(page, times)
  const following = await framesDuring(page, async () => {
    for (let ms = 0; ms < FOLLOW_MS; ms += 100) {
      await say(page, LINES_PER_SECOND / 10)
      await page.waitForTimeout(100)
    }
  })
  console.log(`${subject}, followed at ${LINES_PER_SECOND} a second: ${following} (aim: 50 frames a second)`)
  await page.getByRole('log').hover()
  for (const [how, speed] of Object.entries(SPEEDS)) {
    const scrolling = await framesDuring(page, () =>
      scroll(page, -speed, () => say(page, LINES_PER_SECOND / 10)),
    )
    console.log(`the same, scrolled ${how}: ${scrolling} (aim: 50 frames a second)`)
  }
  const before = await heapBytes(session)
  for (let lines = 0; lines < HOUR_LINES; lines += BURST_LINES) await say(page, BURST_LINES)
  const after = await heapBytes(session)
  console.log(
    `memory of the page: ${formatMib(before)}, and after ${HOUR_LINES} more lines (an hour at 100 a second) ${formatMib(after)}: ${(after / before).toFixed(2)} times (aim: 1.0)`,
  )
  await page.context().close()
}

/** So many lines come, and the page has shown them. */
async function say(page: Page, lines: number): Promise<void> {
  await page.evaluate(`globalThis.say(${lines})`)
}
