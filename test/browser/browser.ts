import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Cookie,
  type Page,
} from 'playwright-core'
import { afterEach } from 'vitest'
import type { TestServer } from '../support/server.ts'

/**
 * Debian's, without the parts that draw on a screen: pages take 41 % less processor time than in the desktop browser.
 * Another one can be named.
 */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell'
/** Pages wait for a real server and perhaps a real build; longer is a hang. */
const WAIT_LIMIT_MS = 120_000

const EMAIL = 'ada@example.com'
export const PASSWORD = 'correct horse battery staple'
export const PHONE = { width: 390, height: 844 }

interface PageOptions extends BrowserContextOptions {
  /** A page loads the code of all the others once it is idle, as for people; that costs as much as the page itself. */
  loadsAhead?: boolean
  /**
   * The notice that the engine does not answer is shown. It moves the page down when it comes, and a click under which the
   * page moves between press and release is none; servers of tests that need no engine have none.
   */
  showsEngineNotice?: boolean
}

/** Enough to see what a page waited for. */
const MAX_SNAPSHOT_CHARACTERS = 6_000
const openPages = new Set<Page>()

/** Prints what the pages of a failed test show, since nobody can look on another machine. */
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return
  for (const page of openPages) {
    const shown = await page.locator('body').ariaSnapshot({ timeout: 5_000 }).catch(String)
    const text = shown.slice(0, MAX_SNAPSHOT_CHARACTERS)
    process.stderr.write(`\n${task.name}: the page at ${page.url()} shows:\n${text}\n`)
  }
})

/** A real Chromium that records what went wrong in its pages. */
export class TestBrowser implements AsyncDisposable {
  readonly #browser: Browser
  readonly #faults: string[] = []
  /** What signs a page in; empty until one was. */
  #cookies: Cookie[] = []

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async launch(...flags: string[]): Promise<TestBrowser> {
    const args = ['--no-sandbox', ...flags]
    return new TestBrowser(await chromium.launch({ executablePath: CHROMIUM, args }))
  }

  /** A page with its own cookies and storage, for the dashboard at `baseURL`. */
  async open(baseURL: string, options: PageOptions = {}): Promise<Page> {
    const { loadsAhead = false, showsEngineNotice = false, ...contextOptions } = options
    // A spinner is drawn sixty times a second, without a graphics card.
    const context = await this.#browser.newContext({ baseURL, reducedMotion: 'reduce', ...contextOptions })
    context.setDefaultTimeout(WAIT_LIMIT_MS)
    this.#watch(context, new URL(baseURL).host)
    if (!loadsAhead) await keepBusy(context)
    if (!showsEngineNotice) await hideEngineNotice(context)
    const page = await context.newPage()
    openPages.add(page)
    page.on('close', () => openPages.delete(page))
    return goesAgain(page)
  }

  /**
   * Such a page, signed in. The account is created or signed in to once, over HTTP: with clicks that takes seconds, and the
   * clicks are tested where sign-in is the subject.
   */
  async enter(server: TestServer, options: PageOptions = {}): Promise<Page> {
    const page = await this.open(server.url, options)
    const context = page.context()
    if (this.#cookies.length > 0) {
      await context.addCookies(this.#cookies)
      return page
    }
    const { setupCode } = server
    const answer = await page.request.post(`/api/v1/auth/${setupCode ? 'setup' : 'login'}`, {
      data: { email: EMAIL, password: PASSWORD, ...(setupCode ? { code: setupCode } : {}) },
    })
    if (!answer.ok()) throw new Error(`nobody was signed in: ${await answer.text()}`)
    this.#cookies = await context.cookies()
    return page
  }

  /** What went wrong so far: a page threw, its policy refused something, or it contacted another host. */
  get faults(): readonly string[] {
    return this.#faults
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }

  #watch(context: BrowserContext, host: string): void {
    context.on('weberror', (error) => this.#faults.push(`threw ${error.error().message}`))
    context.on('console', (message) => {
      if (/content security policy|\[Vue warn\]/i.test(message.text())) this.#faults.push(message.text())
    })
    context.on('request', (request) => {
      const url = new URL(request.url())
      if (!isOwn(url, host)) this.#faults.push(`asked ${url.href}`)
    })
  }
}

/** What Chromium says about a document that it has cut off, and about the next one, which its page may then hit. */
const CUT_OFF = /ERR_NETWORK_CHANGED|interrupted by another navigation to "chrome-error:/
/** More containers than one may come and go meanwhile. */
const MAX_CUTS = 10

/**
 * A container that another test starts or removes changes the machine's addresses, upon which Chromium aborts requests
 * under way. The dashboard repeats them by itself; the document is requested again by the test.
 */
function goesAgain(page: Page): Page {
  const goto = page.goto.bind(page)
  page.goto = async (url, options) => {
    for (let cuts = 0; ; cuts++) {
      try {
        return await goto(url, options)
      } catch (error) {
        if (cuts === MAX_CUTS || !CUT_OFF.test((error as Error).message)) throw error
      }
    }
  }
  return page
}

/** Tests open pages of deployed services themselves; blob and data addresses leave no browser. */
function isOwn(url: URL, host: string): boolean {
  return (
    url.host === host ||
    url.hostname.endsWith('.localhost') ||
    url.protocol === 'blob:' ||
    url.protocol === 'data:'
  )
}

/** Creates the account with the link that the server prints; ends at the overview. */
export async function setUp(page: Page, code: string): Promise<void> {
  await page.goto(`/setup?code=${code}`)
  await page.getByLabel('E-mail').fill(EMAIL)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL('**/overview')
}

export async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(EMAIL)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Keeps pages from loading in advance, which away.test.ts tests. */
async function keepBusy(context: BrowserContext): Promise<void> {
  await context.addInitScript(`const { requestIdleCallback: whenIdle } = globalThis
    globalThis.requestIdleCallback = () => {
      // The dashboard itself asks first; an editor on the page may ask later.
      globalThis.requestIdleCallback = whenIdle
      return 0
    }`)
}

async function hideEngineNotice(context: BrowserContext): Promise<void> {
  await context.addInitScript(`const sheet = new CSSStyleSheet()
    sheet.replaceSync('#engine-notice { display: none }')
    document.adoptedStyleSheets.push(sheet)`)
}

/** Waits until the badge next to the page's heading, which is announced to screen readers, says this. */
export async function waitForBadge(page: Page, text: string): Promise<void> {
  await page.locator('h1 + [role=status]', { hasText: new RegExp(`^\\s*${text}\\s*$`) }).waitFor()
}
