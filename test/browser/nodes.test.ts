import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { DIALOG, findingsOf, LIGHT, Visitor } from './axe.ts'
import { TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  // An entry serves for everybody what the server does.
  server = await startServer({ serviceHost: '0.0.0.0' })
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

const rows = () => page.getByRole('list', { name: 'Nodes' }).locator(':scope > li')
const action = async (node: string, name: string) => {
  await page.getByRole('button', { name: `Actions of ${node}` }).click()
  return page.getByRole('menuitem', { name })
}

test('the page of nodes has the one of the server, which is renamed and labeled', async () => {
  const [{ name }] = (await server.api('GET', '/nodes')).body as [{ name: string }]
  const visitor = new Visitor(browser, page)
  expect(await visitor.look({ name: 'nodes', path: '/server/nodes' }, [LIGHT])).toEqual([])
  await rows().getByText('this server').waitFor()
  expect(await (await action(name, 'Drain')).innerText()).toContain('There is no other node')
  await page.keyboard.press('Escape')
  await (await action(name, 'Change')).click()
  await page.getByLabel('Name', { exact: true }).fill('Not a name')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await page.getByLabel('Name', { exact: true }).fill('first')
  await page.getByLabel('Labels').fill('disk=ssd\nzone = a')
  await page.getByRole('button', { name: 'Save' }).click()
  await rows().getByText('zone=a').waitFor()
  expect((await server.api('GET', '/nodes/first')).body.labels).toEqual({ disk: 'ssd', zone: 'a' })
})

test('a server that cannot have another node says why', async () => {
  await page.getByRole('button', { name: 'Show the command' }).click()
  await page.getByRole('region', { name: 'Add a machine' }).getByRole('alert').waitFor()
})

test('with another node, services are placed in their settings', async () => {
  await server.api('POST', '/services', { name: 'web', image: 'busybox:1', deploy: false })
  await page.goto('/services/web/settings')
  await page.getByRole('heading', { name: 'Rollout' }).waitFor()
  expect(await page.getByRole('form', { name: 'Placement' }).count()).toBe(0)
  const database = databaseOf(server.dataDirectory)
  database.exec(`INSERT INTO nodes (id, name, swarm_id, address, status, reason, created_at)
    VALUES ('nod-00000000000000000001', 'worker-1', 'lost', '10.0.0.2', 'down', 'it does not answer', 0)`)
  database.close()
  await page.goto('/server/nodes')
  await rows().getByText('it does not answer').waitFor()
  await (await action('worker-1', 'Remove lost node')).waitFor()
  await page.goto('/services/web/settings')
  const form = page.getByRole('form', { name: 'Placement' })
  await form.getByLabel('worker-1').check()
  await form.getByLabel('Spread').uncheck()
  await form.getByRole('button', { name: 'Save placement' }).click()
  await page.getByText('It applies to each instance that starts from now on.').waitFor()
  expect((await server.api('GET', '/services/web')).body.placement).toEqual({
    ...{ nodes: ['worker-1'], labels: null, spread: false },
  })
  expect(browser.faults).toEqual([])
})

test('another node becomes an entry once that is confirmed, is named in DNS by its public address, and stops being one', async () => {
  await page.goto('/server/nodes')
  expect(await (await action('worker-1', 'Make an entry')).innerText()).toContain('It is not ready')
  await page.keyboard.press('Escape')
  const setStatus = (status: string) => {
    const database = databaseOf(server.dataDirectory)
    database.exec(`UPDATE nodes SET status = '${status}', joined_at = 0 WHERE name = 'worker-1'`)
    database.close()
  }
  setStatus('ready')
  await page.reload()
  await (await action('worker-1', 'Make an entry')).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('It will hold the private keys of all hosts').waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await dialog.getByRole('button', { name: 'Make an entry' }).click()
  const row = rows().filter({ hasText: 'worker-1' })
  await row.getByText('Entry', { exact: true }).waitFor()
  await (await action('worker-1', 'Change')).click()
  await page.getByLabel('Public address').fill('203.0.113.8')
  await page.getByRole('button', { name: 'Save' }).click()
  await row.getByText('203.0.113.8 in DNS').waitFor()
  expect((await server.api('GET', '/nodes/worker-1')).body).toMatchObject({
    ...{ roles: ['entry'], public_address: '203.0.113.8' },
  })
  await (await action('worker-1', 'Stop being an entry')).click()
  await dialog.getByText('take it out of DNS').waitFor()
  await dialog.getByRole('button', { name: 'Stop being an entry' }).click()
  await row.getByText('Entry', { exact: true }).waitFor({ state: 'detached' })
  setStatus('down')
  expect(browser.faults).toEqual([])
})

test('two other nodes become managers, and the page says so when one is away', async () => {
  const run = (...statements: string[]) => {
    const database = databaseOf(server.dataDirectory)
    for (const statement of statements) database.exec(statement)
    database.close()
  }
  run(
    "UPDATE nodes SET status = 'ready' WHERE name = 'worker-1'",
    `INSERT INTO nodes (id, name, swarm_id, address, status, joined_at, created_at)
     VALUES ('nod-00000000000000000002', 'worker-2', 'two', '10.0.0.3', 'ready', 0, 0)`,
  )
  await page.goto('/server/nodes')
  await page.getByRole('button', { name: 'Managers…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('worker-1').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('with two, the loss of either one').waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await dialog.getByLabel('worker-2').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await rows().getByText('it is becoming a manager').first().waitFor()
  await page.getByRole('button', { name: 'Managers…' }).click()
  await expect.poll(() => dialog.getByLabel('worker-2').isChecked()).toBe(true)
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  run(
    "UPDATE nodes SET manager_state = 'reachable' WHERE is_own = 1 OR name = 'worker-1'",
    "UPDATE nodes SET manager_state = 'unreachable' WHERE name = 'worker-2'",
  )
  await page.reload()
  await rows().filter({ hasText: 'worker-1' }).getByText('Manager', { exact: true }).waitFor()
  await page.locator('#node-notice').getByText('worker-2 is away as a manager').waitFor()
  run(
    "DELETE FROM nodes WHERE name = 'worker-2'",
    "UPDATE nodes SET manager_state = NULL, is_manager = 0, status = CASE is_own WHEN 1 THEN 'ready' ELSE 'down' END",
  )
  expect(browser.faults).toEqual([])
})

test('what has its data on a node that is down is moved with its newest backup, from its page', async () => {
  await page.goto('/datastores/new')
  await page.locator('#node-notice').getByText('worker-1 is down').waitFor()
  await expect
    .poll(() => page.getByLabel('Node', { exact: true }).locator('option').allInnerTexts())
    .toEqual(['The one with the most unreserved memory', 'first'])
  await page.getByLabel('Name', { exact: true }).fill('cache')
  await page.getByText('Key-value').click()
  await page.getByLabel('Node', { exact: true }).selectOption('first')
  await page.getByRole('button', { name: 'Create datastore' }).click()
  const card = page.getByRole('region', { name: 'Node' })
  await card.getByText('Its data is on first.').waitFor()
  const database = databaseOf(server.dataDirectory)
  database.exec(`UPDATE datastores SET status = 'unavailable', node_id = 'nod-00000000000000000001'`)
  database.exec(`INSERT INTO moves (resource_id, from_node_id, to_node_id, from_backup, status, error, started_at)
    SELECT datastores.id, node_id, nodes.id, 0, 'failed', 'the copy differs', 0 FROM datastores, nodes
    WHERE nodes.is_own = 1`)
  const becomes = (status: string) => database.exec(`UPDATE nodes SET status = '${status}' WHERE is_own = 0`)
  becomes('unreachable')
  await page.reload()
  await card.getByText('worker-1, which does not answer').waitFor()
  expect(await card.getByRole('button', { name: 'Move' }).getAttribute('aria-disabled')).not.toBe('true')
  becomes('down')
  database.close()
  await page.reload()
  await card.getByText('worker-1, which is down').waitFor()
  await card.getByText('The move to first failed, and the data is where it was: the copy differs').waitFor()
  await card.getByRole('button', { name: 'Move' }).click()
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', { name: 'Move', exact: true })
  expect(await confirm.getAttribute('aria-disabled')).toBe('true')
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await dialog.getByLabel('From its newest backup').check()
  await confirm.click()
  await dialog.getByText('there is no backup of datastore cache').waitFor()
})

test('the node of a disk is chosen with it and named on its page, where a move is followed and canceled', async () => {
  await page.goto('/services/new?source=image')
  await page.getByText('Start and limits').click()
  await page.getByLabel('Disk').fill('/data')
  await page.getByLabel('Node', { exact: true }).selectOption('first')
  await page.getByText('node=first').waitFor()
  await page.getByLabel('Disk').fill('')
  await page.getByLabel('Node', { exact: true }).waitFor({ state: 'detached' })
  await server.api('POST', '/services', {
    ...{ name: 'wiki', image: 'busybox:1', disk_mount_path: '/data', node: 'first', deploy: false },
  })
  await page.goto('/services/wiki/disk')
  const card = page.getByRole('region', { name: 'Node' })
  await card.getByText('Its data is on first.').waitFor()
  expect(await card.getByRole('button', { name: 'Move' }).innerText()).toContain('No other node is ready')
  const database = databaseOf(server.dataDirectory)
  database.exec(`INSERT INTO moves
      (resource_id, from_node_id, to_node_id, from_backup, status, done_bytes, total_bytes, started_at)
    SELECT services.id, node_id, 'nod-00000000000000000001', 0, 'running', 1048576, 4194304, 0 FROM services
    WHERE name = 'wiki'`)
  database.close()
  const visitor = new Visitor(browser, page)
  expect(await visitor.look({ name: 'disk', path: '/services/wiki/disk' }, [LIGHT])).toEqual([])
  await card.getByText('Moving to worker-1.').waitFor()
  await card.getByText('of about 4').waitFor()
  await card.getByRole('button', { name: 'Cancel move' }).click()
  await card.getByRole('button', { name: 'Move…' }).waitFor()
  expect((await server.api('GET', '/services/wiki')).body.move.status).toBe('canceled')
  expect(browser.faults).toEqual([])
})
