import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { Repository, startRemotes, type Remotes } from '../../git/remotes.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { waitFor } from '../../support/wait.ts'
import { TestBrowser, waitForBadge } from '../browser.ts'
import { heard } from '../heard.ts'

const DOCKERFILE = 'FROM busybox:1\nCOPY index.html /www/\nCMD ["httpd", "-f", "-p", "10000", "-h", "/www"]\n'

let browser: TestBrowser
let server: TestServer
let remotes: Remotes
let repository: Repository
let page: Page

beforeAll(async () => {
  server = await startServer({ engine: true })
  remotes = await startRemotes()
  repository = new Repository(remotes, 'shop')
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await remotes?.close()
  await server?.stop()
})

const content = () => page.locator('#content')

function pushVersion(text: string): void {
  repository.push({ Dockerfile: DOCKERFILE, 'index.html': text }, `Say ${text}`)
}

/** What the service answers a new visitor at the address that the dashboard shows. */
async function served(name: string): Promise<string> {
  const { body } = await server.api('GET', `/services/${name}`)
  const visitor = await browser.open(body.url)
  await visitor.goto('/')
  const text = await visitor.locator('body').innerText()
  await visitor.context().close()
  return text.trim()
}

test('the main job: a repository goes live, a change replaces it, a rollback brings it back', async () => {
  pushVersion('first')
  await page.goto('/services')
  await page.getByRole('link', { name: 'New service' }).last().click()
  await page.getByLabel('Repository address').fill(`${remotes.http}/shop.git`)
  await page.getByText('Reachable, 1 branch').waitFor()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('shop')
  const asked = ['textbox "Repository address"', 'textbox "Name"', 'button "Create and deploy"']
  const form = await heard(content(), 'heading', 'textbox', 'button')
  expect(form.filter((part) => [...asked, 'heading "New service"'].includes(part))).toEqual([
    'heading "New service"',
    ...asked,
  ])
  await page.getByRole('button', { name: 'Create and deploy' }).click()

  await page.waitForURL(/\/deploys\/dep-[0-9a-f]{20}$/)
  await waitForBadge(page, 'Live')
  await page.getByText('Ended', { exact: true }).waitFor()
  // The heading has the focus; then comes the log.
  await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1')
  expect(await heard(content(), 'navigation', 'heading', 'log')).toEqual([
    'navigation "Breadcrumb"',
    expect.stringMatching(/^heading ".*Say first/),
    expect.stringMatching(/^log/),
  ])
  const log = page.getByRole('log')
  // What has succeeded is folded.
  await log.getByRole('button', { name: /^Switch traffic ?, succeeded/ }).click()
  expect(await log.innerText()).toContain('live')
  expect(
    await log.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight),
  ).toBeLessThan(2)
  expect(await served('shop')).toBe('first')

  pushVersion('second')
  await page.getByRole('link', { name: 'shop' }).click()
  await page
    .getByRole('navigation', { name: 'Service' })
    .getByRole('link', { name: 'Logs', exact: true })
    .click()
  await page.getByRole('heading', { level: 1, name: /^shop ?, Logs$/ }).waitFor()
  await page.getByRole('log').waitFor()
  expect(await heard(content(), 'navigation', 'heading', 'log')).toEqual([
    'navigation "Breadcrumb"',
    expect.stringMatching(/^heading "shop ?, Logs"/),
    'navigation "Service"',
    expect.stringMatching(/^log/),
  ])
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.waitForURL(/\/deploys\/dep-/)
  await page.getByRole('heading', { name: /Say second/ }).waitFor()
  await waitForBadge(page, 'Live')
  expect(await served('shop')).toBe('second')

  await page.getByRole('link', { name: 'Deploys' }).click()
  const rollBack = page.getByRole('button', { name: 'Roll back' })
  await rollBack.waitFor()
  expect(await heard(content(), 'navigation', 'heading', 'list', 'button')).toEqual([
    ...['navigation "Breadcrumb"', 'list'],
    expect.stringMatching(/^heading "shop ?, Deploys"/),
    ...['button "Deploy"', 'button "More actions"', 'button "Copy the address"'],
    ...['navigation "Service"', 'list'],
    'list "Deploys, newest first"',
    expect.stringMatching(/^button "Roll back to [0-9a-f]{7} Say first, deployed /),
  ])
  await rollBack.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('region', { name: 'What changes' }).waitFor()
  expect(await heard(dialog, 'heading', 'region', 'checkbox', 'button')).toEqual([
    'heading "Roll back to this version?"',
    'region "What changes"',
    'region "Version"',
    'heading "Version"',
    expect.stringMatching(/^checkbox "Stop deploying on push/),
    'button "Cancel"',
    'button "Roll back"',
    'button "Close"',
  ])
  await dialog.getByRole('button', { name: 'Roll back' }).click()
  await page.waitForURL(/\/deploys\/dep-/)
  await page.getByRole('heading', { name: /Say first/ }).waitFor()
  await waitForBadge(page, 'Live')
  expect(await served('shop')).toBe('first')
  expect(browser.faults).toEqual([])
})

test('a failed build says why on its page', async () => {
  repository.push({ Dockerfile: 'FROM busybox:1\nRUN echo out of paper; exit 3\n' }, 'Break the build')
  await page.goto('/services/new')
  await page.getByLabel('Repository address').fill(`${remotes.http}/shop.git`)
  await page.getByLabel('Name', { exact: true }).fill('broken')
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await waitForBadge(page, 'Build failed')
  const log = page.getByRole('log')
  await log.getByText('out of paper').first().waitFor()
  await log.getByRole('button', { name: /RUN echo out of paper.*, failed/, expanded: true }).waitFor()
  await page.getByRole('button', { name: 'Jump to the error' }).click()
  await page.waitForURL(/#L\d+$/)
  expect(await log.locator('.log-marked').innerText()).toBe('out of paper')
  expect(await log.locator('.log-failed').innerText()).toMatch(/^failed: /)
  expect(await page.getByRole('link', { name: 'Variables', exact: true }).count()).toBe(1)
  const first = page.url()
  await page.getByRole('button', { name: 'Deploy again' }).click()
  await page.waitForURL((url) => url.href !== first)
  await waitForBadge(page, 'Build failed')
  await page.goto('/services')
  const row = page.getByRole('listitem').filter({ hasText: 'broken' })
  await row.getByText(/exit code: 3|returned a non-zero code: 3|exit code 3/).waitFor()
  // Nothing answers at its address.
  expect(await row.getByRole('link').count()).toBe(1)
  expect(browser.faults).toEqual([])
})

test('a first deploy that failed because of a missing variable is fixed and deployed on the variables page', async () => {
  await server.api('POST', '/services', {
    name: 'wanting',
    type: 'background_worker',
    image: 'busybox:1',
    start_command: '[ -n "$WANTED" ] || { echo WANTED is not set; exit 1; }; sleep 3600',
  })
  await page.goto('/services/wanting')
  await waitForBadge(page, 'Failed')
  await page.getByRole('link', { name: 'Variables', exact: true }).first().click()
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.getByLabel('Name', { exact: true }).fill('WANTED')
  await page.getByRole('textbox', { name: 'Value of WANTED' }).fill('here')
  await page.getByRole('button', { name: 'Save and deploy' }).click()
  await page.waitForURL(/\/deploys\/dep-/)
  await waitForBadge(page, 'Live')
  await page.goto('/services/wanting/variables')
  await page.getByLabel('Name', { exact: true }).fill('RENAMED')
  await page.getByRole('button', { name: 'Save and restart' }).waitFor()
  await page.getByRole('button', { name: 'Discard' }).click()
  expect(browser.faults).toEqual([])
})

test('an uploaded folder goes live', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'upload-'))
  writeFileSync(join(folder, 'Dockerfile'), DOCKERFILE)
  writeFileSync(join(folder, 'index.html'), 'from a folder')
  execFileSync('tar', ['-czf', join(folder, 'brochure.tar.gz'), '-C', folder, 'Dockerfile', 'index.html'])
  await page.goto('/services/new')
  await page.getByText('Upload', { exact: true }).click()
  await page.getByLabel('Choose a .tar.gz file').setInputFiles(join(folder, 'brochure.tar.gz'))
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('brochure')
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await page.waitForURL(/\/deploys\/dep-/)
  await waitForBadge(page, 'Live')
  rmSync(folder, { recursive: true })
  expect(await served('brochure')).toBe('from a folder')
  expect(browser.faults).toEqual([])
})

