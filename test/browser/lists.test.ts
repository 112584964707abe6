import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { signIn, TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer
let page: Page

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  page = await browser.enter(server)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

test('a list of deploys whose older ones were loaded says that there are no more', async () => {
  await server.api('POST', '/services', { name: 'busy', image: 'busybox:1', deploy: false })
  const deploy = () => server.api('POST', '/services/busy/deploys')
  for (let count = 0; count < 30; count++) await deploy()
  await page.goto('/services/busy/deploys')
  const more = page.getByRole('button', { name: 'Show older deploys' })
  const end = page.getByText('These are all the deploys that are kept (at most 500).')
  await more.waitFor()
  expect(await end.count()).toBe(0)
  // There are exactly as many as are shown at first.
  await more.click()
  await end.waitFor()
  expect(await more.count()).toBe(0)

  await deploy()
  await page.goto('/services/busy/deploys')
  const rows = page.getByRole('list', { name: 'Deploys, newest first' }).getByRole('listitem')
  await more.waitFor()
  expect(await rows.count()).toBe(30)
  await more.click()
  await end.waitFor()
  expect(await rows.count()).toBe(31)
  expect(browser.faults).toEqual([])
})

test('older deploys that the server fails to return are requested again with the same button', async () => {
  const { body: service } = await server.api('POST', '/services', {
    name: 'unread',
    image: 'busybox:1',
    deploy: false,
  })
  const deploys = Array.from({ length: 31 }, (_, at) => ({
    id: `dep-${String(at).padStart(20, '0')}`,
    service_id: service.id,
    status: 'canceled',
    trigger: 'manual',
    source: { kind: 'image' },
    image: `busybox:${at}`,
    created_at: service.created_at,
  }))
  const refusal = { error: { code: 'database_error', message: 'the database cannot be read' } }
  const lists = /\/deploys\?limit=/
  let isRead = false
  await page.route(lists, (route) => {
    const limit = Number(new URL(route.request().url()).searchParams.get('limit'))
    if (limit > 30 && !isRead) return route.fulfill({ status: 500, json: refusal })
    return route.fulfill({ json: deploys.slice(0, limit) })
  })
  await page.goto('/services/unread/deploys')
  const more = page.getByRole('button', { name: 'Show older deploys' })
  await more.click()
  await page.getByText('The database cannot be read').waitFor()
  expect(await more.getAttribute('aria-busy')).toBeNull()
  isRead = true
  await more.click()
  await page.getByText('These are all the deploys that are kept (at most 500).').waitFor()
  await page.unroute(lists)
  expect(browser.faults).toEqual([])
})

test('the buttons of deploys of one image have distinct names', async () => {
  const { body: service } = await server.api('POST', '/services', {
    name: 'again',
    image: 'busybox:1',
    deploy: false,
  })
  const deploys = [1, 2].map((day) => ({
    id: `dep-${String(day).padStart(20, '0')}`,
    service_id: service.id,
    status: 'deactivated',
    trigger: 'manual',
    source: { kind: 'image' },
    image: 'busybox:1',
    created_at: `2026-01-0${day}T12:00:00.000Z`,
  }))
  const lists = /\/deploys\?limit=/
  await page.route(lists, (route) => route.fulfill({ json: deploys }))
  await page.goto('/services/again/deploys')
  const buttons = page.getByRole('button', { name: /^Roll back to busybox:1, deployed / })
  await expect.poll(() => buttons.count()).toBe(2)
  const names = await buttons.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))
  expect(new Set(names).size).toBe(2)
  await page.unroute(lists)
})

