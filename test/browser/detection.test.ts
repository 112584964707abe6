import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { commit, createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer
let remote: GitRemote
let page: Page

beforeAll(async () => {
  server = await startServer()
  remote = await startGitHttp()
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await remote?.close()
  await server?.stop()
})

const found = () => page.getByRole('region', { name: 'Found in the source' })

test('New service shows what a repository is before anything is created, and uses its type', async () => {
  const repository = await createRepository({
    'package.json': JSON.stringify({ scripts: { build: 'vite build' }, devDependencies: { vite: '7' } }),
    'index.html': '',
  })
  const rails = { Gemfile: 'gem "rails"\n', 'config/application.rb': '', 'config.ru': '', 'README.md': '' }
  await commit(
    repository,
    Object.fromEntries(Object.entries(rails).map(([name, text]) => [`api/${name}`, text])),
    'api',
  )
  await page.goto('/services/new')
  await page.getByLabel('Repository address').fill(remote.url(repository))
  await found().getByText('Static site: Node.js').waitFor()
  expect(await found().innerText()).toMatch(/vite[^]*Build\n+npm run build[^]*Publish\n+dist/)
  expect(await page.getByLabel('Type').inputValue()).toBe('static_site')
  await page.getByText('Build and publish directory').click()
  expect(await page.getByLabel('Publish directory').getAttribute('placeholder')).toBe('dist (detected)')

  await page.getByLabel('Root directory').fill('api')
  await found().getByText('Web service: Ruby').waitFor()
  expect(await found().innerText()).toMatch(
    /rails[^]*Start\n+.*rails[^]*Generated variables\n+SECRET_KEY_BASE/,
  )
  expect(await page.getByLabel('Type').inputValue()).toBe('web_service')
  await found().getByText('Why').click()
  await found().getByText('SECRET_KEY_BASE:').waitFor()

  await page.getByLabel('Type').selectOption('Background worker')
  await page.getByLabel('Root directory').fill('')
  await found().getByText('change its type to static_site').waitFor()
  await page.getByLabel('Root directory').fill('vite')
  await found().getByText('Root_dir vite is not a folder').waitFor()
  expect((await server.api('GET', '/services')).body).toEqual([])
  expect(browser.faults).toEqual([])
})

test(
  'New service offers the folders of a repository with several programs, and inspects the chosen one',
  { tags: ['slow'] },
  async () => {
    const repository = await createRepository({ 'README.md': 'words' })
    await commit(
      repository,
      { 'apps/web/index.html': '', 'apps/api/go.mod': 'module x\n', 'apps/api/main.go': 'package main\n' },
      'two programs',
    )
    await page.goto('/services/new')
    await page.getByLabel('Repository address').fill(remote.url(repository))
    const folders = found().getByRole('list', { name: 'Folders to choose from' })
    await folders.waitFor()
    expect(await folders.getByRole('button').allInnerTexts()).toEqual(['apps/api', 'apps/web'])
    await folders.getByRole('button', { name: 'apps/api' }).click()
    await expect.poll(() => page.locator(':focus').getAttribute('aria-label')).toBe('Found in the source')
    await found().getByText('Web service: Go').waitFor()
    expect(await folders.count()).toBe(0)
    await page.getByText('Build, start and limits').click()
    expect(await page.getByLabel('Root directory').inputValue()).toBe('apps/api')

    await found().getByRole('button', { name: 'Whole repository' }).click()
    await folders.getByRole('button', { name: 'apps/web' }).click()
    await found().getByText('Static site').waitFor()
    expect(await page.getByLabel('Root directory').inputValue()).toBe('apps/web')

    // The folder belonged to that repository.
    const other = await createRepository({ 'index.html': '' })
    await page.getByLabel('Repository address').fill(remote.url(other))
    await expect.poll(() => page.getByLabel('Root directory').inputValue()).toBe('')
    await found().getByText('Static site').waitFor()
    expect(await found().getByRole('button', { name: 'Whole repository' }).count()).toBe(0)
    expect(browser.faults).toEqual([])
  },
)

test('New service says when nothing is found, and why', async () => {
  const repository = await createRepository({ 'README.md': 'words' })
  await page.goto('/services/new')
  await page.getByLabel('Repository address').fill(remote.url(repository))
  await found().getByText('Nothing to deploy was found').waitFor()
  await found().getByText('no way to build this source was found').waitFor()
})

test("a service's settings show what an empty field amounts to", async () => {
  const repository = await createRepository({
    'package.json': JSON.stringify({ scripts: { build: 'tsc', start: 'node dist/main.js' } }),
    Procfile: 'release: node migrate.js\n',
  })
  const body = { name: 'settled', repo_url: remote.url(repository), start_command: 'node own.js' }
  await server.api('POST', '/services', body)
  await page.goto('/services/settled/settings')
  const empty = (text: string) => page.getByPlaceholder(`${text} (detected)`, { exact: true })
  await empty('npm run build').waitFor()
  await empty('node migrate.js').waitFor()
  expect(await page.getByLabel('Start command').inputValue()).toBe('node own.js')
  // Once emptied, the field shows what the files say in its place.
  await page.getByLabel('Start command').fill('')
  await empty('node dist/main.js').waitFor()
})

test('the settings of a service inspect its source once, however often something else about it changes', async () => {
  const repository = await createRepository({ Dockerfile: 'FROM busybox:1\nEXPOSE 3000\n' })
  const fields = { name: 'looked-at', repo_url: remote.url(repository), deploy: false }
  await server.api('POST', '/services', fields)
  let looks = 0
  page.on('request', (request) => (looks += request.url().endsWith('/api/v1/detect') ? 1 : 0))
  await page.goto('/services/looked-at/settings')
  await expect.poll(() => page.getByLabel('Port').getAttribute('placeholder')).toContain('3000')
  const counted = page.waitForResponse((answer) =>
    /\/services\/srv-\w+$/.test(new URL(answer.url()).pathname),
  )
  await server.api('POST', '/services/looked-at/scale', { instances: 2 })
  await counted
  // Longer than the page waits before it asks.
  await page.waitForTimeout(2_000)
  expect(looks).toBe(1)
  await page.getByLabel('Root directory').fill('none')
  await expect.poll(() => looks).toBe(2)
  expect(browser.faults).toEqual([])
})
