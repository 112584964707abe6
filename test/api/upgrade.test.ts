import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publicKeyOf, sign, sumsOf } from '../../scripts/lib/release/sums.mjs'
import { builtServer } from '../support/build.ts'
import { databaseOf } from '../support/database.ts'
import { endOnceReady, makeRelease, releaseKey, type TestRelease } from '../support/release.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { VERSION } from '../../server/version.ts'

const NEXT = '99.0.0'
const TRIAL_MS = 1_500

let server: TestServer
let folder: string
/** Where tests find the built server; this file has a copy, since the next program is put beside the running one. */
const ENTRY = 'DEPLOYER_TEST_ENTRY'
let sharedEntry: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-releases-'))
  sharedEntry = await builtServer()
  const program = join(folder, 'programs/current')
  for (const part of ['server', 'public'])
    cpSync(join(dirname(dirname(sharedEntry)), part), join(program, part), {
      recursive: true,
      verbatimSymlinks: true,
    })
  process.env[ENTRY] = join(program, 'server/index.mjs')
  server = await startServer({ schedule: { trialMs: TRIAL_MS } })
})
afterAll(async () => {
  await server?.stop()
  process.env[ENTRY] = sharedEntry
  rmSync(folder, { recursive: true, force: true })
})

describe('a release is refused, and nothing is changed, when', () => {
  const arch = process.arch
  interface Case {
    file?: string
    prepare?: (at: string) => void
    words?: string[]
    says: RegExp
  }
  const cases: Record<string, Case> = {
    'it is older': { file: `deployer-0.0.9-linux-${arch}.tar.gz`, says: /version .* runs, which is newer/ },
    'it is the running version': { file: `deployer-${VERSION}-linux-${arch}.tar.gz`, says: /runs already/ },
    'it is for other machines': { file: 'deployer-9.0.0-linux-riscv.tar.gz', says: /is for riscv/ },
    'it has another name': { file: 'deployer.tar.gz', says: /is not the name of a release/ },
    'it is signed by somebody else': {
      prepare: (at) => {
        const other = generateKeyPairSync('ed25519').privateKey
        writeFileSync(join(at, 'SHA256SUMS.sig'), sign(readFileSync(join(at, 'SHA256SUMS'), 'utf8'), other))
      },
      says: /signature of SHA256SUMS is not by the key/,
    },
    'its sums were changed': {
      prepare: (at) => writeFileSync(join(at, 'SHA256SUMS'), `${'0'.repeat(64)}  other\n`),
      says: /signature of SHA256SUMS is not by the key/,
    },
    'it is cut short': {
      prepare: (at) => truncateSync(join(at, `deployer-9.0.0-linux-${arch}.tar.gz`), 3),
      says: /damaged or cut short/,
    },
    'it has no signature': {
      prepare: (at) => rmSync(join(at, 'SHA256SUMS.sig')),
      says: /SHA256SUMS\.sig cannot be read/,
    },
    'there is no key to check it with': { words: [], says: /pass the public key of the release with --key/ },
    'it is signed, and not a release': {
      says: /cannot be unpacked/,
    },
  }

  /** Of each kind one: the release, its name, its signature. The others are also checked where they are judged. */
  const first = ['it is older', 'it is signed by somebody else', 'it is cut short']

  for (const [title, one] of Object.entries(cases))
    // oxlint-disable-next-line vitest/valid-title -- it is the key of a case
    test(title, { tags: first.includes(title) ? [] : ['slow'] }, () => refuse(title, one))

  async function refuse(title: string, one: Case): Promise<void> {
    const { file = `deployer-9.0.0-linux-${arch}.tar.gz`, prepare, words, says } = one
    const at = join(folder, title.replaceAll(' ', '-'))
    mkdirSync(at)
    writeFileSync(join(at, file), 'not a release')
    const sums = await sumsOf(at, [file])
    writeFileSync(join(at, 'SHA256SUMS'), sums)
    writeFileSync(join(at, 'SHA256SUMS.sig'), sign(sums, releaseKey))
    writeFileSync(join(at, 'key.pem'), publicKeyOf(releaseKey))
    prepare?.(at)
    const { code, stderr } = await deployer(
      'upgrade',
      join(at, file),
      ...(words ?? ['--key', join(at, 'key.pem')]),
    )
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(says) })
    expect(existsSync(join(server.dataDirectory, 'upgrade.json'))).toBe(false)
    expect((await server.api('GET', '/info')).body.version).toBe(VERSION)
    expect((await server.api('GET', '/server/backups')).body).toEqual([])
  }
})