test.for([
  ['/account', 'API tokens', '**/auth/tokens'],
  ['/account', 'Sessions', '**/auth/sessions'],
  ['/git', 'Pushes received', '**/git/deliveries'],
  ['/notifications', 'Log drains', '**/log-drains'],
  ['/domains', 'Your own certificates', '**/certificates/uploaded'],
] as const)(
  'what takes its time on %s says under %s that it is loading',
  async ([path, heading, request]) => {
    const held = Promise.withResolvers<void>()
    await page.route(request, async (route) => {
      await held.promise
      await route.continue()
    })
    await page.goto(path)
    const loading = page.getByRole('region', { name: heading }).getByText('Loading')
    await loading.waitFor({ state: 'attached' })
    held.resolve()
    await loading.waitFor({ state: 'detached' })
    await page.unroute(request)
  },
)

test.for([
  ['/notifications', 'Log drains', 'No log drains yet.'],
  ['/domains', 'Redirects', 'No redirects yet.'],
  ['/domains', 'Your own certificates', 'No certificates uploaded yet.'],
] as const)('%s says under %s that there is none', async ([path, heading, words]) => {
  await page.goto(path)
  await page.getByRole('region', { name: heading }).getByText(words).waitFor()
})

test('a registry credential is stored, verified, named by a service and deleted although it is named', async () => {
  await page.goto('/registries')
  await page.getByRole('heading', { name: 'No registry credentials yet' }).waitFor()
  await page.getByRole('button', { name: 'New credential' }).click()
  const dialog = page.getByRole('dialog')
  for (const [label, value] of [
    ['Name', 'hub'],
    ['Registry', 'http://127.0.0.1:9'],
    ['User name', 'ci'],
    ['Password or access token', 'not shown again'],
  ] as const)
    await dialog.getByLabel(label, { exact: true }).fill(value)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('must be the host of a registry').waitFor()
  await dialog.getByLabel('Registry', { exact: true }).fill('127.0.0.1:9')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const row = page.getByRole('list', { name: 'Registry credentials' }).getByRole('listitem')
  await row.getByText('127.0.0.1:9 · ci').waitFor()
  await row.getByRole('button', { name: 'Verify hub' }).click()
  await page.getByText('127.0.0.1:9 cannot be reached').waitFor()
  await row.getByRole('button', { name: 'Change hub…' }).click()
  await dialog.getByLabel('Only for images under').fill('acme')
  expect(await dialog.getByLabel('Password or access token').inputValue()).toBe('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row.getByText('127.0.0.1:9/acme · ci').waitFor()

  await server.api('POST', '/services', { name: 'pulled', image: '127.0.0.1:9/acme/a', deploy: false })
  await page.goto('/services/pulled/settings')
  await page.getByLabel('Registry credential').selectOption('hub')
  await page.getByRole('button', { name: 'Save only' }).click()
  await page.getByText('Saved. It takes effect at the next deploy.').waitFor()
  expect((await server.api('GET', '/services/pulled')).body.registry_credential).toBe('hub')

  await page.goto('/registries')
  await row.getByRole('button', { name: 'Delete hub…' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByText('is named by pulled').waitFor()
  await dialog.getByRole('button', { name: 'Delete anyway' }).click()
  await row.waitFor({ state: 'detached' })
})

test('a redirect is created, changed and removed on the page of domains', async () => {
  await page.goto('/domains')
  const card = page.getByRole('region', { name: 'Redirects' })
  await card.getByRole('button', { name: 'New redirect' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Host').fill('Old.Example.')
  await dialog.getByLabel('Leads to').fill('https://old.example/x')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('leads back to old.example').waitFor()
  await dialog.getByLabel('Leads to').fill('https://new.example/x')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const row = card.getByRole('listitem')
  await row.getByText('to https://new.example/x · 308').waitFor()
  await page.getByRole('row', { name: /^old\.example a redirect to/ }).waitFor()
  await row.getByRole('button', { name: 'Change old.example…' }).click()
  await dialog.getByLabel('Status').selectOption('302')
  await dialog.getByLabel('Append the path and the query').uncheck()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row.getByText('· 302 · without the path').waitFor()
  await row.getByRole('button', { name: 'Remove old.example…' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await card.getByText('No redirects yet.').waitFor()
})

test('an environment lists its services in the order of the list', async () => {
  await server.api('POST', '/environments', { name: 'many' })
  for (const name of ['web-10', 'web-2', 'web-1'])
    await server.api('POST', '/services', { name, environment: 'many', deploy: false })
  await page.goto('/environments')
  const links = page.getByRole('article', { name: 'many' }).getByRole('link', { name: /^web-/ })
  await expect.poll(() => links.allInnerTexts()).toEqual(['web-1', 'web-2', 'web-10'])
})

test('environments, env groups and their menus are in natural order', async () => {
  for (const name of ['preview-10', 'preview-9']) {
    await server.api('POST', '/environments', { name })
    await server.api('POST', '/env-groups', { name, vars: [] })
    await server.api('POST', '/datastores', { kind: 'keyvalue', name: 'cache', environment: name })
  }
  const ordered = ['preview-9', 'preview-10']
  const previews = page.locator('h2, li a').filter({ hasText: /^\s*preview-\d+\s*$/ })
  for (const path of ['/environments', '/env-groups', '/services', '/datastores']) {
    await page.goto(path)
    await expect.poll(() => previews.allInnerTexts(), { message: path }).toEqual(ordered)
  }
  await page.goto('/environments')
  expect(await page.getByRole('article').first().getAttribute('aria-label')).toBe('production')
  for (const [path, opener] of [
    ['/services/new', 'Environment variables'],
    ['/notifications', 'New notification'],
  ] as const) {
    await page.goto(path)
    await page.getByText(opener, { exact: true }).click()
    const offered = page.getByLabel('Environment', { exact: true }).getByRole('option', { name: /preview-/ })
    await expect.poll(() => offered.allInnerTexts(), { message: path }).toEqual(ordered)
  }
})

test('disabling a drain, and signing out a browser, are requested once', async () => {
  await server.api('POST', '/log-drains', { name: 'archive', kind: 'http', url: 'http://127.0.0.1:9/x' })
  const other = await browser.open(server.url)
  await other.goto('/sign-in')
  await signIn(other)
  await other.waitForURL('**/overview')
  for (const [path, name, request] of [
    ['/notifications', 'Turn off archive', '**/log-drains/*'],
    ['/account', /^End Chrome on Linux, signed in /, '**/auth/sessions/*'],
  ] as const) {
    let asked = 0
    const held = Promise.withResolvers<void>()
    await page.route(request, async (route) => {
      asked += 1
      await held.promise
      await route.continue()
    })
    await page.goto(path)
    // An earlier attempt may have left another browser.
    const found = await page.getByRole('button', { name }).first().getAttribute('aria-label')
    const button = page.getByRole('button', { name: found!, exact: true })
    await button.dblclick()
    await page.locator('button[aria-busy]').waitFor()
    held.resolve()
    await button.waitFor({ state: 'detached' })
    expect(asked).toBe(1)
    await page.unroute(request)
  }
  // The browser disappeared with its button.
  await page.locator('h1:focus').waitFor()
  await other.context().close()
})

test('after a confirmation the focus stays in place, even if its subject disappears', async () => {
  await server.api('POST', '/environments', { name: 'brief' })
  await page.goto('/environments')
  const brief = page.getByRole('article', { name: 'brief' })
  const button = brief.getByRole('button', { name: /^Delete/ })
  await button.press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await button.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Tab')
  await page.evaluate('document.activeElement.blur()')
  await server.api('DELETE', '/environments/brief')
  await brief.waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
})

test('the palette names a service even if its environment has a long name', async () => {
  const environment = 'm'.repeat(63)
  await server.api('POST', '/environments', { name: environment })
  await server.api('POST', '/services', { name: 'needle', environment, deploy: false })
  await page.goto('/services')
  await page.getByRole('heading', { name: 'Services' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').fill('needle')
  const option = page.getByRole('option', { name: `needle Service in ${environment}` })
  const name = await option.getByText('needle', { exact: true }).boundingBox()
  expect(name!.width).toBeGreaterThan(200)
  const row = await option.boundingBox()
  expect(row!.height).toBeLessThan(45)
  await page.keyboard.press('Escape')
})

test('what a value can refer to, and what a connection clones, is offered in the order of the list', async () => {
  await server.api('POST', '/environments', { name: 'referred' })
  for (const name of ['api-10', 'api-3', 'api-2'])
    await server.api('POST', '/services', {
      name,
      environment: 'referred',
      deploy: false,
      image: 'busybox:1',
    })
  for (const name of ['db-10', 'db-2'])
    await server.api('POST', '/datastores', { kind: 'keyvalue', name, environment: 'referred' })
  await page.goto('/services/api-2.referred/variables')
  await page.getByRole('button', { name: 'Add variable' }).click()
  const value = page.getByLabel('Value of the new variable')
  const offered = () => page.getByRole('option').locator('code').allInnerTexts()
  await value.pressSequentially('${{host')
  await expect
    .poll(offered)
    .toEqual([
      'datastore.db-2.host',
      'datastore.db-10.host',
      'service.api-3.hostport',
      'service.api-3.host',
      'service.api-10.hostport',
      'service.api-10.host',
    ])
  await value.fill('')

  await page.goto('/datastores')
  const links = page.getByRole('link', { name: /^db-/ })
  await expect.poll(() => links.allInnerTexts()).toEqual(['db-2', 'db-10'])

  const connection = {
    id: 'gcn-0123456789abcdef0123',
    provider: 'gitprov_a',
    base_url: null,
    account: 'octo-org',
    auth: 'token',
    status: 'connected',
    services: ['web-10', 'web-2'],
    push_events: false,
  }
  await page.route('**/git/connections', (route) => route.fulfill({ json: [connection] }))
  await page.goto('/git')
  await page.getByText('Clones web-2, web-10').waitFor()
  await page.getByRole('button', { name: 'Disconnect…' }).click()
  await page.getByText('web-2, web-10 will be cloned without it').waitFor()
  await page.unroute('**/git/connections')
  await page.keyboard.press('Escape')
})

test('an answer that is not from the server is explained in words', async () => {
  const list = '**/api/v1/env-groups'
  await page.route(list, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<html>Sign in to the network</html>' }),
  )
  await page.goto('/env-groups')
  await page.getByText('Something between you and the server answered instead').waitFor()
  await page.unroute(list)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

test('a request that a proxy refuses each time is not repeated with every answer to another', async () => {
  const list = '**/api/v1/env-groups'
  let asked = 0
  await page.route(list, (route) => {
    asked++
    return route.fulfill({ status: 504, contentType: 'text/html', body: '<html>Gateway timeout</html>' })
  })
  await page.goto('/env-groups')
  await page.getByText('The server does not answer.').waitFor()
  // One request a second finds that the server is there.
  await page.waitForTimeout(3_000)
  expect(asked).toBeLessThan(12)
  await page.unroute(list)
  await page.getByRole('alert').waitFor({ state: 'detached' })
})

test('an answer that breaks off is explained in words, and is not requested without end', async () => {
  const other = await browser.enter(server)
  await other.addInitScript(`globalThis.isCut = true
    globalThis.asked = 0
    const whole = fetch
    globalThis.fetch = async (url, ...rest) => {
      const answer = await whole(url, ...rest)
      if (!isCut || !String(url).endsWith('/env-groups')) return answer
      asked++
      const start = (stream) => stream.error(new TypeError('cut off'))
      return new Response(new ReadableStream({ start }), { status: 200 })
    }`)
  await other.goto('/env-groups')
  await other.getByText('The connection to the server was lost.').waitFor()
  await other.waitForTimeout(1_500)
  expect(await other.evaluate('asked')).toBeLessThan(5)
  await other.evaluate('isCut = false')
  await other.getByRole('button', { name: 'Try again' }).click()
  await other.getByRole('alert').waitFor({ state: 'detached' })
  await other.getByRole('button', { name: 'New env group' }).first().waitFor()
  await other.context().close()
})
