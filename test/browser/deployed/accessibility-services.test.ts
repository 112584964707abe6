import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { waitFor } from '../../support/wait.ts'
import { PHONE_ALONE, testVisits, Visitor, type Visit } from '../axe.ts'
import { TestBrowser } from '../browser.ts'

const SERVE = 'mkdir -p /www; echo hello > /www/index.html; exec httpd -f -p $PORT -h /www'
/** Every way in which a line can be coloured. */
const COLOURS = `for n in 0 1 2 3 4 7; do printf "\\033[\${n}mstyle $n\\033[0m \\033[\${n};7mreverse\\033[0m\\n"; done
for f in 0 1 2 3 4 5 6 7; do printf "\\033[3\${f}mfg $f\\033[0m \\033[9\${f}mbright\\033[0m \\033[3\${f};7mreverse\\033[0m \\033[4\${f}mbg\\033[0m \\033[10\${f}mbright bg\\033[0m \\033[3\${f};2mdim\\033[0m\\n"; done
printf "\\033[38;5;208m256\\033[0m \\033[48;5;208m256\\033[0m \\033[38;2;1;2;3mtrue colour\\033[0m \\033[48;2;250;250;250mlight\\033[0m\\n"; echo whole; sleep 3600`

let browser: TestBrowser
let server: TestServer
let visitor: Visitor

