import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { Secret, TOTP } from 'otpauth'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startServer } from '../support/server.ts'
import { bearer, Browser, EMAIL, refusal, send } from './account-client.ts'

let server: Awaited<ReturnType<typeof startServer>>
let browser: Browser

beforeEach(async () => {
  server = await startServer()
  browser = new Browser(server.url)
})
afterEach(() => server.stop())

const fileOf = (path: string) => JSON.stringify(fileURLToPath(new URL(`../../cli/${path}`, import.meta.url)))
const program = `import { runCommand } from ${fileOf('index.ts')}
import { loadServerProgram } from ${fileOf('server/index.ts')}
await runCommand(['reset-password', ...process.argv.slice(1)], { load: loadServerProgram, isExpected: () => false })`
const node = [process.execPath, '--input-type=module', '--eval', program, '--']

async function run(input: string, argv: string[] = ['--data-dir', server.dataDirectory]) {
  const child = spawn(node[0]!, [...node.slice(1), ...argv], { stdio: 'pipe' })
  child.stdin.end(input)
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, output, errors }
}

describe('reset-password', () => {
  it('replaces the password while the server runs, ends every session and keeps tokens', async () => {
    await browser.setUp(server.setupCode)
    const { token } = (await browser.post('/auth/tokens', { name: 'ci' })).body
    const { code, output, errors } = await run('a new password\n')
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output).toContain(EMAIL)
    expect(await browser.get('/services')).toMatchObject(refusal(401, 'unauthorized'))
    expect((await send('GET', `${server.url}/api/v1/services`, undefined, bearer(token))).status).toBe(200)
    expect((await browser.signIn()).status).toBe(401)
    expect((await browser.signIn('a new password')).status).toBe(200)
  })

  it('removes second factors after saying so, or keeps them', async () => {
    await browser.setUp(server.setupCode)
    const { secret } = (await browser.post('/auth/totp')).body
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
    const { recovery_codes: codes } = (await browser.post('/auth/totp/confirm', { code })).body
    const keep = ['--data-dir', server.dataDirectory, '--keep-second-factor']
    expect(await run('a new password\n', keep)).toMatchObject({ code: 0, errors: '' })
    expect((await browser.signIn('a new password')).body.error.code).toBe('second_factor_required')
    const signIn = { email: EMAIL, password: 'a new password', code: codes[0] }
    expect((await browser.post('/auth/login', signIn)).status).toBe(200)
    const { code: exit, output, errors } = await run('another password\n')
    expect(exit).toBe(0)
    expect(errors).toContain('removes the second factors')
    expect(output).toContain('The second factors were removed')
    expect((await browser.signIn('another password')).status).toBe(200)
    expect((await browser.get('/auth/second-factors')).body).toEqual({
      totp: null,
      passkeys: [],
      recovery_codes_left: 0,
    })
  })

  it('opens sign-in again after too many failures, and counts from then on', async () => {
    await browser.setUp(server.setupCode)
    const guess = async () => (await browser.signIn('a guess')).status
    for (let guesses = 0; guesses < 10; guesses++) await guess()
    expect((await browser.signIn()).status).toBe(429)
    expect((await run('a new password\n')).code).toBe(0)
    expect((await browser.signIn('a new password')).status).toBe(200)
    for (let guesses = 0; guesses < 10; guesses++) expect(await guess()).toBe(401)
    expect((await browser.signIn('a new password')).status).toBe(429)
  })

  it('ends with 1 and one line when there is no account', async () => {
    const { code, errors, output } = await run('a new password\n')
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(/^deployer reset-password: there is no account in [^\n]+\n$/)
  })

  it('ends with 1 and creates nothing when there is no data directory', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'deployer-none-'))
    rmSync(directory, { recursive: true })
    const { code, errors } = await run('a new password\n', ['--data-dir', directory])
    expect(code).toBe(1)
    expect(errors.trim().split('\n')).toHaveLength(1)
  })

  it.each([
    ['too short a password', 'short\n', undefined],
    ['no password', '', undefined],
    ['no end of input', 'x'.repeat(10_000), undefined],
    ['an unknown flag', 'a new password\n', ['--password', 'x']],
  ])('ends with 1, one line and the old password after %s', async (_case, input, argv) => {
    await browser.setUp(server.setupCode)
    const { code, errors } = await run(input, argv)
    expect(code).toBe(1)
    expect(errors.trim().split('\n')).toHaveLength(1)
    expect((await browser.signIn()).status).toBe(200)
  })

  it('asks twice on a terminal and shows nothing of what is typed', async () => {
    await browser.setUp(server.setupCode)
    const first = await type('typed password', 'typed passwort')
    expect(first).toMatchObject({ code: 1, screen: expect.stringContaining('differ') as string })
    const second = await type('typed password', 'typed password')
    expect(second.code).toBe(0)
    expect(second.screen).toMatch(/New password: \s+Again: \s+The password of /)
    expect(second.screen).not.toContain('typed')
    expect((await browser.signIn('typed password')).status).toBe(200)
  })
})

/** Runs the command on a terminal of its own (script(1)) and answers its prompts. */
async function type(...answers: string[]): Promise<{ code: number | null; screen: string }> {
  const quoted = [...node, '--data-dir', server.dataDirectory].map(
    (part) => `'${part.replaceAll("'", `'\\''`)}'`,
  )
  const child = spawn('script', ['--quiet', '--return', '--command', quoted.join(' '), '/dev/null'], {
    stdio: 'pipe',
  })
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    screen += chunk
    if (/(New password|Again): $/.test(screen)) child.stdin.write(`${answers.shift() ?? ''}\r`)
  })
  await once(child, 'close')
  return { code: child.exitCode, screen }
}