test('a log and the page continue by themselves after the server was away', { tags: ['slow'] }, async () => {
  await server.api('POST', '/services', {
    name: 'ticker',
    type: 'background_worker',
    image: 'busybox:1',
    start_command: 'i=0; while true; do echo tick $((i = i + 1)); sleep 1; done',
  })
  await page.goto('/services/ticker/logs')
  await waitForBadge(page, 'Running')
  const log = page.getByRole('log')
  await log.getByText('tick 2', { exact: true }).waitFor()
  await server.kill('SIGKILL')
  await page.getByText('Connection lost, trying again').waitFor()
  const notice = page.getByRole('status').getByText('No connection to the server.')
  await notice.waitFor()
  await server.restart()
  await page.getByText('Following', { exact: true }).waitFor()
  await notice.waitFor({ state: 'detached' })
  // A log that is loaded again from its first line is empty for a moment.
  const seen = await waitFor(
    async () => [...(await log.innerText()).matchAll(/tick (\d+)/g)].at(-1)?.[1],
    'the log to be read again',
  )
  await log.getByText(`tick ${Number(seen) + 2}`, { exact: true }).waitFor()
  expect(await log.getByText('tick 2', { exact: true }).count()).toBe(1)
  expect(browser.faults).toEqual([])
})

test('variables are pasted as a whole .env and reach the server', async () => {
  await server.api('POST', '/services', { name: 'settings', deploy: false })
  await page.goto('/services')
  await page.getByRole('link', { name: 'settings', exact: true }).click()
  await page.getByRole('link', { name: 'Variables' }).click()
  await page.getByRole('button', { name: 'Edit as .env text' }).click()
  await page
    .getByLabel('Variables as .env text')
    .fill('# of the shop\nexport LEVEL=debug\nNOTE="two\\nlines"\n')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. The values take effect').waitFor()
  expect((await server.api('GET', '/services/settings/env')).body).toEqual([
    { key: 'LEVEL', value: 'debug' },
    { key: 'NOTE', value: 'two\nlines' },
  ])
  expect(browser.faults).toEqual([])
})

