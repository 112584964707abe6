import { createHmac } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { git } from '../git/remotes.ts'
import { PlayedProvider } from '../git/providers.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

let home: string
let provider: PlayedProvider
let server: TestServer
let browser: TestBrowser
let page: Page

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'git-pages-'))
  const bare = join(home, 'octo-org', 'api.git')
  mkdirSync(bare, { recursive: true })
  git(bare, 'init', '-q', '--bare', '-b', 'main')
  git(bare, 'update-ref', 'refs/heads/main', git(bare, 'commit-tree', '-m', 'first', git(bare, 'mktree')))
  provider = await PlayedProvider.start(home)
  for (const name of ['octo-org/api', 'octo-org/web', 'octo-org/docs'])
    provider.add(name, ['octo-org', 'ada'])
  server = await startServer({ flags: ['--webhook-secret', 'a secret of webhooks'] })
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
  await provider?.close()
  rmSync(home, { recursive: true, force: true })
})

/** What went wrong; that the browser went to the provider is expected. */
const faults = () => browser.faults.filter((fault) => !fault.startsWith(`asked ${provider.url}`))

test('GitHub is connected in the browser, and a repository of it is chosen for a service', async () => {
  await page.goto('/services')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Git' }).click()
  await page.getByText('No accounts connected').waitFor()
  await page.getByRole('link', { name: 'Connect GitHub' }).click()
  await page.getByLabel('Organization').fill('octo-org')
  await page.getByLabel('GitHub Enterprise address').fill(provider.url)
  await page.getByRole('button', { name: 'Continue to GitHub' }).click()
  await page.getByRole('link', { name: 'Create GitHub App' }).click()
  await page.getByRole('link', { name: 'Install' }).click()
  const card = page.getByRole('article', { name: /^octo-org on GitHub at 127/ })
  await card.getByText('Connected', { exact: true }).waitFor()
  await card.getByText('reads selected repositories').waitFor()

  await page.getByRole('link', { name: 'New service' }).first().click()
  await page.getByLabel('Find a repository').fill('api')
  await page.getByRole('radio', { name: /octo-org\/api/ }).check({ force: true })
  await expect
    .poll(() => page.getByLabel('Repository address').inputValue())
    .toBe(`${provider.url}/octo-org/api.git`)
  await page.getByText('Reachable, 1 branch.').waitFor()
  expect(faults()).toEqual([])
})

test('GitLab is connected in the browser by OAuth', async () => {
  await page.goto('/git')
  await page.getByRole('button', { name: 'Connect GitLab…' }).click()
  await page.getByLabel('GitLab address').fill(provider.url)
  await page.getByRole('button', { name: 'Continue to GitLab' }).click()
  await page.getByText(/needs an OAuth application/).waitFor()
  await page.getByLabel('Application ID').fill('client-1')
  await page.getByLabel('Secret').fill('client-secret-1')
  await page.getByRole('button', { name: 'Continue to GitLab' }).click()
  await page.getByRole('link', { name: 'Authorize' }).click()
  const card = page.getByRole('article', { name: /^ada on GitLab/ })
  await card.getByText('Connected', { exact: true }).waitFor()
  await card.getByRole('button', { name: 'Authorize again' }).click()
  await page.getByText('There is nothing left to do.').waitFor()
  await card.getByRole('button', { name: 'Disconnect…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await card.waitFor({ state: 'detached' })
  expect(faults()).toEqual([])
})

test('a token is checked before it is stored', async () => {
  await page.goto('/git')
  await page.getByRole('button', { name: 'Use a token…' }).click()
  await page.getByRole('textbox', { name: 'Token' }).fill('ghp_wrong')
  await page.getByLabel('Address of your own instance').fill(provider.url)
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByText(/refused: Bad credentials/).waitFor()
  await page
    .locator(':focus')
    .and(page.getByRole('textbox', { name: 'Token' }))
    .waitFor()
  provider.tokens.set('ghp_right1234', 'ada')
  await page.getByRole('textbox', { name: 'Token' }).fill('ghp_right1234')
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page
    .getByRole('article', { name: /^ada on GitHub/ })
    .getByText('ending in 1234')
    .waitFor()
  expect(faults()).toEqual([])
})

test('coming back without a valid state says to start again', async () => {
  await page.goto('/git/callback?code=x&state=made-up')
  await page.getByText(/The state is unknown, already used/).waitFor()
  await page.goto('/git/callback?error=access_denied&error_description=The+user+denied+it')
  await page.getByText(/did not connect the account: The user denied it/).waitFor()
})

test('deliveries are listed with their results', async () => {
  const text = JSON.stringify({
    ref: 'refs/heads/main',
    after: 'a'.repeat(40),
    repository: { full_name: 'octo-org/none' },
  })
  const signature = `sha256=${createHmac('sha256', 'a secret of webhooks').update(text).digest('hex')}`
  const headers = { 'x-github-event': 'push', 'x-hub-signature-256': signature }
  await server.request('POST', '/hooks/gitprov', text, { headers })
  await server.request('POST', '/hooks/gitprov', text, {
    headers: { ...headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
  })
  await page.goto('/git')
  const log = page.getByRole('region', { name: 'Pushes received' })
  await log.getByText('octo-org/none · main').waitFor()
  await log.getByText('Refused').waitFor()
  await log.getByText('the signature is missing or wrong').waitFor()
  expect(faults()).toEqual([])
})

test('the settings of a service contain its watched paths and its deploy hook, ready for a CI', async () => {
  await server.api('POST', '/services', {
    name: 'hooked',
    repo_url: 'https://git.example.com/a/b',
    deploy: false,
  })
  await page.goto('/services/hooked/settings')
  const hook = page.getByRole('region', { name: 'Deploy hook' })
  await hook.getByText('curl --fail -X POST "$DEPLOY_HOOK_URL"').waitFor()
  await hook.getByRole('button', { name: 'GitLab CI' }).click()
  await hook.getByText('$CI_COMMIT_SHA').waitFor()
  await page.getByLabel('Deploy on push when one of these changes').fill('services/api/**\n/wrong')
  await page.getByRole('button', { name: 'Save paths' }).click()
  await page.getByText(/must be a glob from the repository's root/).waitFor()
  await page.getByLabel('Deploy on push when one of these changes').fill('services/api/**\n\n*.json ')
  await page.getByRole('button', { name: 'Save paths' }).click()
  await page.getByText('It applies from the next push.').waitFor()
  expect((await server.api('GET', '/services/hooked')).body.watch_paths).toEqual([
    'services/api/**',
    '*.json',
  ])
})
