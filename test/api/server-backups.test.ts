import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtServer } from '../support/build.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { Browser, refusal } from './account-client.ts'

const run = promisify(execFile)
const PASSPHRASE = 'correct horse battery staple'

let server: TestServer
let browser: Browser
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'server-backups-'))
  server = await startServer()
  browser = new Browser(server.url)
  await browser.setUp(server.setupCode)
  await browser.signIn()
  await server.api('POST', '/env-groups', { name: 'shared', vars: [{ key: 'A', value: 'kept' }] })
  mkdirSync(join(server.dataDirectory, 'sites', 'dep-0', 'a'), { recursive: true })
  writeFileSync(join(server.dataDirectory, 'sites', 'dep-0', 'a', 'page.html'), 'hello')
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a command of the host, on a data directory. */
async function deployer(words: string[], dataDirectory = server.dataDirectory) {
  const env = { ...process.env, DEPLOYER_DATA_DIR: dataDirectory }
  return await run(process.execPath, [await builtServer(), ...words], {
    env,
    maxBuffer: 2 ** 26,
    encoding: 'buffer',
  }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr: stderr.toString() }),
    (error: { code: number; stdout: Buffer; stderr: Buffer }) => ({
      code: error.code,
      stdout: error.stdout,
      stderr: error.stderr.toString(),
    }),
  )
}

/** Makes a backup and waits for its end. */
async function backUp(input: object = {}): Promise<Record<string, unknown> & { id: string }> {
  const { status, body } = await server.api('POST', '/server/backups', input)
  expect(status).toBe(202)
  return await waitFor(async () => {
    const now = (await server.api('GET', `/server/backups/${body.id}`)).body
    return now.status === 'running' ? null : now
  }, `the end of ${body.id}`)
}

const fileOf = (id: string) => join(server.dataDirectory, 'backups', 'server', id)

