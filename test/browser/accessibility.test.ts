import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PlayedProvider } from '../git/providers.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { PHONE, setUp, signIn, TestBrowser } from './browser.ts'

const AXE = await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
/** All that axe knows of, its advice for good practice too; target size is off unless it is asked for. */
const RULES = { rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] }
/** What a narrow page can change. */
const LAYOUT = {
  ...RULES,
  rules: { 'target-size': { enabled: true }, 'color-contrast': { enabled: false } },
}
/** What a theme can change. */
const CONTRAST = { runOnly: ['color-contrast'], resultTypes: ['violations'] }

const SERVE = 'mkdir -p /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www'
/** Every way in which a line can be coloured. */
const COLOURS = `for n in 0 1 2 3 4 7; do printf "\\033[\${n}mstyle $n\\033[0m \\033[\${n};7mreverse\\033[0m\\n"; done
for f in 0 1 2 3 4 5 6 7; do printf "\\033[3\${f}mfg $f\\033[0m \\033[9\${f}mbright\\033[0m \\033[3\${f};7mreverse\\033[0m \\033[4\${f}mbg\\033[0m \\033[10\${f}mbright bg\\033[0m \\033[3\${f};2mdim\\033[0m\\n"; done
printf "\\033[38;5;208m256\\033[0m \\033[48;5;208m256\\033[0m \\033[38;2;1;2;3mtrue colour\\033[0m \\033[48;2;250;250;250mlight\\033[0m\\n"; echo whole; sleep 3600`

const WEBHOOK_SECRET = 'a secret of webhooks'

let browser: TestBrowser
let server: TestServer
let provider: PlayedProvider
let repositories: string

beforeAll(async () => {
  repositories = mkdtempSync(join(tmpdir(), 'accessibility-'))
  provider = await PlayedProvider.start(repositories)
  server = await startServer({ engine: true, flags: ['--webhook-secret', WEBHOOK_SECRET] })
  browser = await TestBrowser.launch()
  await setUp(await browser.open(server.url), server.setupCode)
  await server.api('POST', '/environments', { name: 'staging' })
  await server.api('POST', '/env-groups', { name: 'shared', vars: [{ key: 'LEVEL', value: 'info' }] })
  const create = (name: string, fields: object) =>
    server.api('POST', '/services', { name, image: 'busybox:1', ...fields })
  await create('shop', {
    start_command: SERVE,
    env_groups: ['shared'],
    env: [{ key: 'LEVEL', value: 'debug' }],
  })
  await create('colours', { type: 'background_worker', start_command: COLOURS })
  await create('broken', { start_command: 'echo no such file; exit 2' })
  await create('report', { type: 'cron_job', schedule: '0 0 29 2 *', start_command: 'echo said' })
  await create('parked', { environment: 'staging', deploy: false })
  await server.api('POST', '/datastores', { kind: 'keyvalue', name: 'cache' })
  await server.api('POST', '/datastores', { kind: 'relational', name: 'never', version: '999' })
  await create('worker', {
    type: 'background_worker',
    deploy: false,
    env: [{ key: 'REDIS_URL', value: '${{datastore.cache}}' }],
  })
  // Nothing listens there.
  const nowhere = 'http://127.0.0.1:9/x'
  await server.api('POST', '/log-drains', {
    name: 'archive',
    kind: 'http',
    url: nowhere,
    token: 'a-long-token',
  })
  await server.api('POST', '/notifications', { name: 'team', kind: 'webhook', url: nowhere })
  await state('shop', 'running')
  await state('colours', 'running')
  await state('broken', 'failed')
  await state('report', 'idle')
  await server.api('POST', '/services/report/jobs', {})
  await server.api('PATCH', '/services/shop', { start_command: 'exit 3' })
  await server.api('POST', '/services/shop/deploys', {})
  await waitFor(
    async () => (await server.api('GET', '/services/shop')).body.latest_deploy.status === 'deploy_failed',
    'the second deploy to fail',
  )
  await waitFor(
    async () => (await server.api('POST', '/datastores/cache/backups')).status === 202,
    'the datastore to take a backup',
  )
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
  await provider?.close()
  rmSync(repositories, { recursive: true, force: true })
})

async function state(name: string, wanted: string): Promise<void> {
  const isThere = async () => (await server.api('GET', `/services/${name}`)).body.state === wanted
  await waitFor(isThere, `${name} to be ${wanted}`)
}

