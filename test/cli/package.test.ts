import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { builtServer } from '../support/build.ts'
import { makeSelfSigned } from '../support/certificate.ts'
import { startServer, type TestServer } from '../support/server.ts'

let entry: string
let server: TestServer
let folder: string

beforeAll(async () => {
  entry = await builtServer()
  server = await startServer()
  folder = mkdtempSync(join(tmpdir(), 'deployer-client-'))
})

afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Outcome {
  code: number
  out: string
  error: string
}

function run(program: string, args: string[], env: NodeJS.ProcessEnv = process.env): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, args, { env }, (failure, out, error) =>
      resolve({ code: typeof failure?.code === 'number' ? failure.code : failure ? 1 : 0, out, error }),
    )
  })
}

function deployer(...args: string[]): Promise<Outcome> {
  return run(process.execPath, [entry, ...args])
}

async function fetched(path: string, init: RequestInit = {}): Promise<[Response, Buffer]> {
  const response = await fetch(server.url + path, init)
  return [response, Buffer.from(await response.arrayBuffer())]
}

describe('the package', () => {
  test('is a package of npm without dependencies, of the version of the server, and runs', async () => {
    const [response, bytes] = await fetched('/cli.tgz')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/gzip')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    expect(bytes.length).toBeLessThanOrEqual(1024 * 1024)
    const file = join(folder, 'cli.tgz')
    writeFileSync(file, bytes)
    await run('tar', ['-xzf', file, '-C', folder])
    const manifest = JSON.parse(readFileSync(join(folder, 'package/package.json'), 'utf8'))
    const { version } = (await server.api('GET', '/info')).body
    expect(manifest).toMatchObject({
      name: 'deployer-cli',
      version,
      type: 'module',
      bin: { deployer: 'deployer.mjs' },
    })
    expect(manifest).not.toHaveProperty('dependencies')
    const program = join(folder, 'package/deployer.mjs')
    expect(await run(program, ['version'], envWith({}))).toEqual({ code: 0, out: `${version}\n`, error: '' })
  })

  test('is sent once to who has it', async () => {
    const [first, bytes] = await fetched('/cli.tgz')
    const etag = first.headers.get('etag')!
    expect(etag).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`)
    const [again, none] = await fetched('/cli.tgz', { headers: { 'if-none-match': etag } })
    expect([again.status, none.length]).toEqual([304, 0])
    const [head, empty] = await fetched('/cli.tgz', { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), empty.length]).toEqual([
      200,
      String(bytes.length),
      0,
    ])
    expect((await fetched('/cli.tgz', { method: 'POST' }))[0].status).toBe(405)
  })

  test('is written by deployer client too, but not to a terminal', async () => {
    const child = spawn(process.execPath, [entry, 'client'], { stdio: ['ignore', 'pipe', 'inherit'] })
    expect(await buffer(child.stdout)).toEqual((await fetched('/cli.tgz'))[1])
    const onTerminal = await run('script', ['-qec', `${process.execPath} ${entry} client`, '/dev/null'])
    expect(onTerminal.code).toBe(1)
    expect(onTerminal.out).toContain('deployer client > deployer-cli.tgz')
  })
})

/** The environment of a user whose home is `home`, with this node in the path. */
function envWith({ home = folder, path = '' }: { home?: string; path?: string }): NodeJS.ProcessEnv {
  return { HOME: home, PATH: `${path}${dirname(process.execPath)}:/usr/bin:/bin` }
}

/** Runs a script as `curl ... | sh` does. */
function piped(script: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', [], { env, stdio: 'pipe' })
    const outcome: Outcome = { code: 1, out: '', error: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (outcome.out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (outcome.error += text))
    child.once('error', reject).once('close', (code) => resolve({ ...outcome, code: code ?? 1 }))
    child.stdin.end(script)
  })
}

async function script(): Promise<string> {
  const [response, bytes] = await fetched('/install-cli')
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  return bytes.toString()
}

function newHome(name: string): string {
  const home = join(folder, name)
  mkdirSync(home)
  return home
}

describe('the script that installs it', () => {
  test('unpacks it for the user, links it, and replaces it when it runs again', async () => {
    const home = newHome('home of a user')
    const { version } = (await server.api('GET', '/info')).body
    const first = await piped(await script(), envWith({ home }))
    expect(first).toMatchObject({ code: 0, error: '' })
    expect(first.out).toMatch(/\.local\/bin is not in PATH; add this line.*export PATH=/)
    const link = join(home, '.local/bin/deployer')
    expect(readlinkSync(link)).toBe(join(home, '.local/share/deployer', version, 'deployer.mjs'))
    expect((await run(link, ['version'], envWith({ home }))).out).toBe(`${version}\n`)
    const root = join(home, '.local/share/deployer')
    // A server of the same user may keep its data there.
    expect(lstatSync(root).mode & 0o777).toBe(0o700)
    // Another version of before, and a file that is no longer part of this one.
    mkdirSync(join(root, '0.0.9'))
    writeFileSync(join(root, '0.0.9/deployer.mjs'), '')
    writeFileSync(join(root, version, 'left.mjs'), '')
    rmSync(link)
    symlinkSync(join(root, '0.0.9/deployer.mjs'), link)
    const second = await piped(await script(), envWith({ home, path: `${join(home, '.local/bin')}:` }))
    expect(second).toEqual({
      code: 0,
      out: `deployer ${version} is installed as ${link}\n`,
      error: '',
    })
    expect(existsSync(join(root, '0.0.9'))).toBe(false)
    expect(existsSync(join(root, version, 'left.mjs'))).toBe(false)
    expect((await run(link, ['version'], envWith({ home }))).out).toBe(`${version}\n`)
    expect((await run('ls', ['-A', root])).out).toBe(`${version}\n`)
  })

  test('installs nothing of another digest, over a program of others, or without node', async () => {
    const home = newHome('careful')
    const text = await script()
    const other = text.replace(/^sha256='.*'$/m, `sha256='${'0'.repeat(64)}'`)
    expect(await piped(other, envWith({ home }))).toMatchObject({
      code: 1,
      error: expect.stringMatching(/^deployer: the package from .* is not the one that/),
    })
    const none = await piped(text, { HOME: home, PATH: join(home, 'nothing') })
    expect(none).toMatchObject({
      code: 1,
      error: 'deployer: it needs Node 24.7 or newer: https://nodejs.org\n',
    })
    expect((await run('ls', ['-A', join(home, '.local/share/deployer')])).out).toBe('')
    writeFileSync(join(home, '.local/bin/deployer'), 'of others')
    expect(await piped(text, envWith({ home }))).toMatchObject({
      code: 1,
      error: expect.stringContaining('is not a link; move it away first'),
    })
  })

  test('runs nothing of a part of it', async () => {
    const home = newHome('cut')
    const text = await script()
    for (const share of [0.3, 0.6, 0.9, 0.99]) {
      await piped(text.slice(0, text.length * share), envWith({ home }))
    }
    expect((await run('ls', ['-A', home])).out).toBe('')
  })

  test.each(['$(touch x).localhost', "a'b.localhost", 'a;b.localhost', 'a`b`.localhost', 'a&b.localhost'])(
    'takes no part of a host for a command: %s',
    async (host) => {
      const status = await new Promise((resolve, reject) => {
        request(`${server.url}/install-cli`, { headers: { host } }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .once('error', reject)
          .end()
      })
      expect(status).toBe(400)
    },
  )

  test('names the address that was asked', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'deployer.example.com' }
    const [, bytes] = await fetched('/install-cli', { headers })
    expect(bytes.toString()).toContain("url='https://deployer.example.com'")
    expect(await script()).toContain(`url='${server.url}'`)
  })
})

describe('deployer upgrade', () => {
  let front: Server
  let url: string
  let authority: string

  /** The server behind TLS with a certificate of a private authority. */
  beforeAll(async () => {
    const { certificate, key } = await makeSelfSigned(folder, 'localhost')
    authority = certificate
    const tls = { cert: readFileSync(certificate), key: readFileSync(key) }
    front = createServer(tls, (asked, answer) => {
      const { method, url: path, headers } = asked
      const passed = request(server.url + path, { method, headers }, (from) => {
        answer.writeHead(from.statusCode!, from.headers)
        from.pipe(answer)
      })
      asked.pipe(passed)
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    url = `https://localhost:${(front.address() as AddressInfo).port}`
  })
  afterAll(() => void front?.close())

  test('takes the package in the way that reaches the server, such as with its own authority', async () => {
    const home = newHome('of an authority')
    const { version } = (await server.api('GET', '/info')).body
    const env = envWith({ home })
    const text = (await script()).replace(/^url='.*'$/m, `url='${url}'`)
    expect(await piped(text, env)).toMatchObject({ code: 1, error: expect.stringContaining('no package') })
    const installed = await piped(text, { ...env, DEPLOYER_CA_FILE: authority })
    expect(installed).toMatchObject({ code: 0, error: '' })

    // As an older one left it.
    const root = join(home, '.local/share/deployer')
    const link = join(home, '.local/bin/deployer')
    renameSync(join(root, version), join(root, '0.0.9'))
    for (const name of readdirSync(join(root, '0.0.9'), { encoding: 'utf8', recursive: true })) {
      const file = join(root, '0.0.9', name)
      if (!name.endsWith('.mjs')) continue
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`"${version}"`, '"0.0.9"'))
    }
    rmSync(link)
    symlinkSync(join(root, '0.0.9/deployer.mjs'), link)
    const token = { ...env, DEPLOYER_TOKEN: server.token, DEPLOYER_HOST: url }
    expect(await run(link, ['upgrade'], token)).toMatchObject({ code: 6 })
    const upgraded = await run(link, ['upgrade', '--ca', authority], token)
    expect(upgraded).toMatchObject({ code: 0, out: `0.0.9 was replaced by ${version}\n` })
    expect(readlinkSync(link)).toBe(join(root, version, 'deployer.mjs'))
    expect((await run('ls', ['-A', root])).out).toBe(`${version}\n`)
    expect(await run(link, ['upgrade', '--ca', authority], token)).toMatchObject({
      code: 0,
      out: `${version} is the version of ${url} already\n`,
    })
  })

  test('and every other command know the authority that was named at the sign-in', async () => {
    const home = newHome('who signs in')
    const env = { ...envWith({ home }), TOKEN: server.token }
    const program = join(dirname(entry), '../cli/deployer.mjs')
    const login = 'printf %s "$TOKEN" | node "$1" login "$2" --token --ca certificate.pem'
    const words = ['-c', `cd "$0" && ${login}`, dirname(authority), program, url]
    expect(await run('/bin/sh', words, env)).toMatchObject({ code: 0, error: '' })
    const whoami = await run(process.execPath, [program, 'whoami'], env)
    expect(whoami).toMatchObject({ code: 0, out: expect.stringContaining(url) })
  })
})

