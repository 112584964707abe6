import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { Repository, startRemotes, type Remotes } from '../git/remotes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { DIALOG, findingsOf } from './axe.ts'
import { PHONE, TestBrowser } from './browser.ts'

let server: TestServer
let remotes: Remotes
let browser: TestBrowser
let page: Page

beforeAll(async () => {
  remotes = await startRemotes()
  server = await startServer()
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
  await server.api('POST', '/environments', { name: 'staging' })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
  await remotes?.close()
})

test('a blueprint is written with completion, with its errors and its plan next to it, and applied', async () => {
  await page.goto('/services')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Blueprints' }).click()
  await page.getByRole('link', { name: 'Open the editor' }).click()
  const editor = page.getByRole('textbox', { name: 'Blueprint' })
  await editor.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('serv')
  await page.getByRole('listbox').getByText('services').waitFor()
  // CodeMirror gives the list no key in its first 75 ms, so that nobody accepts what they have not seen (`interactionDelay`).
  await page.waitForTimeout(150)
  await page.keyboard.press('Enter')
  await editor.getByText('services:').waitFor()
  await page.keyboard.type('\n  - name: shop\nport: 99999\nimage: nginx')
  const faults = page.getByRole('list', { name: 'Errors' })
  await faults.getByText('must be at most 65535').waitFor()
  await faults.getByRole('button').first().click()
  await page.keyboard.press('Control+End')
  await page.keyboard.press('Control+a')
  await page.keyboard.type('services:\n- name: shop\nport: 3000\nimage: registry.example.com/shop:1')
  const plan = page.getByRole('list', { name: 'Plan' })
  await plan.getByText('shop', { exact: true }).waitFor()
  await page.getByText('1 to create').waitFor()
  expect(await findingsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Apply' }).click()
  await page.getByText('1 created').waitFor()
  expect((await server.api('GET', '/services/shop')).body).toMatchObject({ port: 3000 })

  await page.getByRole('list', { name: 'Deploys started' }).getByRole('link', { name: 'shop' }).waitFor()
  await page.getByLabel('Environment', { exact: true }).selectOption('staging')
  await page.getByText('1 to create').waitFor()
  await page.getByLabel('Environment', { exact: true }).selectOption('production')

  await page.keyboard.press('Control+End')
  await editor.click()
  await page.keyboard.type('# of mine')
  await page.getByRole('button', { name: 'Export environment' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await editor.getByText('# of mine').waitFor()
  await page.getByRole('button', { name: 'Export environment' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click()
  await editor.getByText('registry.example.com/shop:1').waitFor()
  await page.getByText('unchanged', { exact: false }).first().waitFor()
})

test('a Compose file is converted into the editor', async () => {
  await page.getByRole('button', { name: 'Convert Compose…' }).click()
  await page
    .getByRole('textbox', { name: 'docker-compose.yml' })
    .fill('services:\n  web:\n    image: nginx\n    ports: ["80:80"]\n    networks: [a]\n')
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await page.getByRole('button', { name: 'Convert', exact: true }).click()
  await page.getByRole('list', { name: 'Notes on the conversion' }).getByText('one network here').waitFor()
  await page.getByRole('list', { name: 'Plan' }).getByText('web', { exact: true }).waitFor()
})

test('characters that make a blueprint read differently are shown in the editor', async () => {
  await page.goto('/blueprints/editor')
  const editor = page.getByRole('textbox', { name: 'Blueprint' })
  await editor.click()
  await page.keyboard.insertText('# \u202elive\u202c \u2066x\u2069')
  await editor.locator('.cm-specialChar').nth(3).waitFor()
  expect(await editor.locator('.cm-specialChar').count()).toBe(4)
  expect(await findingsOf(page)).toEqual([])
})

test('a button of a README opens the plan of its repository', async () => {
  const repository = new Repository(remotes, 'project')
  repository.push({
    'render.yaml': 'services:\n  - type: web\n    name: from-readme\n    runtime: docker\n    plan: free\n',
  })
  await page.goto(`/new?blueprint=${encodeURIComponent(`${remotes.http}/project.git`)}`)
  await page.getByText(/render\.yaml at [0-9a-f]{12}/).waitFor()
  await page.getByRole('list', { name: 'Plan' }).getByText('from-readme').waitFor()
  await page.getByRole('list', { name: 'Warnings' }).getByText('services[0].plan').waitFor()
  expect((await server.api('GET', '/services/from-readme')).status).toBe(404)
})

test('a synced blueprint shows its last result, on a phone too', async () => {
  const repository = new Repository(remotes, 'synced')
  repository.push({ 'deployer.yaml': 'services:\n  - name: synced\n    image: registry.example.com/a:1\n' })
  await page.goto('/blueprints')
  await page.getByRole('button', { name: 'Sync from git' }).click()
  await page.getByLabel('Name').fill('synced')
  await page.getByLabel('Repository').fill(`${remotes.http}/synced.git`)
  await page.getByRole('button', { name: 'Sync', exact: true }).click()
  const card = page.getByRole('article', { name: 'synced' })
  await card.getByText('Not synced yet').waitFor()
  await page.setViewportSize(PHONE)
  await card.getByRole('button', { name: 'Sync now' }).click()
  await card.getByText('Applied', { exact: true }).waitFor()
  await card.getByText('Last result').click()
  await card.getByText('1 created').waitFor()
  expect(await findingsOf(page)).toEqual([])
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false)
  expect(browser.faults).toEqual([])
})
