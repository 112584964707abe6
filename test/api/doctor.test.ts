import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { CheckId, Finding } from '#server/doctor/schema.ts'
import { CHECK_IDS } from '#server/doctor/schema.ts'
import { readQuery, writeAnswer } from '../../proxy/resolver/message.ts'
import { nameServer } from '../proxy/names.ts'
import { builtServer } from '../support/build.ts'
import { uploadSelfSigned } from '../support/certificate.ts'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'

const UNWELL = 3
/** What the names of the second server lead to, and where nothing is. */
const [PUBLIC, NOWHERE] = ['127.0.0.3', '127.0.0.4']
const CLOCK_OFF_MS = 10 * 60_000

const folder = mkdtempSync(join(tmpdir(), 'deployer-doctor-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Findings = Record<CheckId, Finding>

function byId(findings: Finding[]): Findings {
  return Object.fromEntries(findings.map((finding) => [finding.id, finding])) as Findings
}

async function findingsOf(server: TestServer): Promise<Findings> {
  const { status, body } = await server.api('GET', '/server/doctor')
  expect(status).toBe(200)
  return byId(body as Finding[])
}

/** Runs `deployer doctor --json`. */
async function onHost(...flags: string[]): Promise<{ code: number; found: Findings; error: string }> {
  const args = [await builtServer(), 'doctor', '--json', ...flags]
  return new Promise((resolve) => {
    execFile(process.execPath, args, (failure, out, error) =>
      resolve({ code: Number(failure?.code ?? 0), found: byId(JSON.parse(out || '[]') as Finding[]), error }),
    )
  })
}

describe('a server without an engine', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server?.stop())

  test('examines itself: every check in order, and a next step for whatever is wrong', async () => {
    const { body } = await server.api('GET', '/server/doctor')
    const findings = body as Finding[]
    expect(findings.map(({ id }) => id)).toEqual(CHECK_IDS)
    for (const { outcome, fix } of findings)
      expect(fix !== null).toBe(outcome === 'failed' || outcome === 'warning')
    const found = byId(findings)
    expect(found.engine).toMatchObject({
      outcome: 'failed',
      message: expect.stringMatching(/no-engine\.sock/),
      fix: expect.stringMatching(/systemctl start docker/),
    })
    expect(found.http_port).toMatchObject({
      outcome: 'passed',
      message: `the data plane answers on 127.0.0.1:${server.httpPort}`,
    })
    expect(found.database.message).toBe(`${server.dataDirectory}/deployer.db is sound`)
    for (const id of ['https_port', 'data_directory', 'database', 'data_plane', 'open_files'] as const)
      expect(found[id]).toMatchObject({ id, outcome: 'passed' })
    for (const id of ['storage_driver', 'resolver', 'base_domain', 'strays', 'datastore_backups'] as const)
      expect(found[id]).toMatchObject({ id, outcome: 'skipped' })
  })

  test('tells nobody without a token', async () => {
    expect(await server.request('GET', '/api/v1/server/doctor')).toMatchObject({ status: 401 })
  })

  test('notices a data directory that others can read', async () => {
    chmodSync(server.dataDirectory, 0o755)
    onTestFinished(() => chmodSync(server.dataDirectory, 0o700))
    expect((await findingsOf(server)).data_directory).toMatchObject({
      outcome: 'failed',
      fix: `chmod 700 ${server.dataDirectory}`,
    })
  })

  test('is asked by the command of its host, which ends with 3 because of the engine', async () => {
    const { code, found } = await onHost('--data-dir', server.dataDirectory)
    expect(code).toBe(UNWELL)
    expect(found.container_addresses.message).toBe('the engine has not answered since the server started')
  })

  test('is asked from elsewhere with a token, which says what is wrong alone', async () => {
    const env = { ...process.env, DEPLOYER_HOST: server.url, DEPLOYER_TOKEN: server.token }
    const asked = promisify(execFile)(
      process.execPath,
      [await builtServer(), 'server', 'doctor', '--quiet'],
      { env },
    )
    await expect(asked).rejects.toMatchObject({ code: 1, stdout: 'engine\n', stderr: '' })
  })

  test('says so when its data plane hangs, and looks at everything else', async () => {
    const pid = Number(/process (\d+)/.exec((await findingsOf(server)).data_plane.message)![1])
    process.kill(pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(pid, 'SIGCONT'))
    const found = await findingsOf(server)
    expect(found.data_plane).toMatchObject({
      outcome: 'failed',
      message: 'the data plane does not answer within 2 s',
    })
    expect(found.http_port).toMatchObject({
      outcome: 'skipped',
      message: 'the data plane does not say where it listens',
    })
    for (const id of ['database', 'data_directory', 'open_files'] as const)
      expect(found[id]).toMatchObject({ id, outcome: 'passed' })
  })

  test('that rejects the token is examined from outside', { tags: ['slow'] }, async () => {
    const { found } = await onHost('--data-dir', server.dataDirectory, '--api-token', 'x'.repeat(40))
    expect(found.resolver).toMatchObject({
      outcome: 'skipped',
      message: 'the running server rejects this token: pass its --api-token-file',
    })
    expect(found.database.outcome).toBe('passed')
  })

  test('that has stopped is examined without a trace, with its data plane and without', async () => {
    const flags = [
      ...['--data-dir', server.dataDirectory, '--http-listen', `127.0.0.1:${server.httpPort}`],
      ...['--https-listen', `127.0.0.1:${server.httpsPort}`],
      ...['--docker-host', `unix://${folder}/none.sock`],
    ]
    await server.kill('SIGTERM')
    const before = readdirSync(server.dataDirectory).sort()
    const { found } = await onHost(...flags)
    expect(found.resolver.message).toBe(`no server runs on ${server.dataDirectory}`)
    for (const id of ['http_port', 'data_plane', 'database', 'data_directory'] as const)
      expect(found[id]).toMatchObject({ id, outcome: 'passed' })
    expect(readdirSync(server.dataDirectory).sort()).toEqual(before)

    await promisify(execFile)(process.execPath, [await builtServer(), 'stop', '--all', ...flags.slice(0, 2)])
    const { found: left, code } = await onHost(...flags)
    expect(code).toBe(UNWELL)
    for (const id of ['http_port', 'https_port', 'data_plane'] as const)
      expect(left[id]).toMatchObject({
        id,
        outcome: 'failed',
        fix: expect.stringMatching(/Start the server/),
      })
  })
})