beforeAll(async () => {
  server = await startServer({ engine: true })
  await Promise.all([
    server.api('POST', '/environments', { name: 'staging' }),
    server.api('POST', '/env-groups', { name: 'shared', vars: [{ key: 'LEVEL', value: 'info' }] }),
    server.api('POST', '/datastores', { kind: 'keyvalue', name: 'cache' }),
  ])
  const create = (name: string, fields: object) =>
    server.api('POST', '/services', { name, image: 'busybox:1', ...fields })
  const env = [{ key: 'LEVEL', value: 'debug' }]
  await create('shop', { start_command: SERVE, env_groups: ['shared'], env })
  await Promise.all([
    create('broken', { start_command: 'echo no such file; exit 2' }),
    create('report', { type: 'cron_job', schedule: '0 0 29 2 *', start_command: 'echo said' }),
    create('colours', { type: 'background_worker', start_command: COLOURS }),
    create('worker', { type: 'background_worker', deploy: false }),
    create('parked', { environment: 'staging', deploy: false }),
  ])
  browser = await TestBrowser.launch()
  visitor = new Visitor(browser, await browser.enter(server))
  await Promise.all([failAgain(), runOnce(), state('colours', 'running'), state('broken', 'failed')])
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

/** A deploy that went live and a newer one that failed. */
async function failAgain(): Promise<void> {
  await state('shop', 'running')
  await server.api('PATCH', '/services/shop', { start_command: 'exit 3' })
  await server.api('POST', '/services/shop/deploys', {})
  await waitFor(
    async () => (await server.api('GET', '/services/shop')).body.latest_deploy.status === 'deploy_failed',
    'the second deploy to fail',
  )
}

async function runOnce(): Promise<void> {
  await state('report', 'idle')
  await server.api('POST', '/services/report/jobs', {})
}

async function state(name: string, wanted: string): Promise<void> {
  const isThere = async () => (await server.api('GET', `/services/${name}`)).body.state === wanted
  await waitFor(isThere, `${name} to be ${wanted}`)
}

const VISITS: Visit[] = [
  { name: 'the list', path: '/services', isOfItsKind: true },
  { name: 'the palette', path: '/services', open: (page) => openPalette(page, ''), isOfItsKind: true },
  {
    name: 'the palette without a match',
    path: '/services',
    open: (page) => openPalette(page, 'nothing like it'),
  },
  { name: 'the palette of a service', path: '/services', open: enterService },
  {
    name: 'the keys',
    path: '/services',
    open: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    },
  },
  { name: 'the first steps', path: '/services/new' },
  {
    name: 'an upload',
    path: '/services/new',
    open: (page) => page.getByText('Upload', { exact: true }).click(),
  },
  {
    name: 'a sample',
    path: '/services/new?source=sample',
    open: (page) => page.getByRole('group', { name: 'Sample', exact: true }).waitFor(),
  },
  { name: 'all fields', path: '/services/new', open: unfold, isOfItsKind: true },
  { name: 'an overview', path: '/services/shop', isOfItsKind: true },
  { name: 'the overview of a failure', path: '/services/broken' },
  { name: 'the overview of a cron job', path: '/services/report' },
  { name: 'the overview of nothing', path: '/services/parked.staging' },
  {
    name: 'a menu',
    path: '/services/shop',
    open: (page) => page.getByRole('button', { name: 'More actions' }).click(),
    isOfItsKind: true,
  },
  {
    name: 'a question',
    path: '/services/shop',
    open: (page) => page.getByRole('button', { name: 'Remove one instance' }).click(),
    isOfItsKind: true,
  },
  { name: 'deploys', path: '/services/shop/deploys' },
  { name: 'no deploys', path: '/services/parked.staging/deploys' },
  { name: 'runs', path: '/services/report/runs' },
  { name: 'no runs', path: '/services/shop/runs' },
  {
    name: 'a command',
    path: '/services/shop/runs',
    open: (page) => page.getByRole('button', { name: 'Run a command…' }).click(),
  },
  {
    name: 'a log',
    path: '/services/colours/logs',
    open: (page) => page.getByText('whole', { exact: true }).waitFor(),
    isOfItsKind: true,
  },
  {
    name: 'a shell',
    path: '/services/shop/shell',
    open: async (page) => {
      await page.getByRole('button', { name: 'Open shell' }).click()
      await page.getByText(/^Open in instance/).waitFor()
    },
    isOfItsKind: true,
  },
  { name: 'a search', path: '/services/colours/logs', open: searchLog },
  {
    name: 'metrics',
    path: '/services/shop/metrics',
    open: (page) => page.getByRole('figure').first().waitFor(),
    isOfItsKind: true,
  },
  {
    name: 'variables',
    path: '/services/shop/variables',
    open: (page) => page.getByText('From env groups').waitFor(),
  },
  { name: 'changed variables', path: '/services/shop/variables', open: addVariable },
  {
    name: 'references to choose from',
    path: '/services/shop/variables',
    open: beginReference,
    isOfItsKind: true,
  },
  {
    name: 'variables as text',
    path: '/services/shop/variables',
    open: (page) => page.getByText('Edit as .env text').click(),
  },
  {
    name: 'a secret file',
    path: '/services/shop/variables',
    open: (page) => page.getByRole('button', { name: 'Add a file' }).click(),
  },
  { name: 'the edge', path: '/services/shop/edge', open: fillEdge },
  { name: 'settings', path: '/services/shop/settings' },
  {
    name: 'changed settings',
    path: '/services/shop/settings',
    open: (page) => page.getByLabel('Port').fill('99999'),
  },
  { name: 'a conflict', path: '/services/shop/settings', open: collide, isOfItsKind: true },
  { name: 'leaving', path: '/services/shop/settings', open: leave },
  { name: 'a deploy', path: '/services/broken/deploys', open: openFirst, isOfItsKind: true },
  { name: 'a run', path: '/services/report/runs', open: openFirst },
  { name: 'a missing service', path: '/services/nothing' },
]

testVisits(VISITS, () => visitor)

test('axe finds nothing on the navigation of a phone', async () => {
  const visit: Visit = {
    name: 'the navigation',
    path: '/services',
    open: (page) => page.getByRole('button', { name: 'Open navigation' }).click(),
  }
  expect(await visitor.look(visit, [PHONE_ALONE])).toEqual([])
})

// It comes last: nobody is signed in any more.
testVisits([{ name: 'the end of a session', path: '/services/shop', open: endSession }], () => visitor)

async function openPalette(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill(text)
}

async function enterService(page: Page): Promise<void> {
  await openPalette(page, 'shop')
  await page.getByRole('option', { name: /^shop Service/ }).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.getByRole('option', { name: /^Deploy shop/ }).waitFor()
}

async function unfold(page: Page): Promise<void> {
  for (const summary of await page.locator('summary').all()) await summary.click()
}

async function fillEdge(page: Page): Promise<void> {
  await page.getByLabel('Only for some addresses').check()
  await page.getByRole('button', { name: 'Add a user' }).click()
  await page.getByLabel('Own page').fill('<!doctype html><html lang="en"><title>Soon</title><h1>Soon</h1>')
}

async function searchLog(page: Page): Promise<void> {
  await page.getByLabel('Find in view').fill('reverse')
  await page.getByText(/of \d+/).waitFor()
}

async function addVariable(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.getByLabel('Name', { exact: true }).last().fill('9 lives')
  await page.getByText('Unsaved changes').waitFor()
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

async function endSession(page: Page): Promise<void> {
  await page.evaluate("fetch('/api/v1/auth/logout', { method: 'POST' }).then(() => {})")
  await page.getByRole('dialog', { name: 'Your session ended' }).waitFor()
}
