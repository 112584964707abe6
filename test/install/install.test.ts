import {
  appendFileSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRIORITY_OF_REQUESTS } from '../../proxy/control/priority.ts'
import { VERSION } from '../../server/version.ts'
import { sweepEngine } from '../stand/engine.ts'
import { builtServer } from '../support/build.ts'
import { endOnceReady, makeRelease, type TestRelease } from '../support/release.ts'
import { waitFor } from '../support/wait.ts'
import { Box, whyNoBox } from './box.ts'
import { makeCertificate, once, onceSecure, Requests } from './requests.ts'

const DEPLOYER = '/usr/local/bin/deployer'
const DATA = '/var/lib/deployer'
/** Where the box looks for an engine; the stand's socket is at /mnt. */
const ENGINE = '/run/engine.sock'
const HOST = 'web.localhost'
/** Local, since an authority would not certify it. */
const SECURE_HOST = 'shop.example.test'
const NEXT_VERSION = '99.0.0'
const RELEASED = '99.1.0'
const PORTS = { api: 27_878, http: 27_880, https: 27_843 }
/** The signal that ends a process at once. */
const KILL = 'KILL'

const obstacle = await whyNoBox()
if (obstacle) process.stderr.write(`no machine can be booted here: ${obstacle}\n`)

describe.skipIf(obstacle !== null)('a server that runs as a service', () => {
  let box: Box
  let entry: string
  let requests: Requests
  let serverId = ''

  beforeAll(async () => {
    entry = await builtServer()
    box = new Box()
    await box.boot()
  })

  afterAll(async () => {
    await requests?.stop()
    await box?.remove()
    if (serverId !== '') await sweepEngine(serverId)
  })

  test('is installed, and waits for an engine that is not there yet', async () => {
    expect(existsSync(box.path(DATA))).toBe(false)
    const flags = ['--listen', `127.0.0.1:${PORTS.api}`, '--http-listen', `127.0.0.1:${PORTS.http}`]
    flags.push('--https-listen', `127.0.0.1:${PORTS.https}`, '--docker-host', `unix://${ENGINE}`)
    const text = await box.must(process.execPath, entry, 'install', ...flags)
    expect(text).toMatch(/started deployer-proxy\.service\nstarted deployer\.service/)
    expect(text).toContain(`http://127.0.0.1:${PORTS.api}/setup?code=`)
    serverId = readFileSync(box.path(`${DATA}/proxy/server_id`), 'utf8').trim()

    const kept = box.path('/etc/deployer/deployer.env')
    expect(statSync(kept).mode & 0o777).toBe(0o600)
    expect(readFileSync(kept, 'utf8')).toContain(`DEPLOYER_LISTEN="127.0.0.1:${PORTS.api}"`)
    expect((await api('GET', '/info')).runtime_version).toBeNull()
    expect(await box.must(DEPLOYER, 'status')).toMatch(/engine +does not answer; the server keeps trying/)

    connectEngine()
    await waitFor(async () => (await api('GET', '/info')).runtime_version !== null, 'the engine to be found')
    await serveRequests()
  })

  test('sets its rules of the packet filter within its sandbox', async () => {
    expect(await box.must('nft', 'list', 'table', 'inet', `deployer_${serverId}`)).toContain('169.254.0.0/16')
  })

  test('is left alone by an install that changes nothing, and restarted by one that changes a setting', async () => {
    const before = await pids()
    expect(await box.must(DEPLOYER, 'install')).toContain('nothing to change')
    expect(await pids()).toEqual(before)

    expect(await box.must(DEPLOYER, 'install', '--default-memory-mb', '256')).toContain(
      'restarted deployer.service',
    )
    expect((await api('GET', '/info')).default_memory_limit_mb).toBe(256)
    expect((await pids()).data).toBe(before.data)
    expect(await requests.failures()).toEqual([])
  })

  test('refuses wrong settings and changes nothing', async () => {
    const kept = readFileSync(box.path('/etc/deployer/deployer.env'), 'utf8')
    const { code, text } = await box.run(DEPLOYER, 'install', '--listen', 'nowhere')
    expect(code).toBe(1)
    expect(text).toContain('--listen')
    expect(readFileSync(box.path('/etc/deployer/deployer.env'), 'utf8')).toBe(kept)
  })

  test.each(['deployer', 'deployer-proxy'])('loses no request to a restart of %s', async (unit) => {
    const before = await pids()
    await box.must('systemctl', 'restart', unit)
    await untilReady()
    const after = await pids()
    expect(unit === 'deployer' ? after.data : after.control).toBe(
      unit === 'deployer' ? before.data : before.control,
    )
    expect(unit === 'deployer' ? after.control : after.data).not.toBe(
      unit === 'deployer' ? before.control : before.data,
    )
    expect(await requests.failures()).toEqual([])
  })

  test('loses no request when either main process is killed with -9, and it comes back', async () => {
    for (const [unit, role] of [
      ['deployer', 'control'],
      ['deployer-proxy', 'data'],
    ] as const) {
      const before = await pids()
      await box.must('systemctl', 'kill', '--kill-whom=main', `--signal=${KILL}`, unit)
      await waitFor(async () => {
        const pid = (await pids())[role]
        return pid !== 0 && pid !== before[role]
      }, `${unit} to come back`)
      await untilReady()
      expect({ unit, failures: await requests.failures() }).toEqual({ unit, failures: [] })
    }
  })

  test('loses at most the requests under way when all processes of the data plane are killed with -9', async () => {
    const group = box.path('/sys/fs/cgroup/system.slice/deployer-proxy.service/cgroup.kill')
    writeFileSync(group, '1')
    await waitFor(async () => (await once(PORTS.http, HOST)) === null, 'requests to be answered again')
    await requests.failures()
    expect(await requests.failures()).toEqual([])
    await untilReady()
    expect(await box.must(DEPLOYER, 'status')).toMatch(/data plane +runs version/)
  })

  test('is upgraded in place without a failed request', async () => {
    const next = join(box.folder, 'next')
    cpSync(dirname(dirname(entry)), next, { recursive: true, verbatimSymlinks: true })
    const version = join(next, 'server/chunks/_/version.mjs')
    writeFileSync(version, readFileSync(version, 'utf8').replaceAll(VERSION, NEXT_VERSION))
    appendFileSync(join(next, 'server/proxy.mjs'), '\n// the next version\n')
    const before = await pids()

    expect(await box.must(process.execPath, join(next, 'server/index.mjs'), 'install')).toContain(
      `version ${NEXT_VERSION} runs`,
    )
    const after = await pids()
    expect(after.data).not.toBe(before.data)
    expect(after.control).not.toBe(before.control)
    const status = await box.must(DEPLOYER, 'status')
    expect(status).toMatch(new RegExp(`control plane +runs version ${NEXT_VERSION}`))
    expect(status).toMatch(new RegExp(`data plane +runs version ${NEXT_VERSION}`))
    expect(await box.must('systemctl', 'is-active', 'deployer', 'deployer-proxy')).toBe('active\nactive')
    expect(await requests.failures()).toEqual([])
  })

  test('is upgraded to a signed release without a failed request', async () => {
    const release = await makeRelease(join(box.folder, 'better'), RELEASED, { node: 'own' })
    const before = await pids()
    const text = await upgrade(release, 4_000, '--key', inBox(release.key))
    expect(text).toContain(`version ${RELEASED} runs`)
    const after = await pids()
    expect([after.control === before.control, after.data === before.data]).toEqual([false, false])
    const status = await box.must(DEPLOYER, 'status')
    expect(status).toMatch(new RegExp(`control plane +runs version ${RELEASED}`))
    expect(status).toMatch(new RegExp(`data plane +runs version ${RELEASED}`))
    expect(await requests.failures()).toEqual([])
    await waitFor(
      async () => 'id' in (await api('POST', '/env-groups', { name: 'after' })),
      'it to go to work',
    )
  })

  test('goes back to the former release without a failed request', { tags: ['slow'] }, async () => {
    const release = await makeRelease(join(box.folder, 'worse'), '99.2.0', {
      change: (program) => endOnceReady(program, DATA),
    })
    // The running release brought the key.
    const groups = await api('GET', '/env-groups')
    await expect(upgrade(release, 30_000)).rejects.toThrow(`99.2.0 was not kept, and ${RELEASED} runs again`)
    const status = await box.must(DEPLOYER, 'status')
    expect(status).toMatch(new RegExp(`control plane +runs version ${RELEASED}`))
    expect(status).toMatch(new RegExp(`data plane +runs version ${RELEASED}`))
    expect(await api('GET', '/env-groups')).toEqual(groups)
    expect(await requests.failures()).toEqual([])
  })

  test('serves over HTTPS with a certificate that the data plane reads within its sandbox', async () => {
    await api('POST', '/services/web/domains', { domain: SECURE_HOST })
    await api('POST', '/certificates/uploaded', await makeCertificate(SECURE_HOST))
    expect(await onceSecure(PORTS.https, SECURE_HOST)).toBe(200)
  })

  test('keeps the secrets of the server from the data plane', async () => {
    const { data } = await pids()
    const seen = await box.must('ls', join('/proc', String(data), 'root', DATA))
    expect(seen.split('\n').sort()).toEqual(['certificates', 'proxy', 'sites'])
    expect((await box.run('cat', `/proc/${data}/root/etc/deployer/deployer.env`)).code).not.toBe(0)
  })

  test("gives the data plane's workers priority over everything else in it", async () => {
    // As getrlimit(2) counts. A machine in a container may have limits of its own.
    const limit = await box.must('systemctl', 'show', '--property=LimitNICE', '--value', 'deployer-proxy')
    expect(Number(limit)).toBe(20 - PRIORITY_OF_REQUESTS)
  })

  test('moves the key of the account at the authority to where the data plane cannot see it', async () => {
    // Where earlier versions kept it.
    const former = 'certificates/_accounts/ca.example/privkey.pem'
    mkdirSync(dirname(box.path(join(DATA, former))), { recursive: true })
    writeFileSync(box.path(join(DATA, former)), 'of the account')
    await box.must('systemctl', 'restart', 'deployer')
    await untilReady()
    const kept = 'acme-accounts/ca.example/privkey.pem'
    await waitFor(() => existsSync(box.path(join(DATA, kept))), 'the key to be moved')
    const { data } = await pids()
    const sees = async (file: string) =>
      (await box.run('cat', `/proc/${data}/root${DATA}/${file}`)).code === 0
    expect([await sees(former), await sees(kept)]).toEqual([false, false])
  })

  test('serves again after a reboot, before the engine is there', async () => {
    const answered = requests.answered
    await box.reboot()
    await waitFor(async () => (await once(PORTS.http, HOST)) === null, 'requests to be answered again')
    await untilReady()
    expect((await api('GET', '/info')).runtime_version).toBeNull()
    connectEngine()
    await waitFor(async () => (await api('GET', '/info')).runtime_version !== null, 'the engine to be found')
    await requests.failures()
    expect(requests.answered).toBeGreaterThan(answered)
    expect(await onceSecure(PORTS.https, SECURE_HOST)).toBe(200)
    expect(await requests.failures()).toEqual([])
  })

  test('is uninstalled and leaves its containers and data, unless told otherwise', async () => {
    const [container] = await containers()
    const text = await box.must(DEPLOYER, 'uninstall')
    expect(text).toContain(`${DATA}, /etc/deployer/deployer.env and the containers stay`)
    expect(text).toContain(`removed table inet deployer_${serverId}`)
    expect((await box.run('nft', 'list', 'table', 'inet', `deployer_${serverId}`)).code).not.toBe(0)
    for (const file of ['/etc/systemd/system/deployer.service', DEPLOYER, '/usr/local/lib/deployer'])
      expect([file, existsSync(box.path(file))]).toEqual([file, false])
    expect(existsSync(box.path(`${DATA}/deployer.db`))).toBe(true)
    expect(await containers()).toEqual([container])
    await requests.stop()

    const unsure = await box.run(process.execPath, entry, 'uninstall', '--data')
    expect(unsure).toMatchObject({ code: 1, text: expect.stringContaining('--data --yes') })
    expect(await containers()).toEqual([container])
    await box.must(process.execPath, entry, 'uninstall', '--data', '--yes')
    expect(await containers()).toEqual([])
    expect(existsSync(box.path(DATA)) || existsSync(box.path('/etc/deployer'))).toBe(false)
  })

  function inBox(path: string): string {
    return join('/tmp', path.slice(box.folder.length))
  }

  /** Upgrades with a trial of this time. */
  function upgrade({ file }: TestRelease, trialMs: number, ...flags: string[]): Promise<string> {
    mkdirSync(box.path(inBox(dirname(file))), { recursive: true })
    for (const name of [basename(file), 'SHA256SUMS', 'SHA256SUMS.sig', 'key.pem'])
      copyFileSync(join(dirname(file), name), box.path(inBox(join(dirname(file), name))))
    const schedule = `DEPLOYER_TEST_SCHEDULE=${JSON.stringify({ trialMs })}`
    return box.must('env', schedule, DEPLOYER, 'upgrade', inBox(file), ...flags)
  }

  function connectEngine(): void {
    symlinkSync('/mnt/docker.sock', box.path(ENGINE))
  }

  /** Has a service answer at `HOST`, and sends it requests without a pause from now on. */
  async function serveRequests(): Promise<void> {
    const command = 'mkdir -p /www && echo hello >/www/index.html && httpd -f -p 10000 -h /www'
    await api('POST', '/services', { name: 'web', image: 'busybox:1', start_command: command })
    await waitFor(async () => (await once(PORTS.http, HOST)) === null, 'the service to answer').catch(
      async ({ message }: Error) => {
        throw new Error(`${message}:\n${await box.must('journalctl', '--unit', 'deployer', '--lines', '50')}`)
      },
    )
    requests = new Requests(PORTS.http, HOST)
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- every answer has another shape
  async function api(method: string, path: string, body?: object): Promise<any> {
    const token = readFileSync(box.path(`${DATA}/api_token`), 'utf8').trim()
    const response = await fetch(`http://127.0.0.1:${PORTS.api}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, connection: 'close' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return response.json()
  }

  async function untilReady(): Promise<void> {
    await waitFor(async () => 'version' in (await api('GET', '/info')), 'the control plane to answer')
  }

  /** The main processes of both units, by the box's numbers. */
  async function pids(): Promise<{ control: number; data: number }> {
    const text = await box.must(
      'systemctl',
      'show',
      '--property=MainPID',
      '--value',
      'deployer',
      'deployer-proxy',
    )
    const [control = 0, data = 0] = text.split('\n').filter(Boolean).map(Number)
    return { control, data }
  }

  /** Of services: the server may try the resolver in one that is soon gone. */
  async function containers(): Promise<string[]> {
    const filters = [
      '--filter',
      `label=deployer.server=${serverId}`,
      '--filter',
      'label=deployer.kind=instance',
    ]
    const text = await box.must('docker', '-H', 'unix:///mnt/docker.sock', 'ps', '-q', ...filters)
    return text.split('\n').filter(Boolean)
  }
})