describe('a backup of the server', () => {
  it('is one file that holds the database, the key, and what the database refers to', async () => {
    const made = await backUp({ datastores: false })
    expect(made).toMatchObject({
      status: 'succeeded',
      trigger: 'manual',
      progress_percent: 100,
      encrypted: false,
      includes: { datastores: false, disks: false, logs: true },
      stored: ['local'],
      verified_at: null,
      error: null,
    })
    const bytes = readFileSync(fileOf(made.id))
    expect(made.size_bytes).toBe(bytes.length)
    expect(made.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(statSync(fileOf(made.id)).mode & 0o777).toBe(0o600)

    const { stdout } = await run('tar', ['-tzf', fileOf(made.id)])
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        'deployer-backup.json',
        'data/deployer.db',
        'data/secret.key',
        'data/api_token',
        'data/sites/dep-0/a/page.html',
      ]),
    )
    expect(stdout).not.toMatch(/metrics\.db|lock\.db|mirrors|proxy|backups\/server/)
    expect(readdirSync(join(server.dataDirectory, 'backups', 'server'))).toEqual([made.id])
  })

  it('is verified by reading it to its end, and is damaged once some of its bytes are others', async () => {
    const { id } = await backUp({ datastores: false })
    const sound = (await server.api('POST', `/server/backups/${id}/verify`)).body
    expect(sound).toMatchObject({ status: 'succeeded', error: null })
    expect(Date.parse(sound.verified_at)).toBeGreaterThan(Date.parse(sound.finished_at))

    const bytes = readFileSync(fileOf(id))
    const middle = Math.floor(bytes.length / 2)
    // A single bit may be one that makes no difference to what is unpacked, such as where a run of zeros is copied from.
    for (let at = middle; at < middle + 64; at++) bytes[at]! ^= 0xff
    writeFileSync(fileOf(id), bytes)
    const damaged = (await server.api('POST', `/server/backups/${id}/verify`)).body
    expect(damaged).toMatchObject({ status: 'succeeded', verified_at: null })
    // Of some bytes, such as the time in the head of a compressed part, only the checksum of the whole tells.
    expect(damaged.error).toMatch(/damaged|different checksum/)

    writeFileSync(fileOf(id), bytes.subarray(0, 1_000))
    expect((await server.api('POST', `/server/backups/${id}/verify`)).body.error).toMatch(/incomplete/)
    rmSync(fileOf(id))
    expect((await server.api('POST', `/server/backups/${id}/verify`)).body).toMatchObject({
      error: 'its file is gone from the data directory',
      stored: [],
    })
  })

  it('is downloaded with a session, in parts too, and not with a token', async () => {
    const { id, size_bytes } = await backUp({ datastores: false })
    const path = `/server/backups/${id}/download`
    expect(await server.api('GET', path)).toMatchObject({ status: 403 })
    const headers = { cookie: browser.cookie! }
    const whole = await fetch(`${server.url}/api/v1${path}`, { headers })
    expect(whole.headers.get('content-disposition')).toMatch(
      /filename="\d{4}-\d\d-\d\dT\d{6}Z-sbk-\w+\.tar\.gz"/,
    )
    const bytes = Buffer.from(await whole.arrayBuffer())
    expect(bytes.equals(readFileSync(fileOf(id)))).toBe(true)
    const part = await fetch(`${server.url}/api/v1${path}`, { headers: { ...headers, range: 'bytes=10-19' } })
    expect(part.headers.get('content-range')).toBe(`bytes 10-19/${String(size_bytes)}`)
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20))).toBe(true)
  })

  it('is deleted with its file', async () => {
    const { id } = await backUp({ datastores: false })
    expect((await server.api('DELETE', `/server/backups/${id}`)).status).toBe(204)
    expect(existsSync(fileOf(id))).toBe(false)
    expect(await server.api('GET', `/server/backups/${id}`)).toMatchObject(refusal(404, 'not_found'))
  })

  it('is canceled while it is made, refuses a second one meanwhile, and leaves nothing', async () => {
    // It takes a while to compress.
    const large = join(server.dataDirectory, 'archives', 'large.tar.gz')
    writeFileSync(large, randomBytes(2 ** 26))
    const { body } = await server.api('POST', '/server/backups', { datastores: false })
    const second = await server.api('POST', '/server/backups', {})
    expect(second).toMatchObject(refusal(409, 'conflict'))
    expect(second.body.error.message).toContain(body.id)
    expect(await server.api('DELETE', `/server/backups/${body.id}`)).toMatchObject(refusal(409, 'conflict'))
    const canceled = await server.api('POST', `/server/backups/${body.id}/cancel`)
    expect(canceled.body).toMatchObject({ status: 'canceled', size_bytes: null, stored: [] })
    expect(await server.api('POST', `/server/backups/${body.id}/cancel`)).toMatchObject(
      refusal(409, 'conflict'),
    )
    await waitFor(
      () =>
        readdirSync(join(server.dataDirectory, 'backups', 'server')).some((name) => name.includes(body.id))
          ? null
          : true,
      'its parts to be gone',
    )
    rmSync(large)
  })

  it('that a kill interrupts has failed, and leaves nothing', async () => {
    const large = join(server.dataDirectory, 'archives', 'large.tar.gz')
    writeFileSync(large, randomBytes(2 ** 26))
    const { body } = await server.api('POST', '/server/backups', { datastores: false })
    await waitFor(() => existsSync(`${fileOf(body.id)}.part`) || null, 'its file to be begun')
    await server.kill('SIGKILL')
    await server.restart()
    rmSync(large)
    const failed = (await server.api('GET', `/server/backups/${body.id}`)).body
    expect(failed).toMatchObject({ status: 'failed', stored: [] })
    expect(failed.error).toMatch(/the server stopped/)
    await waitFor(
      () =>
        readdirSync(join(server.dataDirectory, 'backups', 'server')).some((name) => name.includes(body.id))
          ? null
          : true,
      'its parts to be gone',
    )
  })
})

