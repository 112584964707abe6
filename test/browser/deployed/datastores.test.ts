import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backUp, become, create, keyvalue, read } from '../../engine/datastore-support.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { waitFor } from '../../support/wait.ts'
import { DIALOG, findingsOf } from '../axe.ts'
import { TestBrowser, waitForBadge } from '../browser.ts'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(() => server.logs.includes('reached_by'), 'the engine')
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
  await server.api('POST', '/environments', { name: 'staging' })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

function section(name: string): Promise<void> {
  return page.getByRole('navigation', { name: 'Datastore' }).getByRole('link', { name }).click()
}

function confirm(button: string): Promise<void> {
  return page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click()
}

test('a datastore is created, and its page shows when it is available and how to reach it', async () => {
  await page.goto('/services')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Datastores' }).click()
  await page.getByRole('heading', { name: 'Give your services a place for their data' }).waitFor()
  await page.getByRole('link', { name: 'New datastore' }).click()
  await page.getByText('Key-value store', { exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill('cache')
  await page.getByLabel('Memory limit').fill('7')
  await page.getByRole('button', { name: 'Create datastore' }).click()
  await page.getByRole('alert').getByText('16').waitFor()
  await page.getByLabel('Memory limit').fill('64')
  await page.getByRole('button', { name: 'Create datastore' }).click()
  await page.waitForURL('**/datastores/cache')
  await waitForBadge(page, 'Available')
  const { internal_url: url } = await read(server, 'cache')
  expect((await server.api('GET', '/datastores/cache')).body.backup_schedule).toBe('0 3 * * *')
  await page.getByText('none yet').waitFor()
  await page.getByText('of 64 MiB').waitFor()
  await page.getByText('Disk', { exact: true }).waitFor()
  const hidden = url.replace(/:[0-9a-f]{48}@/, ':••••••••@')
  await page.getByText(hidden, { exact: true }).waitFor()
  expect(await page.getByText(/[0-9a-f]{48}/).count()).toBe(0)
  await page.getByRole('button', { name: 'Show the internal address' }).click()
  await page.getByText(url, { exact: true }).waitFor()
  await page.getByText('REDIS_URL=${{datastore.cache.url}}').waitFor()
  const { ca_certificate, host_tls_port } = await read(server, 'cache')
  await page.getByText(`127.0.0.1:${host_tls_port}`, { exact: true }).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the CA certificate' }).click()
  expect(await text(await (await saved).createReadStream())).toBe(ca_certificate)
})

test('its output is shown as it comes, and can be searched', async () => {
  await section('Logs')
  await page.getByText(/Ready to accept connections/).waitFor()
  const { external_url } = await read(server, 'cache')
  await keyvalue(external_url, (client) => client.sendCommand(['BGREWRITEAOF']))
  await page
    .getByText(/append only file rewriting started/i)
    .first()
    .waitFor()
  await page.getByRole('searchbox').first().fill('nothing is like this')
  await page.keyboard.press('Enter')
  await page.getByText('No stored lines match.').waitFor()
  expect(await page.getByLabel('Instance').count()).toBe(0)
  await section('Overview')
})

test('services that refer to it are listed as soon as they do', async () => {
  await page.getByText('No variables refer to it yet.').waitFor()
  const env = [{ key: 'CACHE', value: '${{datastore.cache.url}}' }]
  await server.api('POST', '/services', { name: 'shop', type: 'background_worker', deploy: false, env })
  const used = page.getByRole('region', { name: 'Used by' })
  await used.getByText('CACHE', { exact: true }).waitFor()
  await used.getByRole('link', { name: 'shop' }).waitFor()
})

test('its limits are changed in place, and changes from elsewhere are shown', async () => {
  await section('Settings')
  await page.getByLabel('Memory limit').fill('128')
  await server.api('PATCH', '/datastores/cache', { memory_limit_mb: 96 })
  await page.getByRole('alert').getByText('96').waitFor()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. It applies from now on.').waitFor()
  expect((await server.api('GET', '/datastores/cache')).body.memory_limit_mb).toBe(128)
})

test('it is backed up, by hand and on a schedule', async () => {
  const { external_url } = await read(server, 'cache')
  await keyvalue(external_url, (client) => client.set('at', 'first'))
  await page.getByRole('button', { name: 'Back up now' }).click()
  await section('Backups')
  const list = page.getByRole('list', { name: 'Backups' })
  await list.getByText('Succeeded').waitFor()
  await list.getByText(/manual, \d+ bytes, on this server/).waitFor()
  await list.getByRole('button').click()
  const download = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Download' }).click()
  expect((await download).suggestedFilename()).toMatch(/^cache-.*\.rdb$/)
  // A refused one leaves the page where it is.
  await page.route('**/download', (route) => route.fulfill({ status: 404, json: { error: {} } }))
  const refused = page.waitForEvent('download')
  await list.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Download' }).click()
  await refused
  expect(await list.count()).toBe(1)
  await page.unroute('**/download')
  await page.getByRole('textbox', { name: 'Schedule' }).fill('never')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('alert').first().waitFor()
  await page.getByRole('textbox', { name: 'Schedule' }).fill('0 4 * * *')
  await page.getByLabel('Backups kept').fill('3')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(async () => (await server.api('GET', '/datastores/cache')).body)
    .toMatchObject({ backup_schedule: '0 4 * * *', backup_retention: 3 })
})

async function openRestore(): Promise<void> {
  await page.getByRole('list', { name: 'Backups' }).getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Restore…' }).click()
}

test('a backup is restored into a new datastore, and in place once its name is typed', async () => {
  await openRestore()
  await page.getByLabel('Name of the new datastore').fill('shop')
  await confirm('Restore into a new datastore')
  await page.getByRole('dialog').getByText('is in use by').waitFor()
  await page.getByLabel('Name of the new datastore').fill('copy')
  await confirm('Restore into a new datastore')
  await page.waitForURL('**/datastores/copy')
  await waitForBadge(page, 'Available')
  const { external_url: url } = await read(server, 'cache')
  await keyvalue(url, (client) => client.set('at', 'later'))
  await page.goto('/datastores/cache/backups')
  await openRestore()
  await page.getByLabel('replacing its current data').check()
  const replace = page.getByRole('dialog').getByRole('button', { name: 'Replace the data of cache' })
  expect(await replace.isDisabled()).toBe(true)
  await page.getByLabel('Type cache to confirm').fill('cache')
  await replace.click()
  await page.waitForURL('**/datastores/cache')
  const isBack = () => keyvalue(url, (client) => client.get('at')).catch(() => null)
  await waitFor(async () => (await isBack()) === 'first', 'what was there first')
  await waitForBadge(page, 'Available')
  const [kept] = (await server.api('GET', '/datastores/cache')).body.kept_volumes
  await section('Backups')
  await page.getByRole('list', { name: 'Replaced data' }).getByText(kept.volume, { exact: true }).waitFor()
})

test('a backup is deleted, and an invalid upgrade is refused at its field', async () => {
  await backUp(server, 'copy')
  await page.goto('/datastores/copy/backups')
  await page.getByRole('list', { name: 'Backups' }).getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await confirm('Delete backup')
  await page.getByText('No backups yet').waitFor()
  await section('Settings')
  await page.getByRole('button', { name: 'Upgrade…' }).click()
  await page.getByLabel('New version').fill('1')
  await confirm('Upgrade')
  await page.getByRole('alert').getByText('must be a newer major version').waitFor()
  await confirm('Cancel')
})

test('one that could not be created says why and is tried again, and one elsewhere is in the list', async () => {
  const fields = { kind: 'relational', name: 'never', environment: 'staging', version: '999' }
  const { id } = await create(server, fields)
  await become(server, id, 'failed')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Datastores' }).click()
  await page.getByRole('list', { name: 'Datastores in staging' }).getByRole('link', { name: 'never' }).click()
  await page.waitForURL('**/datastores/never.staging')
  await waitForBadge(page, 'Failed')
  await page.getByText(/postgres:999/).waitFor()
  await page.getByRole('button', { name: 'Try again now' }).click()
  await page.getByText('It failed again.').waitFor()
})

test('the palette finds it, and deleting it by force names what refers to it', async () => {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('cache')
  await page.getByRole('option', { name: 'cache Datastore in production' }).click()
  await page.waitForURL('**/datastores/cache')
  await section('Settings')
  await page.getByRole('button', { name: 'Delete datastore…' }).click()
  await page.getByRole('dialog').getByText('CACHE', { exact: true }).waitFor()
  await page.getByLabel('Type cache to confirm').fill('cache')
  await confirm('Delete datastore')
  await page
    .getByRole('dialog')
    .getByText(/is referred to by CACHE of /)
    .waitFor()
  await confirm('Delete anyway')
  await page.waitForURL('**/datastores')
  await page.getByRole('link', { name: 'copy', exact: true }).waitFor()
  expect(await page.getByRole('link', { name: 'cache', exact: true }).count()).toBe(0)
  expect(browser.faults).toEqual([])
})

test("a service's disk is backed up and restored in the same way", async () => {
  const service = { name: 'wiki', type: 'background_worker', image: 'busybox:1', disk_mount_path: '/data' }
  await server.api('POST', '/services', { ...service, start_command: 'sleep 3600' })
  await page.goto('/services/wiki')
  await waitForBadge(page, 'Running')
  const sections = page.getByRole('navigation', { name: 'Service' })
  await sections.getByRole('link', { name: 'Disk', exact: true }).click()
  await page.getByText('No backups yet').waitFor()
  await page.getByRole('button', { name: 'Back up…' }).click()
  await page.getByLabel('Stop the program for the copy').check()
  await confirm('Back up')
  const list = page.getByRole('list', { name: 'Backups' })
  await list.getByText(/manual, program stopped, \d+ bytes, on this server/).waitFor()
  await list.getByRole('button').click()
  await page.getByRole('menuitem', { name: 'Restore…' }).click()
  await page.getByLabel('Type wiki to confirm').fill('wiki')
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await confirm('Replace the disk of wiki')
  await page
    .getByRole('list', { name: 'Replaced data' })
    .getByText(/^deployer-srv-/)
    .waitFor()
  await page.getByLabel('Backups kept').fill('3')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect
    .poll(async () => (await server.api('GET', '/services/wiki')).body)
    .toMatchObject({ disk_backup_retention: 3, disk_restore: { status: 'succeeded' } })
})
