import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { PASSWORD, setUp, signIn, TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

test('a server without an account leads every address to setup, and the code leaves the address bar', async () => {
  const page = await browser.open(server.url)
  await page.goto('/services/new')
  await page.waitForURL('**/setup')
  await page.getByLabel('Setup code').waitFor()
  await page.goto(`/setup?code=${server.setupCode}`)
  await page.waitForURL(/\/setup$/)
  expect(await page.getByLabel('Setup code').count()).toBe(0)
})

test('a wrong setup code is refused with a sentence, and the right one signs in', async () => {
  const page = await browser.open(server.url)
  await page.goto('/setup')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('alert').getByText('Is required').waitFor()
  await page.getByLabel('Setup code').fill('0'.repeat(40))
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('alert').getByText('Must be an e-mail address').waitFor()
  await page.getByRole('alert').getByText('Must have at least 8 characters').waitFor()
  await page.getByLabel('E-mail').and(page.locator(':focus')).waitFor()
  await page.getByLabel('E-mail').fill('ada@example.com')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('alert').getByText('The setup code is wrong').waitFor()
  await setUp(page, server.setupCode)
  expect(await page.getByRole('heading', { level: 2 }).innerText()).toBe('Deploy your first service')
  expect(browser.faults).toEqual([])
})

test('after a session ended, sign-in leads back to the requested page', async () => {
  const page = await browser.enter(server)
  await page.goto('/services')
  await page.getByRole('heading', { name: 'Services' }).waitFor()
  await page.context().clearCookies()
  await page.goto('/account')
  await page.waitForURL('**/sign-in?return=/account')
  await signIn(page)
  await page.waitForURL((url) => url.pathname !== '/sign-in')
  expect(new URL(page.url()).pathname).toBe('/account')
  expect(browser.faults).toEqual([])
})

test('the address to return to is never another site', async () => {
  const page = await browser.enter(server)
  await page.context().clearCookies()
  await page.goto('/sign-in?return=//example.com/')
  await signIn(page)
  await page.waitForURL((url) => url.pathname !== '/sign-in')
  expect(page.url()).toBe(`${server.url}/overview`)
})

test('a token created in the dashboard is shown until it was copied, and works until it is revoked there', async () => {
  const page = await browser.enter(server)
  // As over plain HTTP from another machine.
  await page.addInitScript("Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined })")
  await page.goto('/account')
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name').fill('ci')
  await page.getByRole('button', { name: 'Create token' }).click()
  const token = await page.getByLabel('the token', { exact: true }).innerText()
  await page.getByRole('button', { name: 'Copy the token' }).click()
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByLabel('Current password').press('Control+V')
  expect(await page.getByLabel('Current password').inputValue()).toBe(token)
  const ask = async () =>
    (
      await server.request('GET', '/api/v1/services', undefined, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status
  expect(await ask()).toBe(200)
  await page.getByRole('button', { name: 'Revoke ci' }).click()
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await page.getByText('No tokens yet.').waitFor()
  await page.locator('h1:focus').waitFor()
  expect(await ask()).toBe(401)
})

test('a token that may only deploy one service is made by choices, and listed in words', async () => {
  await server.api('POST', '/services', { name: 'shop', image: 'busybox:1', deploy: false })
  const page = await browser.enter(server)
  await page.goto('/account')
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name').fill('deploys the shop')
  await page.getByText('Changes no settings.').click()
  await page.getByLabel('These services').first().check()
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByText('Choose at least one of the services').waitFor()
  await page.getByLabel('shop', { exact: true }).check()
  await page.getByRole('button', { name: 'Create token' }).click()
  const token = await page.getByLabel('the token', { exact: true }).innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('May read and deploy in the service shop, sees no secrets').waitFor()
  const headers = { authorization: `Bearer ${token}` }
  const { body } = await server.request('GET', '/api/v1/services', undefined, { headers })
  expect(body).toMatchObject([{ name: 'shop', deploy_hook_key: null }])
  expect(browser.faults).toEqual([])
})

test('a dialog that shows its answer only once stays until the answer has come', async () => {
  const page = await browser.enter(server)
  const held = Promise.withResolvers<void>()
  await page.route('**/auth/tokens', async (route) => {
    if (route.request().method() === 'POST') await held.promise
    await route.continue()
  })
  await page.goto('/account')
  await page.getByRole('button', { name: 'New token' }).click()
  await page.getByLabel('Name').fill('ci')
  await page.getByRole('button', { name: 'Create token' }).click()
  await page.getByRole('button', { name: 'Create token' }).and(page.locator('[aria-busy]')).waitFor()
  await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
  held.resolve()
  expect(await page.getByLabel('the token', { exact: true }).innerText()).toMatch(/^dpl_[0-9a-f]{40}$/)
})

test('a terminal is signed in once the administrator has typed its code, for 90 days', async () => {
  const page = await browser.enter(server)
  const { body: started } = await server.request('POST', '/api/v1/auth/cli', { name: 'laptop' })
  await page.goto(`/cli/${started.id}`)
  await page.getByText('127.0.0.1').waitFor()
  await page.getByText('laptop').waitFor()
  expect(await page.locator('main').innerText()).not.toContain(started.code)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('alert').filter({ hasText: 'Type the code that your own terminal shows.' }).waitFor()
  await page.getByLabel('Code').fill('BCDF-GHJK')
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('alert').filter({ hasText: 'This is not the code' }).waitFor()
  await page.getByLabel('Code').fill(started.code.toLowerCase())
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('The terminal is signed in.').waitFor()
  const { body: poll } = await server.request('POST', `/api/v1/auth/cli/${started.id}/token`, {
    secret: started.secret,
  })
  expect(poll).toEqual({ status: 'approved', token: expect.stringMatching(/^dpl_[0-9a-f]{40}$/) })
  const tokens = await (await page.request.get('/api/v1/auth/tokens')).json()
  const token = tokens.find(({ name }: { name: string }) => name === 'laptop')
  expect((Date.parse(token.expires_at) - Date.parse(token.created_at)) / 86_400_000).toBeCloseTo(90, 1)
  expect(browser.faults).toEqual([])
})

test('the account shows the lines that install the command line and sign it in, with the address of this page', async () => {
  const page = await browser.enter(server)
  await page.goto('/account')
  expect(await page.getByLabel('the commands', { exact: true }).innerText()).toBe(
    `npm install -g ${server.url}/cli.tgz\ndeployer login ${server.url}`,
  )
})

test('changing the password signs out the other browsers and keeps this one', async () => {
  const [page, other] = [await browser.enter(server), await browser.open(server.url)]
  await other.goto('/account')
  await signIn(other)
  await other.waitForURL(`${server.url}/account`)
  await page.goto('/account')
  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill('another good password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed.').waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  await other.reload()
  await other.waitForURL('**/sign-in?return=/account')
  expect(new URL(page.url()).pathname).toBe('/account')
})
