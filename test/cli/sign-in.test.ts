import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Browser } from '../api/account-client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { CLIENT, startClient, type ClientOptions, type Outcome, type Running } from './client.ts'
import { sshCases } from './over-ssh.ts'

let server: TestServer
let browser: Browser
/** A home folder of its own for each test. */
let home: string

beforeAll(async () => {
  server = await startServer()
  browser = new Browser(server.url)
  await browser.setUp(server.setupCode)
})
afterAll(() => server?.stop())
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'deployer-home-'))
  return () => rmSync(home, { recursive: true, force: true })
})

/** Starts the client as a user who has set nothing. */
function start(
  words: string[],
  { input, env = {}, ...rest }: Pick<ClientOptions, 'input' | 'env' | 'hasOwnGroup'> = {},
): Running {
  const own = { HOME: home, DEPLOYER_HOST: '', DEPLOYER_TOKEN: '', ...env }
  return startClient(server, words, {
    env: own,
    cwd: home,
    ...rest,
    ...(input === undefined ? {} : { input }),
  })
}

function run(words: string[], options: Parameters<typeof start>[1] = {}): Promise<Outcome> {
  return start(words, options).ended
}

function saved(): { default: string; hosts: Record<string, { url: string; token: string }> } {
  return JSON.parse(readFileSync(join(home, '.config/deployer/hosts.json'), 'utf8'))
}

/** The id of the request that a waiting sign-in shows. */
async function shown(login: Running): Promise<{ id: string; code: string }> {
  return waitFor(async () => {
    const [, code, id] = /^([A-Z]{4}-[A-Z]{4})\n\n\S+\/cli\/(cli-\w+)\n/m.exec(login.error) ?? []
    return id === undefined ? null : { id, code: code! }
  }, 'the code of a sign-in')
}

describe('login', () => {
  test('shows a code, waits until it is approved in the dashboard, and keeps the token for this user alone', async () => {
    const login = start(['login', server.url, '--as', 'prod', '--name', 'laptop'])
    const { id, code } = await shown(login)
    expect((await browser.post(`/auth/cli/${id}/approve`, { code })).status).toBe(200)
    expect(await login.ended).toMatchObject({ code: 0, out: `Signed in to ${server.url} as prod\n` })
    expect(saved()).toMatchObject({ default: 'prod', hosts: { prod: { url: server.url } } })
    const whoami = await run(['whoami', '--json'])
    const hint = saved().hosts.prod!.token.slice(-4)
    expect(JSON.parse(whoami.out)).toMatchObject({ alias: 'prod', host: server.url, token_hint: hint })
    expect(whoami.out + whoami.error).not.toContain(saved().hosts.prod!.token)
    const { body } = await browser.get('/auth/tokens')
    expect(body).toContainEqual(expect.objectContaining({ name: 'laptop', hint }))
  })

  test('ends with 3 and keeps nothing when it is denied', async () => {
    const login = start(['login', server.url])
    const { id } = await shown(login)
    await browser.post(`/auth/cli/${id}/deny`)
    expect(await login.ended).toMatchObject({
      code: 3,
      out: '',
      error: expect.stringContaining('was denied'),
    })
    expect(existsSync(join(home, '.config'))).toBe(false)
  })

  test('is ended by Ctrl-C with 130, keeping nothing', async () => {
    const login = start(['login', server.url])
    await shown(login)
    login.child.kill('SIGINT')
    expect(await login.ended).toMatchObject({ code: 130, out: '' })
    expect(existsSync(join(home, '.config'))).toBe(false)
  })

  test('reads a token from standard input, and keeps it only if the server takes it', async () => {
    expect(await run(['login', server.url, '--token'], { input: `${server.token}\n` })).toMatchObject({
      code: 0,
    })
    expect(saved().hosts).toMatchObject({ '127.0.0.1': { url: server.url, token: server.token } })
    const wrong = await run(['login', server.url, '--token', '--as', 'other'], { input: 'dpl_wrong' })
    expect(wrong).toMatchObject({ code: 3, error: expect.not.stringContaining('dpl_wrong') })
    expect(Object.keys(saved().hosts)).toEqual(['127.0.0.1'])
  })

  test.each([
    ['a token as a word', [`dpl_${'0'.repeat(40)}`]],
    ['a token behind its flag', ['http://127.0.0.1:1', `--token=dpl_${'0'.repeat(40)}`]],
  ])('refuses %s with the reason, and does not repeat it', async (_, words) => {
    const { code, error } = await run(['login', ...words])
    expect({ code, error }).toMatchObject({
      code: 2,
      error: expect.stringMatching(/^[^\n]*standard input[^\n]*\n$/),
    })
    expect(error).not.toContain('dpl_0')
  })

  test.each([
    ['a server that is not there', 'http://127.0.0.1:1', 6],
    ['a host that would see the token', 'http://dashboard.example.com', 2],
    ['an address with a password', 'https://user:word@dashboard.example.com', 2],
    ['an address with a path', 'https://dashboard.example.com/services', 2],
    ['another protocol', 'ftp://dashboard.example.com', 2],
    ['an option for ssh as a host', 'ssh://-oProxyCommand=touch', 2],
    ['an option for ssh as a user', 'ssh://-oProxyCommand=touch@server', 2],
    ['a shell command as a host', 'ssh://server;touch', 2],
  ])('ends for %s with its exit code and one line', async (_, url, code) => {
    expect(await run(['login', url])).toEqual({
      code,
      out: '',
      error: expect.stringMatching(/^deployer: [^\n]*\n$/),
    })
  })
})

