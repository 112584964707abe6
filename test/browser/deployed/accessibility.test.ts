import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { PlayedProvider } from '../../git/providers.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { waitFor } from '../../support/wait.ts'
import { testVisits, Visitor, type Visit } from '../axe.ts'
import { TestBrowser } from '../browser.ts'

const WEBHOOK_SECRET = 'a secret of webhooks'

let browser: TestBrowser
let server: TestServer
let provider: PlayedProvider
let repositories: string
let visitor: Visitor
let stranger: Visitor

beforeAll(async () => {
  repositories = mkdtempSync(join(tmpdir(), 'accessibility-'))
  provider = await PlayedProvider.start(repositories)
  server = await startServer({ engine: true, flags: ['--webhook-secret', WEBHOOK_SECRET] })
  // Nothing listens there.
  const nowhere = 'http://127.0.0.1:9/x'
  const drain = { name: 'archive', kind: 'http', url: nowhere, token: 'a-long-token' }
  await Promise.all([
    server.api('POST', '/datastores', { kind: 'keyvalue', name: 'cache' }),
    server.api('POST', '/datastores', { kind: 'relational', name: 'never', version: '999' }),
    server.api('POST', '/log-drains', drain),
    server.api('POST', '/notifications', { name: 'team', kind: 'webhook', url: nowhere }),
    server.api('POST', '/environments', { name: 'staging' }),
    server.api('POST', '/registry-credentials', {
      ...{ name: 'hub', host: 'docker.io', username: 'ci', password: 'x' },
    }),
    server.api('POST', '/redirects', { host: 'old.example', to: 'https://new.example' }),
    server.api('POST', '/env-groups', { name: 'shared', vars: [{ key: 'LEVEL', value: 'info' }] }),
  ])
  const create = (name: string, fields: object) =>
    server.api('POST', '/services', { name, image: 'busybox:1', ...fields })
  const worker = { type: 'background_worker', deploy: false }
  await Promise.all([
    create('shop', { start_command: 'sleep 3600', type: 'background_worker', env_groups: ['shared'] }),
    // There is something to report.
    create('broken', { start_command: 'echo no such file; exit 2' }),
    create('parked', { environment: 'staging', deploy: false }),
    create('worker', {
      ...worker,
      disk_mount_path: '/data',
      env: [{ key: 'REDIS_URL', value: '${{datastore.cache}}' }],
    }),
  ])
  browser = await TestBrowser.launch()
  visitor = new Visitor(browser, await browser.enter(server))
  stranger = new Visitor(browser, await browser.open(server.url))
  await fillGitPages()
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

/** An account that is connected and one that is not, a service from a repository, and a delivery of each verdict. */
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

const VISITS: Visit[] = [
  {
    name: 'the overview',
    path: '/overview',
    open: (page) => page.getByRole('link', { name: 'shop', exact: true }).waitFor(),
    isOfItsKind: true,
  },
  { name: 'no blueprints', path: '/blueprints' },
  {
    name: 'a blueprint that is synced',
    path: '/blueprints',
    open: (page) => page.getByRole('button', { name: 'Sync from git' }).click(),
  },
  {
    name: 'the editor of blueprints',
    path: '/blueprints/editor',
    open: (page) => page.getByRole('textbox', { name: 'Blueprint' }).waitFor(),
    isOfItsKind: true,
  },
  {
    name: 'environments',
    path: '/environments',
    open: (page) => page.getByText('Protected').waitFor(),
    isOfItsKind: true,
  },
  {
    name: 'a new environment',
    path: '/environments',
    open: (page) => page.getByRole('button', { name: 'New environment' }).click(),
  },
  {
    name: 'env groups',
    path: '/env-groups',
    open: (page) => page.getByRole('link', { name: 'shared', exact: true }).waitFor(),
  },
  {
    name: 'an env group',
    path: '/env-groups/shared',
    open: (page) => page.getByText('Unlink').waitFor(),
  },
  {
    name: 'a new env group',
    path: '/env-groups',
    open: (page) => page.getByRole('button', { name: 'New env group' }).first().click(),
  },
  {
    name: 'the end of an env group',
    path: '/env-groups/shared',
    open: (page) => page.getByRole('button', { name: 'Delete env group…' }).click(),
  },
  {
    name: 'the logs of several services',
    path: '/logs',
    open: (page) => page.getByRole('img', { name: /^Lines over time: / }).waitFor(),
    isOfItsKind: true,
  },
  { name: 'a missing page', path: '/nothing/here' },
  {
    name: 'the server',
    path: '/server',
    open: (page) => page.getByText(/ free of /).waitFor(),
    isOfItsKind: true,
  },
  { name: 'the metrics of the server', path: '/server/metrics', open: seeMetrics },
  { name: 'the log of the server', path: '/server/logs' },
  {
    name: 'the audit log',
    path: '/server/audit',
    open: (page) => page.getByRole('list', { name: 'Events' }).waitFor(),
  },
  {
    name: 'the backups of the server',
    path: '/server/backups',
    open: (page) => page.getByRole('button', { name: 'Back up now' }).waitFor(),
  },
  {
    name: 'the nodes',
    path: '/server/nodes',
    open: (page) => page.getByRole('list', { name: 'Nodes' }).waitFor(),
  },
  {
    name: 'the doctor',
    path: '/server/doctor',
    open: (page) => page.getByRole('list', { name: 'Checks' }).waitFor(),
  },
  {
    name: 'what takes room on the server, and a cleanup',
    path: '/server/disk',
    open: async (page) => {
      await page.getByRole('row', { name: 'Static sites' }).waitFor()
      await openCleanup(page)
    },
  },
  { name: 'notifications', path: '/notifications' },
  { name: 'registries', path: '/registries' },
  {
    name: 'a new registry credential',
    path: '/registries',
    open: (page) => page.getByRole('button', { name: 'New credential' }).click(),
  },
  {
    name: 'domains',
    path: '/domains',
    open: (page) => page.getByRole('list', { name: 'Redirects' }).getByText('old.example').waitFor(),
  },
  {
    name: 'a new domain',
    path: '/domains',
    open: (page) => page.getByRole('button', { name: 'Connect a domain' }).click(),
  },
  {
    name: 'an uploaded certificate',
    path: '/domains',
    open: (page) => page.getByRole('button', { name: 'Upload' }).click(),
  },
  {
    name: 'a new redirect',
    path: '/domains',
    open: (page) => page.getByRole('button', { name: 'New redirect' }).click(),
  },
  { name: 'a terminal that signs in', path: '/cli/none', open: openTerminal },
  {
    name: 'a new notification',
    path: '/notifications',
    open: (page) => page.getByRole('button', { name: 'New notification' }).click(),
  },
  { name: 'deliveries', path: '/notifications', open: openDeliveries, isOfItsKind: true },
  {
    name: 'a log drain that is changed',
    path: '/notifications',
    open: (page) => page.getByRole('listitem').filter({ hasText: 'archive' }).getByText('Change').click(),
  },
  { name: 'the account', path: '/account' },
  {
    name: 'a new token',
    path: '/account',
    open: (page) => page.getByRole('button', { name: 'New token' }).click(),
  },
  {
    name: 'a new authenticator app',
    path: '/account',
    open: async (page) => {
      await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
      await page.getByRole('img', { name: 'QR code with the secret' }).waitFor()
    },
  },
]

const DATASTORE_VISITS: Visit[] = [
  {
    name: 'datastores',
    path: '/datastores',
    open: (page) => page.getByText('Failed', { exact: true }).waitFor(),
  },
  { name: 'a new datastore', path: '/datastores/new' },
  {
    name: 'a datastore',
    path: '/datastores/cache',
    open: (page) => page.getByText('REDIS_URL', { exact: true }).waitFor(),
    isOfItsKind: true,
  },
  {
    name: 'a failed datastore',
    path: '/datastores/never',
    open: (page) => page.getByText('Try again now').waitFor(),
  },
  {
    name: 'the log of a datastore',
    path: '/datastores/cache/logs',
    open: (page) => page.getByText(/Ready to accept/).waitFor(),
  },
  {
    name: 'the shell of a datastore',
    path: '/datastores/cache/shell',
    open: async (page) => {
      await page.getByRole('button', { name: 'Open valkey-cli' }).click()
      await page.getByText(/^Open in the datastore/).waitFor()
    },
  },
  {
    name: 'backups',
    path: '/datastores/cache/backups',
    open: (page) => page.getByText('Succeeded').waitFor(),
  },
  { name: 'no backups', path: '/datastores/never/backups' },
  { name: 'a restore', path: '/datastores/cache/backups', open: openRestore },
  {
    name: 'a disk',
    path: '/services/worker/disk',
    open: (page) => page.getByRole('button', { name: 'Back up…' }).click(),
  },
  { name: 'settings of a datastore', path: '/datastores/cache/settings' },
  {
    name: 'the end of a datastore',
    path: '/datastores/cache/settings',
    open: (page) => page.getByRole('button', { name: 'Delete datastore…' }).click(),
  },
]

const GIT_VISITS: Visit[] = [
  {
    name: 'connections',
    path: '/git',
    open: (page) => page.getByText('ending in 1234').waitFor(),
    isOfItsKind: true,
  },
  { name: 'connecting GitHub', path: '/git/register' },
  {
    name: 'connecting GitLab',
    path: '/git',
    open: (page) => page.getByRole('button', { name: 'Connect GitLab…' }).click(),
  },
  {
    name: 'a token of a provider',
    path: '/git',
    open: (page) => page.getByRole('button', { name: 'Use a token…' }).click(),
  },
  {
    name: 'disconnecting',
    path: '/git',
    open: (page) => page.getByRole('button', { name: 'Disconnect…' }).first().click(),
  },
  { name: 'a refusal of a provider', path: '/git/callback?code=x&state=unknown' },
  {
    name: 'repositories to choose from',
    path: '/services/new',
    open: (page) => page.getByRole('radio').first().waitFor(),
  },
  {
    name: 'a commit to deploy',
    path: '/services/hooked',
    open: async (page) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: 'Deploy a commit…' }).click()
    },
  },
  {
    name: 'the end of a service',
    path: '/services/hooked/settings',
    open: (page) => page.getByRole('button', { name: 'Delete service…' }).click(),
  },
  {
    name: 'settings that are searched',
    path: '/services/hooked/settings',
    open: (page) => page.getByLabel('Find a setting').fill('port'),
  },
  {
    name: 'a deploy hook',
    path: '/services/hooked/settings',
    open: (page) => page.getByRole('button', { name: 'GitLab CI' }).click(),
  },
]