describe('the settings of the server', () => {
  it('are a backup each night, and change what is given alone', async () => {
    const usual = (await server.api('GET', '/server/settings')).body
    expect(usual).toEqual({
      backup_schedule: '17 3 * * *',
      backup_retention: 7,
      backup_disks: false,
      backup_datastores: true,
    })
    const changed = await server.api('PATCH', '/server/settings', {
      backup_schedule: null,
      backup_retention: 2,
    })
    expect(changed.body).toEqual({ ...usual, backup_schedule: null, backup_retention: 2 })
    for (const wrong of [
      { backup_schedule: 'daily' },
      { backup_retention: 366 },
      { backup_disks: 'yes' },
      { a: 1 },
    ])
      expect((await server.api('PATCH', '/server/settings', wrong)).status).toBe(400)
    expect((await server.api('GET', '/server/settings')).body).toEqual(changed.body)
  })

  it('limit how many backups are kept, and failed ones push none out', async () => {
    const kept = [await backUp({ datastores: false }), await backUp({ datastores: false })]
    const newest = await backUp({ datastores: false })
    const listed = await waitFor(async () => {
      const rows = (await server.api('GET', '/server/backups')).body as {
        id: string
        status: string
        error: null
      }[]
      const sound = rows.filter(({ status, error }) => status === 'succeeded' && error === null)
      return sound.length === 2 ? sound : null
    }, 'the oldest to be removed')
    expect(listed.map(({ id }) => id)).toEqual([newest.id, kept[1]!.id])
    expect(existsSync(fileOf(kept[0]!.id))).toBe(false)
  })
})

describe('deployer backup', () => {
  it('has the running server make one, and puts a copy where it is told', async () => {
    const target = join(folder, 'backup.tar.gz')
    const made = await deployer(['backup', target, '--without', 'datastores', '--json'])
    expect(made).toMatchObject({ code: 0 })
    const { id } = JSON.parse(made.stdout.toString()) as { id: string }
    expect(readFileSync(target).equals(readFileSync(fileOf(id)))).toBe(true)
    expect(statSync(target).mode & 0o777).toBe(0o600)
    const verified = await deployer(['backup', 'verify', target])
    expect(verified.stdout.toString()).toMatch(/is sound: .+, version \d/)
    // Its token ended with it.
    expect((await deployer(['token', 'list'])).stdout.toString()).not.toContain('command on this host')
  })

  it('seals one with a passphrase, which verifying needs', async () => {
    const secret = join(folder, 'passphrase')
    writeFileSync(secret, `${PASSPHRASE}\n`)
    const target = join(folder, 'sealed.age')
    const flags = ['--passphrase-file', secret]
    expect(await deployer(['backup', target, '--without', 'datastores', ...flags])).toMatchObject({ code: 0 })
    expect(readFileSync(target).subarray(0, 21).toString()).toBe('age-encryption.org/v1')
    expect(await deployer(['backup', 'verify', target, ...flags])).toMatchObject({ code: 0 })
    expect(await deployer(['backup', 'verify', target])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--passphrase-file'),
    })
    writeFileSync(secret, 'another passphrase')
    expect(await deployer(['backup', 'verify', target, ...flags])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the passphrase is wrong'),
    })
  })

  it('refuses what is not a backup, in one line', async () => {
    const other = join(folder, 'other.tar.gz')
    await run('tar', ['-czf', other, '-C', '/etc', 'hostname'])
    for (const file of [other, '/bin/ls', '/etc/hostname', join(folder, 'missing')]) {
      const { code, stderr } = await deployer(['backup', 'verify', file])
      expect([code, stderr.trim().split('\n').length]).toEqual([1, 1])
    }
    expect(await deployer(['backup', '--without', 'everything'])).toMatchObject({ code: 1 })
  })

  it('backs up a server that does not run, to a pipe too', async () => {
    await server.kill()
    try {
      const { code, stdout } = await deployer(['backup', '-', '--without', 'logs'])
      expect(code).toBe(0)
      const target = join(folder, 'stopped.tar.gz')
      writeFileSync(target, stdout)
      expect(await deployer(['backup', 'verify', target])).toMatchObject({ code: 0 })
      expect(await deployer(['backup'])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('name the file to write'),
      })
    } finally {
      await server.restart()
    }
  })
})