describe('the server of a command', () => {
  const DEPLOYED = { DEPLOYER_TOKEN: 'dpl_from_the_environment' }

  test('is none without a sign-in: 3, and nothing is asked', async () => {
    expect(await run(['whoami'])).toEqual({
      code: 3,
      out: '',
      error: 'deployer: not signed in; deployer login <url>\n',
    })
  })

  test('is not chosen by a link file that names one that is not saved', async () => {
    writeFileSync(join(home, '.deployer.json'), JSON.stringify({ service: 'web', host: 'evil' }))
    const outcome = await run(['whoami'], { env: DEPLOYED })
    expect(outcome).toMatchObject({
      code: 3,
      error: expect.stringContaining('.deployer.json names the server evil'),
    })
  })

  test('never gets the token of the environment because of a link file', async () => {
    await run(['login', server.url, '--token', '--as', 'prod'], { input: server.token })
    writeFileSync(join(home, '.deployer.json'), JSON.stringify({ service: 'web', host: 'prod' }))
    const { out } = await run(['whoami', '--json'], { env: DEPLOYED })
    expect(JSON.parse(out)).toMatchObject({ token_from: 'saved', token_hint: server.token.slice(-4) })
  })

  test('and its token come from the environment in CI, which needs no home folder', async () => {
    const env = { HOME: '/nonexistent', DEPLOYER_HOST: server.url, DEPLOYER_TOKEN: server.token }
    expect(await run(['whoami', '--json'], { env })).toMatchObject({ code: 0 })
    const file = join(home, 'token')
    writeFileSync(file, `${server.token}\n`)
    const fromFile = { HOME: '/nonexistent', DEPLOYER_HOST: server.url, DEPLOYER_TOKEN_FILE: file }
    const { out } = await run(['whoami', '--json'], { env: fromFile })
    expect(JSON.parse(out)).toMatchObject({ token_from: 'DEPLOYER_TOKEN_FILE' })
  })

  test('is the one of this machine for a user who can read its token', async () => {
    const { out } = await run(['whoami', '--json'], { env: { DEPLOYER_DATA_DIR: server.dataDirectory } })
    expect(JSON.parse(out)).toMatchObject({ host: server.url, token_from: 'this machine' })
  })

  test('is asked directly where it is on this machine, whatever proxy leads to the internet', async () => {
    const proxy = { HTTP_PROXY: 'http://127.0.0.1:1', http_proxy: 'http://127.0.0.1:1' }
    const env = { DEPLOYER_HOST: server.url, DEPLOYER_TOKEN: server.token, ...proxy }
    expect(await run(['whoami', '--json'], { env })).toMatchObject({ code: 0 })
  })

  test('gets no token that cannot be one, such as the hint that whoami prints', async () => {
    const env = { DEPLOYER_HOST: server.url, DEPLOYER_TOKEN: '…abcd' }
    expect(await run(['whoami'], { env })).toMatchObject({
      code: 3,
      error: expect.not.stringContaining('abcd'),
    })
  })

  test('that is something else is said to be', async () => {
    const other = createHttpServer((_, response) => response.end('{"ok": true}')).listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const env = { DEPLOYER_HOST: `http://127.0.0.1:${port}`, DEPLOYER_TOKEN: 'dpl_x' }
    const outcome = await run(['services'], { env })
    other.close()
    expect(outcome).toMatchObject({
      code: 6,
      error: expect.stringContaining('does not answer like Deployer'),
    })
  })

  test('is named in one line without escapes, and a token in its place is not repeated', async () => {
    writeFileSync(
      join(home, '.deployer.json'),
      JSON.stringify({ service: 'x', host: '\u001b]0;taken\u0007\nover' }),
    )
    const { error } = await run(['services'])
    expect(error).toMatch(/^deployer: [^\u001b\n]*over[^\u001b\n]*\n$/)
    const token = `dpl_${'a'.repeat(40)}`
    for (const words of [
      ['services', '--host', token],
      ['hosts', 'use', token],
      ['deploys', 'show', token],
    ])
      expect((await run(words, { env: { DEPLOYER_DATA_DIR: server.dataDirectory } })).error).not.toContain(
        token,
      )
  })

  test('is asked by a user without a name and a home', async () => {
    const user = ['--reuid', '54321', '--regid', '54321', '--clear-groups', '--']
    const env = { PATH: process.env.PATH, DEPLOYER_HOST: server.url, DEPLOYER_TOKEN: server.token }
    const copy = mkdtempSync('/tmp/deployer-client-')
    cpSync(dirname(CLIENT), copy, { recursive: true })
    cpSync(process.execPath, join(copy, 'node'))
    execFileSync('chmod', ['-R', 'a+rX', copy])
    const { out } = await new Promise<{ out: string }>((resolve) => {
      const words = [...user, join(copy, 'node'), join(copy, 'deployer.mjs'), 'whoami', '--json']
      execFile('setpriv', words, { env, cwd: '/' }, (_, out) => resolve({ out }))
    })
    rmSync(copy, { recursive: true, force: true })
    expect(JSON.parse(out)).toMatchObject({ user: 'uid 54321' })
  })

  test('is chosen, changed and forgotten among the saved ones', async () => {
    for (const alias of ['one', 'two'])
      await run(['login', server.url, '--token', '--as', alias], { input: server.token })
    expect((await run(['hosts', '-q'])).out).toBe('one\ntwo\n')
    expect((await run(['hosts', 'use', 'two'])).code).toBe(0)
    expect(JSON.parse((await run(['whoami', '--json'])).out)).toMatchObject({ alias: 'two' })
    expect((await run(['logout'])).out).toContain('two')
    expect(JSON.parse((await run(['whoami', '--json'])).out)).toMatchObject({ alias: 'one' })
    expect(await run(['hosts', 'remove', 'on'])).toMatchObject({
      code: 4,
      error: expect.stringContaining('Did you mean one?'),
    })
    expect((await run(['logout', '--all'])).code).toBe(0)
    expect(saved().hosts).toEqual({})
  })
})

describe('a server over ssh', () => {
  sshCases(() => server, { home: () => home, browser: () => browser, start, run })
})