testVisits([{ name: 'signing in', path: '/sign-in', isOfItsKind: true }], () => stranger)
testVisits([...DATASTORE_VISITS, ...GIT_VISITS, ...VISITS], () => visitor)

async function openTerminal(page: Page): Promise<void> {
  const { body } = await server.request('POST', '/api/v1/auth/cli', { name: 'a laptop' })
  await page.goto(`/cli/${body.id}`)
  await page.getByLabel('Code', { exact: true }).waitFor()
}

async function openRestore(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Actions of the backup/ }).click()
  await page.getByRole('menuitem', { name: 'Restore…' }).click()
  await page.getByLabel('replacing its current data').check()
}

async function openDeliveries(page: Page): Promise<void> {
  const buttons = page.getByRole('button', { name: 'Deliveries' })
  // One of the notification, one of the drain, which appear by themselves.
  await buttons.nth(1).waitFor()
  for (const button of await buttons.all()) await button.click()
  await page.getByText('Failed', { exact: true }).first().waitFor()
  await page.getByText('Pending', { exact: true }).first().waitFor()
}

async function seeMetrics(page: Page): Promise<void> {
  await page.getByRole('figure').first().waitFor()
  await page.getByRole('region', { name: 'Containers now' }).getByRole('link', { name: 'shop' }).waitFor()
}

/** What failed to start here may have left an image that goes with the next cleanup, or is gone already. */
async function openCleanup(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Clean up…' }).click()
  const dialog = page.getByRole('dialog')
  const problem = dialog.getByRole('alert')
  const answer = dialog.getByText('There is nothing to remove').or(dialog.getByText(/^Together /))
  await answer.or(problem).waitFor()
  if (await problem.isVisible()) throw new Error(`the cleanup shows: ${await problem.innerText()}`)
}