/** As many as there are cores at the least: axe keeps one busy. */
const TABS = 2

/** Axe takes seconds of a core for each of them, in both themes and at two widths: that is minutes where nothing hangs. */
const MANY_PAGES_MS = 900_000

type Visit = [name: string, path: string, open?: (page: Page) => Promise<unknown>]

/** Every other page, and what can be opened on it. */
const VISITS: Visit[] = [
  ['the list', '/services'],
  ['the palette', '/services', (page) => openPalette(page, '')],
  ['the palette without a match', '/services', (page) => openPalette(page, 'nothing like it')],
  ['the first steps', '/services/new'],
  ['no blueprints', '/blueprints'],
  [
    'a blueprint that is synced',
    '/blueprints',
    (page) => page.getByRole('button', { name: 'Sync from git' }).click(),
  ],
  [
    'the editor of blueprints',
    '/blueprints/editor',
    (page) => page.getByRole('textbox', { name: 'Blueprint' }).waitFor(),
  ],
  ['an upload', '/services/new', (page) => page.getByText('Upload', { exact: true }).click()],
  ['all fields', '/services/new', (page) => unfold(page)],
  ['an overview', '/services/shop'],
  ['the overview of a failure', '/services/broken'],
  ['the overview of a cron job', '/services/report'],
  ['the overview of nothing', '/services/parked.staging'],
  ['a menu', '/services/shop', (page) => page.getByRole('button', { name: 'More actions' }).click()],
  [
    'a question',
    '/services/shop',
    (page) => page.getByRole('button', { name: 'One instance fewer' }).click(),
  ],
  ['environments', '/environments', (page) => page.getByText('Protected').waitFor()],
  [
    'a new environment',
    '/environments',
    (page) => page.getByRole('button', { name: 'New environment' }).click(),
  ],
  ['env groups', '/env-groups', (page) => page.getByRole('link', { name: 'shared', exact: true }).waitFor()],
  ['an env group', '/env-groups/shared', (page) => page.getByText('Unlink').waitFor()],
  [
    'the end of an env group',
    '/env-groups/shared',
    (page) => page.getByRole('button', { name: 'Delete env group…' }).click(),
  ],
  ['deploys', '/services/shop/deploys'],
  ['no deploys', '/services/parked.staging/deploys'],
  ['runs', '/services/report/runs'],
  ['no runs', '/services/shop/runs'],
  [
    'a command',
    '/services/shop/runs',
    (page) => page.getByRole('button', { name: 'Run a command…' }).click(),
  ],
  ['a log', '/services/colours/logs', (page) => page.getByText('whole', { exact: true }).waitFor()],
  ['a search', '/services/colours/logs', (page) => searchLog(page)],
  ['metrics', '/services/shop/metrics', (page) => page.getByRole('figure').first().waitFor()],
  ['variables', '/services/shop/variables', (page) => page.getByText('From env groups').waitFor()],
  ['changed variables', '/services/shop/variables', (page) => addVariable(page)],
  ['references to choose from', '/services/shop/variables', (page) => beginReference(page)],
  ['variables as text', '/services/shop/variables', (page) => page.getByText('Edit as .env text').click()],
  ['settings', '/services/shop/settings'],
  ['changed settings', '/services/shop/settings', (page) => page.getByLabel('Port').fill('99999')],
  ['a conflict', '/services/shop/settings', (page) => collide(page)],
  ['leaving', '/services/shop/settings', (page) => leave(page)],
  ['a deploy', '/services/broken/deploys', (page) => openFirst(page)],
  ['a run', '/services/report/runs', (page) => openFirst(page)],
  ['a missing service', '/services/nothing'],
  ['a missing page', '/nothing/here'],
  ['the server', '/server', (page) => page.getByRole('figure').first().waitFor()],
  ['its log', '/server/logs'],
  ['notifications', '/notifications'],
  [
    'a new notification',
    '/notifications',
    (page) => page.getByRole('button', { name: 'New notification' }).click(),
  ],
  ['deliveries', '/notifications', (page) => openDeliveries(page)],
  [
    'a log drain that is changed',
    '/notifications',
    (page) => page.getByRole('listitem').filter({ hasText: 'archive' }).getByText('Change').click(),
  ],
  ['the server', '/server'],
  ['the account', '/account'],
  ['a new token', '/account', (page) => page.getByRole('button', { name: 'New token' }).click()],
]