test('a change made elsewhere shows without a reload', async () => {
  await page.goto('/services')
  await page.getByRole('heading', { name: 'Services' }).waitFor()
  await server.api('POST', '/services', { name: 'from-elsewhere', deploy: false })
  await page.getByRole('link', { name: 'from-elsewhere', exact: true }).waitFor()
  await server.api('DELETE', '/services/from-elsewhere')
  await page.getByRole('link', { name: 'from-elsewhere', exact: true }).waitFor({ state: 'detached' })
  expect(browser.faults).toEqual([])
})

test('a service that is deleted while the page loads it does not come back', async () => {
  await page.goto('/services')
  await page.getByRole('heading', { name: 'Services' }).waitFor()
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let body: string | null = null
  // The page asks when it hears of the service, and of its change: that answer is on its way while the service goes.
  await page.route('**/api/v1/services/srv-*', async (route) => {
    if (body === null) {
      const response = await route.fetch()
      body = await response.text()
      return route.fulfill({ response })
    }
    if (!body.includes(route.request().url().split('/').at(-1)!)) return route.continue()
    asked.resolve()
    await held.promise
    await route.fulfill({ contentType: 'application/json', body })
  })
  const { body: service } = await server.api('POST', '/services', { name: 'brief', deploy: false })
  await page.getByRole('link', { name: 'brief', exact: true }).waitFor()
  await server.api('PATCH', '/services/brief', { memory_limit_mb: 64 })
  await asked.promise
  await server.api('DELETE', '/services/brief')
  await waitFor(async () => (await server.api('GET', '/services/brief')).status === 404, 'its end')
  // By then the page has heard that the previous one is gone.
  await server.api('POST', '/services', { name: 'after-it', deploy: false })
  const late = page.waitForResponse((response) => response.url().includes(service.id))
  held.resolve()
  await late
  await page.getByRole('link', { name: 'after-it', exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'brief', exact: true }).count()).toBe(0)
  await page.unroute('**/api/v1/services/srv-*')
  await server.api('DELETE', '/services/after-it')
  expect(browser.faults).toEqual([])
})

test('a service that others refer to is deleted after they were listed', async () => {
  await server.api('POST', '/services', { name: 'needed', type: 'private_service', deploy: false })
  const env = [{ key: 'NEEDED', value: '${{service.needed.host}}' }]
  expect((await server.api('POST', '/services', { name: 'needs', deploy: false, env })).status).toBe(201)
  await page.goto('/services/needed/settings')
  await page.getByRole('button', { name: 'Delete service…' }).click()
  await page.getByLabel('Type needed to confirm').fill('needed')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Delete service' }).click()
  await dialog.getByRole('alert').getByText('NEEDED of service needs').waitFor()
  expect(await dialog.getByRole('alert').innerText()).not.toContain('force=true')
  await dialog.getByRole('button', { name: 'Delete anyway' }).click()
  await page.waitForURL('**/services')
  expect((await server.api('GET', '/services/needed')).status).toBe(404)
  expect(browser.faults).toEqual([])
})

test('a service is deleted after its name was typed', async () => {
  await server.api('POST', '/services', { name: 'leaving', deploy: false })
  await page.goto('/services/leaving/settings')
  await page.getByRole('button', { name: 'Delete service…' }).click()
  const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete service' })
  expect(await confirm.isDisabled()).toBe(true)
  await page.getByLabel('Type leaving to confirm').fill('leaving')
  await confirm.click()
  await page.waitForURL('**/services')
  expect((await server.api('GET', '/services/leaving')).status).toBe(404)
  expect(browser.faults).toEqual([])
})
