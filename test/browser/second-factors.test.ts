import { readFile } from 'node:fs/promises'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { DIALOG, findingsOf } from './axe.ts'
import { PASSWORD, setUp, signIn, TestBrowser } from './browser.ts'

let browser: TestBrowser
let server: TestServer
/** One page for all tests, in this order, as one person sets everything up and takes it down. */
let page: Page
let secret: string
let recovery: string[]

beforeAll(async () => {
  server = await startServer()
  browser = await TestBrowser.launch()
  // There are no passkeys at an IP address.
  page = await browser.open(server.url.replace('127.0.0.1', 'localhost'))
  await setUp(page, server.setupCode)
})
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  await server?.stop()
})

/** Does to the database what otherwise only time does. */
function inDatabase(sql: string): void {
  const database = databaseOf(server.dataDirectory)
  database.exec(sql)
  database.close()
}

/** What the app shows, which holds again. */
function nextCode(): string {
  inDatabase('UPDATE totp SET last_step = 0')
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate()
}

const button = (name: string) => page.getByRole('button', { name, exact: true })
const codeField = () => page.getByLabel('Code', { exact: true })
const dialog = (name: string) => page.getByRole('dialog', { name })

async function signOut(): Promise<void> {
  await page.context().clearCookies()
  await page.goto('/sign-in')
}

/** The codes that are shown once; closes their dialog. */
async function savedCodes(): Promise<string[]> {
  const codes = (await page.getByLabel('the recovery codes', { exact: true }).innerText()).split('\n')
  expect(codes).toHaveLength(10)
  await page.keyboard.press('Escape')
  await button('I have saved them').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  return codes
}

test('an authenticator app is set up with a secret as a picture and as text, and a code', async () => {
  await page.goto('/account')
  await button('Set up an authenticator app').click()
  await page.getByRole('img', { name: 'QR code with the secret' }).waitFor()
  secret = (await page.getByRole('dialog').locator('code').innerText()).replaceAll(' ', '')
  const late = new TOTP({ secret: Secret.fromBase32(secret) })
  await codeField().fill(late.generate({ timestamp: Date.now() - 600_000 }))
  await button('Turn on').click()
  await page.getByRole('alert').filter({ hasText: 'minutes behind the server' }).waitFor()
  await codeField().fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate())
  await button('Turn on').click()
  await page.getByLabel('the recovery codes', { exact: true }).waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  const download = page.waitForEvent('download')
  await button('Download').click()
  const file = await readFile(await (await download).path(), 'utf8')
  recovery = await savedCodes()
  expect(file).toContain(recovery.join('\n'))
  await page.getByText('10 left.').waitFor()
})

test('sign-in then asks for a code of the app, or for a recovery code', async () => {
  await signOut()
  await signIn(page)
  await page.getByText('is right. Now your second factor').waitFor()
  await codeField().fill('000000')
  await button('Sign in').click()
  await page.getByRole('alert').filter({ hasText: 'code is wrong' }).waitFor()
  expect(await findingsOf(page)).toEqual([])
  await codeField().fill(nextCode())
  await button('Sign in').click()
  await page.waitForURL('**/overview')
  await signOut()
  await signIn(page)
  await button('Use a recovery code').click()
  await page.getByLabel('Recovery code').fill(recovery[0]!)
  await button('Sign in').click()
  await page.waitForURL('**/overview')
})

test('what needs a second factor asks for it in the middle, and goes on', async () => {
  inDatabase('UPDATE sessions SET verified_at = NULL')
  await page.goto('/account')
  await page.getByText('9 left.').waitFor()
  await button('New token').click()
  await page.getByLabel('Name').fill('ci')
  await button('Create token').click()
  await dialog('Confirm that it is you').waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await dialog('Confirm that it is you').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('alert').filter({ hasText: 'needs a second factor' }).waitFor()
  await button('Create token').click()
  await codeField().fill(nextCode())
  await button('Confirm').click()
  expect(await page.getByLabel('the token', { exact: true }).innerText()).toMatch(/^dpl_/)
  await button('Done').click()
})

test('when the session ends, the password and a code are asked for over the page', async () => {
  await page.context().clearCookies()
  await button('Revoke ci').click()
  await button('Revoke token').click()
  await dialog('Your session ended').getByLabel('Password', { exact: true }).fill(PASSWORD)
  await button('Sign in').click()
  await codeField().fill(nextCode())
  await button('Sign in').click()
  await page.getByText('No tokens yet.').waitFor()
})

test('a passkey is added, signs in, confirms, and is removed', async () => {
  const authenticator = await page.context().newCDPSession(page)
  await authenticator.send('WebAuthn.enable')
  await authenticator.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.goto('/account')
  await button('Add a passkey').click()
  await page.getByLabel('Name').fill('laptop')
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await button('Continue').click()
  await page.getByText('for localhost').waitFor()
  await signOut()
  await button('Sign in with a passkey').click()
  await page.waitForURL('**/overview')
  inDatabase('UPDATE sessions SET verified_at = NULL')
  await page.goto('/account')
  await button('Remove laptop').click()
  await button('Remove passkey').click()
  await button('Use a passkey').click()
  await page.getByText('for localhost').waitFor({ state: 'detached' })
})

test('the last factor is turned off with the password, and the password alone signs in again', async () => {
  await page.goto('/account')
  await button('Create new recovery codes').click()
  await button('Create codes').click()
  expect(await savedCodes()).not.toContain(recovery[1])
  await button('Turn the authenticator app off').click()
  await page.getByText('It is the last second factor').waitFor()
  expect(await findingsOf(page, DIALOG)).toEqual([])
  await dialog('Turn the authenticator app off?').getByLabel('Current password').fill(PASSWORD)
  await button('Turn off').click()
  await button('Set up an authenticator app').waitFor()
  await signOut()
  await signIn(page)
  await page.waitForURL('**/overview')
  expect(browser.faults).toEqual([])
})

test('a passkey as the only factor comes with recovery codes', async () => {
  await page.goto('/account')
  await button('Add a passkey').click()
  await button('Continue').click()
  await savedCodes()
  await signOut()
  await signIn(page)
  await button('Use a passkey').click()
  await page.waitForURL('**/overview')
  expect(browser.faults).toEqual([])
})