const DATASTORE_VISITS: Visit[] = [
  ['datastores', '/datastores', (page) => page.getByText('Failed', { exact: true }).waitFor()],
  ['a new datastore', '/datastores/new'],
  ['a datastore', '/datastores/cache', (page) => page.getByText('REDIS_URL', { exact: true }).waitFor()],
  ['a failed datastore', '/datastores/never', (page) => page.getByText('Try again now').waitFor()],
  ['the log of a datastore', '/datastores/cache/logs', (page) => page.getByText(/Ready to accept/).waitFor()],
  ['backups', '/datastores/cache/backups', (page) => page.getByText('Succeeded').waitFor()],
  ['no backups', '/datastores/never/backups'],
  ['a restore', '/datastores/cache/backups', (page) => openRestore(page)],
  ['settings of a datastore', '/datastores/cache/settings'],
  [
    'the end of a datastore',
    '/datastores/cache/settings',
    (page) => page.getByRole('button', { name: 'Delete datastore…' }).click(),
  ],
]

const GIT_VISITS: Visit[] = [
  ['connections', '/git', (page) => page.getByText('ending in 1234').waitFor()],
  ['connecting GitHub', '/git/register'],
  ['connecting GitLab', '/git', (page) => page.getByRole('button', { name: 'Connect GitLab…' }).click()],
  ['a token', '/git', (page) => page.getByRole('button', { name: 'Use a token…' }).click()],
  ['disconnecting', '/git', (page) => page.getByRole('button', { name: 'Disconnect…' }).first().click()],
  ['a refusal of a provider', '/git/callback?code=x&state=unknown'],
  ['repositories to choose from', '/services/new', (page) => page.getByRole('radio').first().waitFor()],
  [
    'a deploy hook',
    '/services/hooked/settings',
    (page) => page.getByRole('button', { name: 'GitLab CI' }).click(),
  ],
]