describe('deployer token', () => {
  const at = () => ['--data-dir', server.dataDirectory]

  function statusWith(token: string): Promise<number> {
    return fetch(`${server.url}/api/v1/info`, { headers: { authorization: `Bearer ${token}` } }).then(
      ({ status }) => status,
    )
  }

  test('creates, lists and revokes tokens of a running server, at once', async () => {
    const created = await deployer('token', 'create', 'laptop of Ann', ...at())
    expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^dpl_[0-9a-f]{40}\n$/) })
    const token = created.out.trim()
    expect(await statusWith(token)).toBe(200)
    const listed = await deployer('token', 'list', ...at())
    const [id, name, hint, , expires] = listed.out.split('\t')
    expect([name, hint, expires]).toEqual(['laptop of Ann', `…${token.slice(-4)}`, 'never'])
    expect(listed.out + listed.error).not.toContain(token)
    expect(await deployer('token', 'revoke', id!, ...at())).toEqual({
      code: 0,
      out: `${id} is revoked\n`,
      error: '',
    })
    expect(await statusWith(token)).toBe(401)
    expect(await deployer('token', 'revoke', id!, ...at())).toMatchObject({
      code: 1,
      error: expect.stringMatching(/^deployer: there is no API token .*\n$/),
    })
  })

  test('gives a token an end', async () => {
    const { out } = await deployer('token', 'create', 'ci', '--expires-in', '90d', '--json', ...at())
    const { api_token } = JSON.parse(out) as { api_token: { expires_at: string; created_at: string } }
    const days = (Date.parse(api_token.expires_at) - Date.parse(api_token.created_at)) / 86_400_000
    expect(days).toBeCloseTo(90, 2)
    const bad = ['90', '0d', '-1d', '1.5d', '101y', ''].map(async (time) => {
      expect(await deployer('token', 'create', 'ci', `--expires-in=${time}`, ...at())).toMatchObject({
        code: 1,
        out: '',
        error: expect.stringMatching(/^deployer: --expires-in takes a time such as 90d.*\n$/),
      })
    })
    await Promise.all(bad)
  })

  test('refuses what is no name, and a data directory without a server', async () => {
    for (const bad of ['', 'a\nb', 'x'.repeat(201)])
      expect(await deployer('token', 'create', bad, ...at())).toMatchObject({
        code: 1,
        out: '',
        error: expect.stringMatching(/^deployer: the name of the token [^\n]*\n$/),
      })
    expect(await deployer('token', 'list', '--data-dir', join(folder, 'nowhere'))).toMatchObject({
      code: 1,
      error: expect.stringMatching(/^deployer: no server has used .*\n$/),
    })
  })

  test('works while the server is stopped', async () => {
    await server.kill()
    const { code, out } = await deployer('token', 'create', 'meanwhile', ...at())
    expect(code).toBe(0)
    await server.restart()
    expect(await statusWith(out.trim())).toBe(200)
  })
})

test('on the own host of a server with a token of its administrator, the client says what to set', async () => {
  const directory = join(folder, 'given-token')
  mkdirSync(directory)
  writeFileSync(join(directory, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:7878' }))
  const env = { ...envWith({}), DEPLOYER_DATA_DIR: directory, XDG_CONFIG_HOME: folder }
  expect(await run(process.execPath, [entry, 'whoami'], env)).toMatchObject({
    code: 3,
    error: expect.stringMatching(
      /^deployer: not signed in .*DEPLOYER_HOST=http:\/\/127\.0\.0\.1:7878 and DEPLOYER_TOKEN/,
    ),
  })
})