describe('an upgrade of a server that was started by hand', () => {
  test('goes back to the old version and its database when the new one ends', async () => {
    const release = await makeRelease(join(folder, 'bad'), '99.0.1', {
      change: (program) => endOnceReady(program, server.dataDirectory),
    })
    await server.api('POST', '/env-groups', { name: 'kept' })
    const { code, stderr } = await upgrade(release, 30_000)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(`99\\.0\\.1 was not kept, and ${VERSION} runs again: it ended`),
      ),
    })
    expect((await server.api('GET', '/info')).body.version).toBe(VERSION)
    expect((await server.api('GET', '/env-groups')).body).toMatchObject([{ name: 'kept' }])
    expect(tables()).not.toContain('newer')
    expect(leftovers()).toEqual([])
    expect((await server.api('POST', '/env-groups', { name: 'after' })).status).toBe(201)
  })

  test('is on trial first, comes back after kill -9 of the command, and is done by the next one', async () => {
    const release = await makeRelease(join(folder, 'good'), NEXT)
    const first = spawn(process.execPath, [await builtServer(), ...words(release)], {
      env: environment(600_000),
      stdio: 'ignore',
    })
    await waitFor(async () => (await versionNow()) === NEXT, 'the new version to be on trial', 60_000)
    const refused = await server.api('POST', '/env-groups', { name: 'no' })
    expect([refused.status, refused.body.error.code]).toEqual([503, 'service_unavailable'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await server.api('GET', '/env-groups')).status).toBe(200)
    first.kill('SIGKILL')
    await once(first, 'exit')

    const { code, stderr } = await upgrade(release)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('bringing the former version back first'),
    })
    expect(await versionNow()).toBe(NEXT)
    await waitFor(
      async () => (await server.api('POST', '/env-groups', { name: 'yes' })).status === 201,
      'the new version to go to work',
    )
    expect(leftovers()).toEqual([])
    const backups = (await server.api('GET', '/server/backups')).body as { trigger: string; status: string }[]
    expect(backups.map(({ trigger, status }) => `${trigger} ${status}`)).toContain('upgrade succeeded')
    expect(tokens()).toEqual([])
  })
})

async function versionNow(): Promise<string | undefined> {
  return server.api('GET', '/info').then(
    ({ body }) => body.version as string,
    () => undefined,
  )
}

function words({ file, key }: TestRelease): string[] {
  return ['upgrade', file, '--key', key]
}

function upgrade(release: TestRelease, trialMs = TRIAL_MS) {
  return run(words(release), trialMs)
}

function environment(trialMs: number): NodeJS.ProcessEnv {
  return {
    ...process.env,
    DEPLOYER_DATA_DIR: server.dataDirectory,
    DEPLOYER_TEST_SCHEDULE: JSON.stringify({ trialMs }),
  }
}

/** Runs a command of the host. */
function deployer(...args: string[]) {
  return run(args, TRIAL_MS)
}

async function run(args: string[], trialMs: number): Promise<{ code: number; stderr: string }> {
  return promisify(execFile)(process.execPath, [await builtServer(), ...args], {
    env: environment(trialMs),
  }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  )
}

function tables(): string[] {
  return query("SELECT name FROM sqlite_master WHERE type = 'table'")
}

function tokens(): string[] {
  return query('SELECT name FROM api_tokens')
}

function query(sql: string): string[] {
  const database = databaseOf(server.dataDirectory, { readOnly: true })
  try {
    return database
      .prepare(sql)
      .all()
      .map(({ name }) => String(name))
  } finally {
    database.close()
  }
}

/** What an upgrade that is decided leaves nothing of. */
function leftovers(): string[] {
  return ['upgrade.json', 'upgrade-back.json', 'deployer.db.part'].filter((name) =>
    existsSync(join(server.dataDirectory, name)),
  )
}