/** An account that is connected and one that is not, a service of a repository, and a delivery of each verdict. */
async function fillGitPages(): Promise<void> {
  provider.tokens.set('ghp_right1234', 'ada')
  for (const name of ['ada/api', 'ada/web']) provider.add(name, ['ada'])
  const at = { provider: 'gitprov_a', base_url: provider.url }
  await server.api('POST', '/git/connections', { ...at, token: 'ghp_right1234' })
  await server.api('POST', '/git/authorize', { ...at, redirect_uri: `${server.url}/git/callback` })
  const repo_url = `${provider.url}/ada/api.git`
  await server.api('POST', '/services', { name: 'hooked', repo_url, deploy: false })
  for (const [name, secret] of [
    ['ada/none', WEBHOOK_SECRET],
    ['ada/api', WEBHOOK_SECRET],
    ['ada/api', 'another secret'],
  ] as const) {
    const repository = { full_name: name, clone_url: `${provider.url}/${name}.git` }
    const text = JSON.stringify({ ref: 'refs/heads/main', after: 'a'.repeat(40), repository })
    const signature = `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': signature }
    await server.request('POST', '/hooks/gitprov', text, { headers })
  }
}

async function openPalette(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill(text)
}

async function unfold(page: Page): Promise<void> {
  for (const summary of await page.locator('summary').all()) await summary.click()
}

async function searchLog(page: Page): Promise<void> {
  await page.getByLabel('Find in view').fill('reverse')
  await page.getByText(/of \d+/).waitFor()
}

async function addVariable(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.getByLabel('Name', { exact: true }).last().fill('9 lives')
  await page.getByText('Not saved yet').waitFor()
}

async function beginReference(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.getByLabel('Value of the new variable').fill('${{')
  await page.getByRole('listbox', { name: 'References' }).waitFor()
}

async function collide(page: Page): Promise<void> {
  await page.getByLabel('Health check path').fill('/mine')
  await server.api('PATCH', '/services/shop', { health_check_path: `/theirs-${Date.now()}` })
  await page.getByRole('alert').getByText('Health check path', { exact: true }).waitFor()
}

async function openRestore(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Actions of the backup/ }).click()
  await page.getByRole('menuitem', { name: 'Restore…' }).click()
  await page.getByLabel('In the place of').check()
}

async function openDeliveries(page: Page): Promise<void> {
  const buttons = page.getByRole('button', { name: 'Deliveries' })
  // One of the notification, one of the drain, which come by themselves.
  await buttons.nth(1).waitFor()
  for (const button of await buttons.all()) await button.click()
  await page.getByText('Not taken').waitFor()
  await page.getByText('On its way').first().waitFor()
}

async function leave(page: Page): Promise<void> {
  await page.getByLabel('Port').fill('4000')
  await page.getByRole('link', { name: 'Deploys' }).click()
  await page.getByRole('dialog').waitFor()
}

async function openFirst(page: Page): Promise<void> {
  await page
    .getByRole('list', { name: /newest first/ })
    .getByRole('link')
    .first()
    .click()
  await page.getByText('Ended', { exact: true }).waitFor()
}

/** What axe finds once nothing moves. */
async function findings(page: Page, options: object): Promise<string[]> {
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' })
  await page.evaluate(
    'Promise.allSettled(document.getAnimations().filter((a) => a.effect.getTiming().iterations !== Infinity).map((a) => a.finished)).then(() => {})',
  )
  return page.evaluate<string[]>(`axe.run(${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary)))`)
}

const DESKTOP = { width: 1280, height: 900 }

/** Ways to look at a page: colours are the same on a desktop and on a phone, what is said of them is not. */
const LOOKS = [
  { size: 'desktop', viewport: DESKTOP, colorScheme: 'light', options: RULES },
  { size: 'desktop', viewport: DESKTOP, colorScheme: 'dark', options: CONTRAST },
  { size: 'phone', viewport: PHONE, colorScheme: 'light', options: LAYOUT },
] as const

/** What axe finds on a page as it stands, on a desktop light and dark, and on a phone. */
async function look(page: Page, name: string): Promise<string[]> {
  const found: string[] = []
  for (const { size, viewport, colorScheme, options } of LOOKS) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor()
    const here = await findings(page, options)
    found.push(...here.map((finding) => `${name}, ${size}, ${colorScheme}: ${finding}`))
  }
  return found
}

async function lookAt(page: Page, [name, path, open]: Visit): Promise<string[]> {
  await page.setViewportSize(DESKTOP)
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await open?.(page)
  return look(page, name)
}

/** Opens a page that axe can look at, where one signs in. */
async function openSignIn(): Promise<Page> {
  const page = await browser.open(server.url, { viewport: DESKTOP, reducedMotion: 'reduce' })
  await page.addInitScript(AXE)
  await page.goto('/sign-in')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  return page
}

async function enter(page: Page): Promise<Page> {
  await signIn(page)
  await page.waitForURL('**/services')
  return page
}

/** What axe finds on these pages, in several tabs at a time. What visits change is looked at by visits next to them. */
async function lookThrough(first: Page, visits: Visit[]): Promise<string[]> {
  const others = Array.from({ length: TABS - 1 }, async () => {
    const page = await first.context().newPage()
    await page.addInitScript(AXE)
    return page
  })
  const pages = [first, ...(await Promise.all(others))]
  const share = Math.ceil(visits.length / TABS)
  const found = await Promise.all(
    pages.map(async (page, tab) => {
      const own: string[] = []
      for (const visit of visits.slice(tab * share, (tab + 1) * share))
        own.push(...(await lookAt(page, visit)))
      return own
    }),
  )
  await Promise.all(pages.slice(1).map((page) => page.close()))
  return found.flat()
}

test('axe finds nothing on the pages of datastores and of git, on a desktop, light and dark, and on a phone', async () => {
  await fillGitPages()
  expect(await lookThrough(await enter(await openSignIn()), [...DATASTORE_VISITS, ...GIT_VISITS])).toEqual([])
  expect(browser.faults).toEqual([])
})

test(
  'axe finds nothing on any other page, on a desktop, light and dark, and on a phone',
  async () => {
    const page = await openSignIn()
    const found = await look(page, 'signing in')
    await enter(page)
    found.push(...(await lookThrough(page, VISITS)))
    await page.goto('/services')
    await page.getByRole('button', { name: 'Open navigation' }).click()
    found.push(...(await findings(page, RULES)).map((finding) => `the navigation: ${finding}`))
    await page.setViewportSize(DESKTOP)
    await page.goto('/services/shop')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.evaluate("fetch('/api/v1/auth/logout', { method: 'POST' }).then(() => {})")
    await page.getByRole('dialog', { name: 'Your session ended' }).waitFor()
    found.push(...(await look(page, 'the end of the session')))
    expect(found).toEqual([])
    expect(browser.faults).toEqual([])
  },
  MANY_PAGES_MS,
)