describe('deployer restore', () => {
  let backup: string
  let empty: string
  beforeAll(async () => {
    backup = join(folder, 'to-restore.tar.gz')
    writeFileSync(join(server.dataDirectory, 'ssh', 'known_hosts'), 'git.example.com ssh-ed25519 A')
    await deployer(['backup', backup, '--without', 'datastores'])
    empty = join(folder, 'empty')
  })

  it('brings everything back into an empty directory, also after kills in the middle', async () => {
    const entry = await builtServer()
    for (const afterMs of [150, 250, 350, 450]) {
      const killed = execFile(process.execPath, [entry, 'restore', backup, '--data-dir', empty])
      const ended = once(killed, 'exit')
      await delay(afterMs)
      killed.kill('SIGKILL')
      await ended
      // One that was quick has finished.
      if (existsSync(join(empty, 'deployer.db'))) break
    }
    if (!existsSync(join(empty, 'deployer.db')))
      expect(await deployer(['restore', backup], empty)).toMatchObject({ code: 0 })
    for (const name of ['secret.key', 'api_token', 'ssh/known_hosts'])
      expect(readFileSync(join(empty, name)).equals(readFileSync(join(server.dataDirectory, name)))).toBe(
        true,
      )
    expect(statSync(join(empty, 'secret.key')).mode & 0o777).toBe(0o600)
    expect(existsSync(`${empty}.restoring`)).toBe(false)
    expect((await deployer(['restore', '--status'], empty)).stdout.toString()).toMatch(/^fenced\n/)
    expect(await deployer(['restore', '--confirm'], empty)).toMatchObject({ code: 0 })
    expect(await deployer(['restore', '--confirm'], empty)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it was confirmed already'),
    })
  })

  it('keeps what was there before, and refuses without --force', async () => {
    writeFileSync(join(empty, 'mine'), 'kept')
    const refused = await deployer(['restore', backup], empty)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--force') })
    expect(await deployer(['restore', backup, '--force'], empty)).toMatchObject({ code: 0 })
    const [before] = readdirSync(folder).filter((name) => name.startsWith('empty.before-restore-'))
    expect(readFileSync(join(folder, before!, 'mine'), 'utf8')).toBe('kept')
    expect(existsSync(join(empty, 'mine'))).toBe(false)
  })

  it('over a running server is refused', async () => {
    expect(await deployer(['restore', backup, '--force'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('deployer stop'),
    })
  })

  it('of what is no sound backup changes nothing', async () => {
    const target = join(folder, 'untouched')
    const bytes = readFileSync(backup)
    const flipped = Buffer.from(bytes)
    flipped[flipped.length - 200]! ^= 1
    writeFileSync(join(folder, 'flipped'), flipped)
    writeFileSync(join(folder, 'short'), bytes.subarray(0, bytes.length - 10))
    mkdirSync(join(folder, 'newer'))
    writeFileSync(join(folder, 'newer', 'deployer-backup.json'), await newerManifest())
    await run('tar', [
      '-czf',
      join(folder, 'newer.tar.gz'),
      '-C',
      join(folder, 'newer'),
      'deployer-backup.json',
    ])
    for (const [name, reason] of [
      ['flipped', 'damaged'],
      ['short', 'incomplete'],
      ['newer.tar.gz', 'a newer server'],
      ['other.tar.gz', 'not a backup'],
    ] as const) {
      const { code, stderr } = await deployer(['restore', join(folder, name)], target)
      expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(reason)])
      expect(stderr.trim().split('\n')).toHaveLength(1)
      expect(readdirSync(target).filter((left) => !left.startsWith('lock.db'))).toEqual([])
      expect(existsSync(`${target}.restoring`)).toBe(false)
    }
  })

  async function newerManifest(): Promise<string> {
    const { stdout } = await run('tar', ['-xzOf', backup, 'deployer-backup.json'])
    return JSON.stringify({ ...(JSON.parse(stdout) as object), schema: 9_999 })
  }
})