test('a host without a server is examined, and an engine that hangs holds up nothing else', async () => {
  const socket = join(folder, 'silent.sock')
  const silent = createServer(() => {}).listen(socket)
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const dataDirectory = join(folder, 'unused')
  const { code, found, error } = await onHost(
    '--data-dir',
    dataDirectory,
    '--docker-host',
    `unix://${socket}`,
  )
  expect({ code, error }).toEqual({ code: UNWELL, error: '' })
  expect(found.engine).toMatchObject({ outcome: 'failed', message: 'the engine does not answer within 2 s' })
  expect(found.storage_driver).toMatchObject({ outcome: 'skipped', message: 'the engine does not answer' })
  expect(found.certificates.message).toBe(`no server has used ${dataDirectory} yet`)
  for (const id of ['memory', 'disk'] as const) expect(found[id].outcome).not.toBe('skipped')
  expect(existsSync(dataDirectory)).toBe(false)
})

describe('a server with names of the internet', () => {
  let server: TestServer
  let authority: Server
  let publicPort: number
  /** What the name server answers: the address of names under the base domain. */
  let leadsTo = PUBLIC
  let alsoTo: string[] = []
  let clockOffMs = 0

  beforeAll(async () => {
    const names = await nameServer('127.0.0.1', 0, (message) => {
      const reading = readQuery(message)
      if (!reading || !('query' in reading)) return null
      const { query } = reading
      const hasAddress = query.wantsAddresses && query.labels.join('.') !== 'apps.example.com'
      return writeAnswer(query, hasAddress ? [leadsTo, ...alsoTo] : [], 1)
    })
    authority = await startAuthority(() => Date.now() + clockOffMs)
    publicPort = await freePort()
    server = await startServer({
      flags: [
        ...[
          '--base-domain',
          'apps.example.com',
          '--public-ip',
          PUBLIC,
          '--public-http-port',
          String(publicPort),
        ],
        ...['--dns-resolvers', `127.0.0.1:${names.address().port}`],
        ...['--acme-directory', `https://127.0.0.1:${(authority.address() as AddressInfo).port}/directory`],
        ...['--acme-ca-file', join(folder, 'certificate')],
      ],
    })
    await uploadSelfSigned(server, 'dashboard.apps.example.com', 30)
    return async () => {
      await server.stop()
      authority.closeAllConnections()
      authority.close()
      names.close()
    }
  })

  test('is well when DNS, the router and the clock are', async () => {
    const forwarders = await Promise.all([
      forward(publicPort, server.httpPort),
      forward(server.httpsPort, server.httpsPort),
    ])
    onTestFinished(() => forwarders.forEach((each) => each.close()))
    const found = await findingsOf(server)
    expect(found.http_port).toMatchObject({
      outcome: 'passed',
      message: `the data plane answers on 127.0.0.1:${server.httpPort}; and at ${PUBLIC} port ${publicPort}, asked from this host`,
    })
    expect(found.https_port).toMatchObject({
      outcome: 'passed',
      message: `the data plane answers on 127.0.0.1:${server.httpsPort}; and at ${PUBLIC} port ${server.httpsPort}, asked from this host`,
    })
    expect(found.base_domain).toMatchObject({
      outcome: 'passed',
      message: expect.stringMatching(
        /apps.example.com has no address.*dashboard.apps.example.com leads here/,
      ),
    })
    expect(found.wildcard.message).toBe('every name under apps.example.com leads here')
    expect(found.clock.message).toMatch(/^the clock agrees with that of 127.0.0.1:/)
    expect(found.certificates.outcome).toBe('passed')
  })

  test('notices what else answers at its public address, and when nothing does', async () => {
    const other = createServer((_, response) => response.end('hello')).listen(publicPort, PUBLIC)
    await once(other, 'listening')
    expect((await findingsOf(server)).http_port).toMatchObject({
      outcome: 'failed',
      message: expect.stringMatching(/^something else answers/),
      fix: expect.stringMatching(new RegExp(`forward port ${publicPort}`)),
    })
    other.closeAllConnections()
    other.close()
    await once(other, 'close')
    expect((await findingsOf(server)).http_port).toMatchObject({
      outcome: 'warning',
      message: `this host cannot connect to ${PUBLIC} port ${publicPort} (ECONNREFUSED)`,
      fix: expect.stringMatching(/firewall/),
    })
  })

  test('notices a dashboard whose name leads to an entry too', async () => {
    const forwarder = await forward(publicPort, server.httpPort)
    onTestFinished(() => void forwarder.close())
    const entry = '192.0.2.77'
    const database = databaseOf(server.dataDirectory)
    database.exec(
      `INSERT INTO nodes (id, name, address, status, joined_at, created_at, is_entry, has_data_plane)
       VALUES ('nod-00000000000000000001', 'worker', '${entry}', 'ready', 0, 0, 1, 1)`,
    )
    alsoTo = [entry]
    onTestFinished(() => {
      alsoTo = []
      database.exec('DELETE FROM nodes WHERE is_own = 0')
      database.close()
    })
    const message = `dashboard.apps.example.com also leads to ${entry}, an entry, which does not serve the dashboard: dashboard.apps.example.com needs records of its own with the server's own addresses alone (A ${PUBLIC})`
    const found = await findingsOf(server)
    expect(found.base_domain).toMatchObject({
      outcome: 'failed',
      message: `the dashboard: ${message}`,
      fix: expect.stringMatching(
        new RegExp(`^Create at the DNS provider: dashboard.apps.example.com A ${PUBLIC}\\.`),
      ),
    })
    expect(found.wildcard.outcome).toBe('passed')
    const [domain] = (await server.api('GET', '/domains')).body
    const { status, checks } = (await server.api('POST', `/domains/${domain.id}/verify`)).body
    expect([status, checks[2]]).toEqual(['active', { kind: 'dns', outcome: 'failed', message }])
  })

  test('notices names that lead elsewhere, and a clock that is wrong', async () => {
    leadsTo = NOWHERE
    clockOffMs = CLOCK_OFF_MS
    const found = await findingsOf(server)
    expect(found.wildcard).toMatchObject({
      outcome: 'failed',
      message: expect.stringMatching(/resolves to 127.0.0.4, which is not an address of this server/),
      fix: expect.stringMatching(/\*.apps.example.com A 127.0.0.3/),
    })
    expect(found.base_domain.outcome).toBe('failed')
    expect(found.clock).toMatchObject({
      outcome: 'failed',
      message: expect.stringMatching(/^the clock is (599|600) s behind that of/),
    })
  })

  test('notices an authority that does not answer', async () => {
    authority.closeAllConnections()
    authority.close()
    expect((await findingsOf(server)).clock).toMatchObject({
      outcome: 'warning',
      message: expect.stringMatching(/does not answer \(ECONNREFUSED\)/),
    })
  })
})

/** An authority that refuses everything, by a clock of its own. */
async function startAuthority(now: () => number): Promise<Server> {
  const at = (name: string) => join(folder, name)
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '30',
      ],
      ...[
        '-subj',
        '/CN=ca',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
        '-keyout',
        at('key'),
        '-out',
        at('certificate'),
      ],
    ],
    { stdio: 'ignore' },
  )
  const options = { key: readFileSync(at('key')), cert: readFileSync(at('certificate')) }
  const authority = createSecureServer(options, (_, response) => {
    response.sendDate = false
    response.writeHead(404, { date: new Date(now()).toUTCString() }).end()
  }).listen(0, '127.0.0.1')
  await once(authority, 'listening')
  return authority
}

/** Forwards a port of the public address to one of this host, as a router does. */
async function forward(from: number, to: number) {
  const forwarder = createTcpServer((client) => {
    const inside = connect(to, '127.0.0.1')
    client.on('error', () => inside.destroy()).pipe(inside)
    inside.on('error', () => client.destroy()).pipe(client)
  }).listen(from, PUBLIC)
  await once(forwarder, 'listening')
  return forwarder
}

async function freePort(): Promise<number> {
  const probe = createTcpServer().listen(0, PUBLIC)
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}
