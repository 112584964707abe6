import { chromium, type Browser, type Cookie, type Page } from 'playwright-core'
import type { TestServer } from '../../test/support/server.ts'

const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell'
const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse battery staple'

/** A browser that is signed in to a server's dashboard. */
export interface DashboardBrowser {
  /** Opens a page that has nothing stored but the session. */
  page: () => Promise<Page>
  close: () => Promise<void>
}

/** Creates the account of a new server and signs a browser in. */
export async function openDashboard(server: TestServer): Promise<DashboardBrowser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  const cookies = await signIn(browser, server)
  return {
    async page() {
      const context = await browser.newContext({ baseURL: server.url })
      await context.addCookies(cookies)
      return context.newPage()
    },
    close: () => browser.close(),
  }
}

async function signIn(browser: Browser, { url, setupCode }: TestServer): Promise<Cookie[]> {
  const context = await browser.newContext({ baseURL: url })
  const data = { email: EMAIL, password: PASSWORD, code: setupCode }
  const answer = await context.request.post('/api/v1/auth/setup', { data })
  if (!answer.ok()) throw new Error(`nobody was signed in: ${await answer.text()}`)
  const cookies = await context.cookies()
  await context.close()
  return cookies
}
