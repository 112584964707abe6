import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Page, Route } from 'playwright-core'
import { startServer, type TestServer } from '../support/server.ts'
import { PASSWORD, PHONE, TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  // The password prompt is there when the session ends, as for people.
  page = await browser.enter(server, { loadsAhead: true })
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

let made = 0

/** A service that is never deployed, with two variables. */
async function makeService(): Promise<string> {
  const name = `form-${++made}`
  await server.api('POST', '/services', {
    name,
    image: 'busybox:1',
    deploy: false,
    env: [
      { key: 'LEVEL', value: 'info' },
      { key: 'REGION', value: 'eu' },
    ],
  })
  return name
}

async function variables(name: string): Promise<Record<string, string>> {
  const { body } = await server.api('GET', `/services/${name}/env`)
  return Object.fromEntries((body as { key: string; value: string }[]).map(({ key, value }) => [key, value]))
}

async function openVariables(name: string): Promise<void> {
  await page.goto(`/services/${name}/variables`)
  await page.getByRole('button', { name: 'Show values' }).click()
}

const value = (key: string) => page.getByLabel(`Value of ${key}`, { exact: true })
const unsaved = () => page.getByText('Unsaved changes')

test('saving variables keeps what was changed elsewhere since they were loaded, and shows it', async () => {
  const name = await makeService()
  await openVariables(name)
  await value('LEVEL').fill('debug')
  await server.api('PATCH', `/services/${name}/env`, { set: { REGION: 'us', ADDED: 'elsewhere' } })
  await page.locator('input[aria-label=Name]').nth(2).waitFor()
  expect(await value('REGION').inputValue()).toBe('us')
  await page.getByRole('button', { name: 'Save only' }).click()
  await unsaved().waitFor({ state: 'detached' })
  expect(await variables(name)).toEqual({ LEVEL: 'debug', REGION: 'us', ADDED: 'elsewhere' })
  expect(browser.faults).toEqual([])
})

test.for([
  ['Keep mine', 'mine'],
  ['Use what was saved elsewhere', 'theirs'],
] as const)('a variable changed here and elsewhere is asked about: %s', async ([choice, result]) => {
  const name = await makeService()
  await openVariables(name)
  await value('LEVEL').fill('mine')
  await value('REGION').fill('us')
  await server.api('PATCH', `/services/${name}/env`, { set: { LEVEL: 'theirs' } })
  await page.getByRole('alert').getByText('LEVEL', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Save only' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: choice }).press('Enter')
  await page.locator('h1:focus').waitFor()
  await page.getByRole('button', { name: 'Save only' }).click()
  await unsaved().waitFor({ state: 'detached' })
  expect(await variables(name)).toEqual({ LEVEL: result, REGION: 'us' })
})

test('saving finds out what was changed elsewhere even if the page was not notified', async () => {
  const name = await makeService()
  await page.route('**/api/v1/events', (route) => route.abort())
  await openVariables(name)
  await value('LEVEL').fill('mine')
  await server.api('PATCH', `/services/${name}/env`, { set: { LEVEL: 'theirs', REGION: 'us' } })
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByRole('alert').getByText('LEVEL', { exact: true }).waitFor()
  expect(await variables(name)).toEqual({ LEVEL: 'theirs', REGION: 'us' })
  await page.unroute('**/api/v1/events')
})

test('settings send only what was touched, and say which field was changed elsewhere', async () => {
  const name = await makeService()
  await page.goto(`/services/${name}/settings`)
  await page.getByLabel('Start command').fill('mine')
  await server.api('PATCH', `/services/${name}`, { port: 3000 })
  await expect.poll(() => page.getByLabel('Port').inputValue()).toBe('3000')
  const sent = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Save only' }).click()
  expect((await sent).postDataJSON()).toEqual({ start_command: 'mine' })
  await unsaved().waitFor({ state: 'detached' })

  await page.getByRole('textbox', { name: /^Disk/ }).fill('data /data\ncache /var/cache')
  const sentDisks = page.waitForRequest((request) => request.method() === 'PATCH')
  await page.getByRole('button', { name: 'Save only' }).click()
  expect((await sentDisks).postDataJSON()).toEqual({
    disks: [
      { name: 'data', mount_path: '/data' },
      { name: 'cache', mount_path: '/var/cache' },
    ],
  })
  await unsaved().waitFor({ state: 'detached' })

  await page.getByLabel('Start command').fill('mine again')
  await server.api('PATCH', `/services/${name}`, { start_command: 'theirs' })
  await page.getByRole('alert').getByText('Start command', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Use what was saved elsewhere' }).click()
  expect(await page.getByLabel('Start command').inputValue()).toBe('theirs')
  await unsaved().waitFor({ state: 'detached' })
  expect(browser.faults).toEqual([])
})

async function endSession(): Promise<void> {
  const cookies = await page.context().cookies()
  const { body: sessions } = await server.request('GET', '/api/v1/auth/sessions', undefined, {
    headers: { cookie: cookies.map((cookie) => `${cookie.name}=${cookie.value}`).join('; ') },
  })
  const own = (sessions as { id: string; current: boolean }[]).find(({ current }) => current)!
  await page.evaluate(`fetch('/api/v1/auth/sessions/${own.id}', { method: 'DELETE' }).then(() => {})`)
}

async function signInAgain(): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Your session ended' })
  await dialog.waitFor()
  await page.keyboard.press('Escape')
  await dialog.getByLabel('Password', { exact: true }).fill('a wrong password')
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('a session that ends asks for the password over the page at once, and keeps the work', async () => {
  const name = await makeService()
  await openVariables(name)
  await value('LEVEL').fill('debug')
  await endSession()
  await signInAgain()
  expect(await value('LEVEL').inputValue()).toBe('debug')
  await page.getByRole('button', { name: 'Save only' }).click()
  await unsaved().waitFor({ state: 'detached' })
  expect((await variables(name))['LEVEL']).toBe('debug')
  expect(browser.faults).toEqual([])
})

test('a save that hits the end of the session continues after the password was entered', async () => {
  const name = await makeService()
  await openVariables(name)
  await value('LEVEL').fill('debug')
  // Before that, the page would find out by itself, and its dialog would cover the button.
  const endFirst = async (route: Route) => {
    await endSession()
    await route.fallback()
  }
  await page.route('**/services/*/env', endFirst, { times: 1 })
  await page.getByRole('button', { name: 'Save only' }).click()
  await signInAgain()
  await unsaved().waitFor({ state: 'detached' })
  expect((await variables(name))['LEVEL']).toBe('debug')
  expect(browser.faults).toEqual([])
})

test('leaving unsaved work asks in the page, and staying keeps it', async () => {
  const name = await makeService()
  await openVariables(name)
  await value('LEVEL').fill('debug')
  const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
  await page.getByRole('link', { name: 'Settings' }).click()
  await dialog.getByRole('button', { name: 'Stay' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(await value('LEVEL').inputValue()).toBe('debug')
  expect(await page.getByRole('link', { name: 'Settings' }).evaluate((link) => link.matches(':focus'))).toBe(
    true,
  )
  await page.getByRole('button', { name: 'Sign out' }).click()
  await dialog.getByRole('button', { name: 'Stay' }).click()
  const inView = page.getByRole('complementary', { name: 'Sidebar' }).getByLabel('Environment in view')
  await inView.selectOption('production')
  await dialog.getByRole('button', { name: 'Stay' }).click()
  await expect.poll(() => inView.inputValue()).toBe('')
  await page.getByRole('link', { name: 'Settings' }).click()
  await dialog.getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL('**/settings')
  expect((await variables(name))['LEVEL']).toBe('info')

  await page.getByLabel('Start command').fill('unsaved')
  await page.goBack()
  await dialog.getByRole('button', { name: 'Stay' }).click()
  expect(new URL(page.url()).pathname).toBe(`/services/${name}/settings`)
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.goBack()
  await page.waitForURL('**/variables')
  expect(browser.faults).toEqual([])
})

test('a refusal is shown once, at its field, in words, and the field has the focus', async () => {
  const name = await makeService()
  await page.goto(`/services/${name}/settings`)
  await page.getByLabel('Port').fill('70000')
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').allInnerTexts()).toEqual(['Must be at most 65535'])
  expect(await page.getByLabel('Port').evaluate((field) => field.matches(':focus'))).toBe(true)

  await page.getByRole('button', { name: 'Discard' }).click()
  await page.goto('/services/new')
  await page.getByText('Container image', { exact: true }).click()
  await page.getByLabel('Image', { exact: true }).fill('busybox:1')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await page.getByRole('alert').waitFor()
  const [said, ...more] = await page.getByRole('alert').allInnerTexts()
  expect(said).toMatch(new RegExp(`^${name} is in use`, 'i'))
  expect(more).toEqual([])

  await page.getByText('Upload', { exact: true }).click()
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await page.getByText('Choose a folder or an archive to upload.').waitFor()
  const file = page.getByLabel('Choose a .tar.gz file')
  expect(await file.evaluate((field) => field.matches(':focus'))).toBe(true)
})

test('a new service is also a line for a terminal, which follows the form and has no value of a variable', async () => {
  await page.goto('/services/new')
  const line = page.getByLabel('the line for a terminal', { exact: true })
  await line.getByText('deployer create NAME --repo URL').waitFor()
  await page.getByText('Upload', { exact: true }).click()
  await page.getByLabel('Name', { exact: true }).fill('brochure')
  await line.getByText('deployer deploy . --service brochure --create').waitFor()
  await page.getByText('Environment variables').click()
  await page.getByRole('button', { name: 'Add variable' }).click()
  await page.getByRole('list', { name: 'Variables' }).getByLabel('Name').fill('PASSWORD')
  await value('PASSWORD').fill('hunter2')
  await line.getByText('--env-file .env').waitFor()
  expect(await line.innerText()).toBe(
    'deployer create brochure --env-file .env\ndeployer deploy . --service brochure',
  )
})

test('a repository that cannot be read is reported once, at its address, and becomes a service after confirmation', async () => {
  await page.goto('/services/new')
  await page.getByLabel('Repository address').fill('http://127.0.0.1:9/team/unread.git')
  const fault = page.getByRole('alert')
  await fault.waitFor()
  expect(await fault.allInnerTexts()).toEqual([
    expect.stringMatching(/^The repository could not be read: .*127\.0\.0\.1/),
  ])
  expect(await page.getByLabel('Repository address').getAttribute('aria-invalid')).toBe('true')
  await page.getByText('Pushes do not reach this server yet').waitFor()
  await page.getByText('Add a webhook by hand').click()
  await page.getByLabel("the webhook's address").getByText('/hooks/gitprov').waitFor()
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click()
  expect((await server.api('GET', '/services/unread')).status).toBe(404)
  await page.getByRole('button', { name: 'Create and deploy' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Create anyway' }).click()
  await page.waitForURL('**/services/unread/deploys/dep-*')
  await page.getByText('The container engine does not answer.').waitFor({ state: 'attached' })
  expect(browser.faults).toEqual([])
})

test('on a phone the tab of the page is in view', async () => {
  const phone = await browser.open(server.url, {
    viewport: PHONE,
    storageState: await page.context().storageState(),
  })
  await phone.goto(`/services/${await makeService()}/settings`)
  const tab = phone.getByRole('navigation', { name: 'Service', exact: true }).locator('[aria-current]')
  await tab.waitFor()
  expect(await tab.innerText()).toBe('Settings')
  await expect
    .poll(async () => {
      const box = await tab.boundingBox()
      return box !== null && box.x >= 0 && box.x + box.width <= PHONE.width
    })
    .toBe(true)
  await phone.context().close()
})

test('on a phone the bar with the save buttons covers no field', async () => {
  const name = await makeService()
  await server.api('PATCH', `/services/${name}/env`, {
    set: Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`KEY_${index}`, 'x'])),
  })
  const state = await page.context().storageState()
  const phone = await browser.open(server.url, { viewport: PHONE, storageState: state })
  await phone.goto(`/services/${name}/variables`)
  await phone.getByRole('button', { name: 'Show values' }).click()
  await phone.getByLabel('Value of LEVEL', { exact: true }).fill('debug')
  for (const field of await phone.locator('main input, main textarea').all()) {
    await field.focus()
    const isSeen = await field.evaluate((element) => {
      const { left, top, bottom } = element.getBoundingClientRect()
      return [top + 2, bottom - 2].every(
        (y) => element.ownerDocument.elementFromPoint(left + 20, y) === element,
      )
    })
    expect(isSeen).toBe(true)
  }
  await phone.context().close()
})

test('removing a variable with the keyboard moves the focus to the next, and from the last one to the add button', async () => {
  await page.goto(`/services/${await makeService()}/variables`)
  const focused = () => page.locator(':focus').evaluate((element) => element.ariaLabel ?? element.textContent)
  await page.getByRole('button', { name: 'Remove LEVEL' }).press('Enter')
  await expect.poll(focused).toBe('Remove REGION')
  await page.keyboard.press('Enter')
  await expect.poll(focused).toContain('Add variable')
  await page.getByRole('button', { name: 'Discard' }).click()
  expect(browser.faults).toEqual([])
})

test('a value that is opened for editing with the keyboard has the focus', async () => {
  await page.goto(`/services/${await makeService()}/variables`)
  await page.getByRole('button', { name: 'Show and edit the value of REGION' }).press('Enter')
  await page.locator('textarea:focus').waitFor()
  expect(await value('REGION').evaluate((field) => field.matches(':focus'))).toBe(true)
  expect(browser.faults).toEqual([])
})

test('a dialog that was closed while its answer was under way closes no other, and its refusal is shown', async () => {
  const refused = Promise.withResolvers<void>()
  await page.route('**/suspend', async (route) => {
    await refused.promise
    await route.fulfill({
      status: 409,
      json: { error: { code: 'conflict', message: 'it is being deleted' } },
    })
  })
  await page.goto(`/services/${await makeService()}`)
  const suspend = async () => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Suspend…' }).click()
  }
  await suspend()
  await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await suspend()
  refused.resolve()
  await page.getByRole('status').getByText('It is being deleted').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(1)
  expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(0)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.unroute('**/suspend')
  expect(browser.faults).toEqual([])
})

test('variables edited as text keep what was added elsewhere meanwhile, and show it', async () => {
  const name = await makeService()
  await page.goto(`/services/${name}/variables`)
  await page.getByRole('button', { name: 'Edit as .env text' }).click()
  const text = page.getByLabel('Variables as .env text')
  await text.fill('LEVEL=debug\nREGION=eu\n')
  await server.api('PATCH', `/services/${name}/env`, { set: { ADDED: 'elsewhere' } })
  await expect.poll(() => text.inputValue()).toBe('LEVEL=debug\nREGION=eu\nADDED=elsewhere\n')
  await text.fill('no assignment\nLEVEL=trace\nADDED=elsewhere\n')
  await server.api('PATCH', `/services/${name}/env`, { set: { MORE: 'elsewhere' } })
  await page.getByRole('alert').getByText('Line 1 is not KEY=value.').waitFor()
  await text.fill('LEVEL=trace\nADDED=elsewhere\n')
  await page.getByRole('button', { name: 'Save only' }).click()
  await unsaved().waitFor({ state: 'detached' })
  expect(await variables(name)).toEqual({ LEVEL: 'trace', ADDED: 'elsewhere', MORE: 'elsewhere' })
  expect(browser.faults).toEqual([])
})

test('a reference is completed from what is typed, with the keyboard only', async () => {
  await server.api('POST', '/datastores', { kind: 'relational', name: 'orders' })
  const other = await makeService()
  const name = await makeService()
  await openVariables(name)
  const field = value('LEVEL')
  const list = page.getByRole('listbox', { name: 'References' })
  await field.fill('')
  await field.pressSequentially('at ${{ord')
  await list.getByRole('option', { name: 'datastore.orders.url' }).waitFor()
  expect(await field.getAttribute('aria-activedescendant')).toBe(
    await list.getByRole('option', { selected: true }).getAttribute('id'),
  )
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe('at ${{datastore.orders.host}}')
  expect(await list.count()).toBe(0)

  // Another service's own variables, one step further; never those of the service itself.
  await field.fill('')
  await field.pressSequentially(`\${{${other}.env`)
  await list.getByRole('option', { name: `service.${other}.env.` }).waitFor()
  await page.keyboard.press('Enter')
  await list.getByRole('option', { name: `service.${other}.env.REGION` }).waitFor()
  await field.pressSequentially('REG')
  await page.keyboard.press('Enter')
  expect(await field.inputValue()).toBe(`\${{service.${other}.env.REGION}}`)
  await field.fill('')
  await field.pressSequentially(`\${{${name}`)
  await page.getByRole('status').getByText('No matches.').waitFor()
  await page.keyboard.press('Escape')
  expect(await page.getByText('No matches.').count()).toBe(0)

  await field.fill('')
  await field.pressSequentially('${{orders.pass')
  await list.getByRole('option', { name: 'datastore.orders.password' }).click()
  await page.getByRole('button', { name: 'Save only' }).click()
  await unsaved().waitFor({ state: 'detached' })
  expect((await variables(name))['LEVEL']).toBe('${{datastore.orders.password}}')
  expect(browser.faults).toEqual([])
})

test('what a service asks for at its edge is saved from its page, and holds at once', async () => {
  const name = await makeService()
  const save = page.getByRole('button', { name: 'Save', exact: true })
  await page.goto(`/services/${name}/edge`)
  await page.getByLabel('Only for some addresses').check()
  await page.getByText('so your public address is not known here').waitFor()
  const addresses = page.getByLabel('Allowed addresses')
  await addresses.fill('203.0.113.0/24 the office\nnowhere')
  await save.click()
  await page.getByText('Nowhere is not an IP address').waitFor()
  expect(await addresses.evaluate((field) => field.matches(':focus'))).toBe(true)
  await addresses.fill('203.0.113.0/24 the office')
  await page.getByRole('textbox', { name: 'Redirects' }).fill('/old/* /new/:splat 301')
  await page.getByLabel('Own page').fill('<h1>Closed</h1>')
  await page.frameLocator('iframe').getByRole('heading', { name: 'Closed' }).waitFor()
  expect(await page.locator('iframe').getAttribute('sandbox')).toBe('')
  await page.getByRole('button', { name: 'Add a user' }).click()
  const user = page.getByRole('group', { name: 'User 1' })
  await user.getByLabel('Name').fill('ada')
  await user.getByLabel('Password').fill('correct horse')
  await save.click()
  await unsaved().waitFor({ state: 'detached' })
  expect(await user.getByLabel('Password').inputValue()).toBe('')
  const saved = (await server.api('GET', `/services/${name}`)).body
  expect(saved).toMatchObject({
    ip_allow_list: [{ source: '203.0.113.0/24', description: 'the office' }],
    redirects: [{ from: '/old/*', to: '/new/:splat', status: 301 }],
    maintenance: { enabled: false, page: '<h1>Closed</h1>' },
    basic_auth: { users: [{ username: 'ada', password: null }], except_paths: [] },
  })
  expect(browser.faults).toEqual([])
})

test('what holds for all services of an environment is saved from its card', async () => {
  await page.goto('/environments')
  const card = page.getByRole('article', { name: 'production' })
  await card.getByText('Access to its services').first().click()
  await card.getByRole('button', { name: 'Add a user' }).click()
  const user = card.getByRole('group', { name: 'User 1' })
  await user.getByLabel('Name').fill('ada')
  await user.getByLabel('Password').fill('correct horse')
  await card.getByRole('button', { name: 'Save', exact: true }).click()
  await unsaved().waitFor({ state: 'detached' })
  const { edge_defaults } = (await server.api('GET', '/environments/production')).body
  expect(edge_defaults).toMatchObject({ basic_auth: { users: [{ username: 'ada' }] }, ip_allow_list: null })
  await server.api('PATCH', '/environments/production', { edge_defaults: null })
  await card.getByText('for everyone').waitFor()
  expect(browser.faults).toEqual([])
})
