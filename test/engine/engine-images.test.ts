import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { registryCredentials } from '#daemon/engine/credentials.ts'
import { formatReference, parseReference } from '#server/images/reference.ts'
import { startPrivateRegistry, type PrivateRegistry } from '../stand/registry.ts'
import { docker } from './live.ts'
import { never, openBench, type Bench } from './engine-support.ts'

let bench: Bench
let registry: PrivateRegistry
beforeAll(async () => {
  bench = await openBench()
  registry = await startPrivateRegistry()
  await registry.push('busybox:1', 'team/app:2')
})
afterAll(async () => {
  await registry.close()
  await bench.close()
})

const quiet = { signal: never(), onLine: () => {} }

/** A Docker `config.json` for this process while a test runs. */
const before = process.env.DOCKER_CONFIG
let configuration: string | undefined
function writeConfiguration(value: unknown): string {
  configuration = mkdtempSync(join(tmpdir(), 'deployer-config-'))
  writeFileSync(join(configuration, 'config.json'), typeof value === 'string' ? value : JSON.stringify(value))
  process.env.DOCKER_CONFIG = configuration
  return configuration
}
afterEach(() => {
  if (before === undefined) delete process.env.DOCKER_CONFIG
  else process.env.DOCKER_CONFIG = before
  if (configuration) rmSync(configuration, { recursive: true })
  configuration = undefined
})

describe('a pull', () => {
  test('brings an image and reports its id, its digest and its progress', async () => {
    const lines: string[] = []
    const { id, digest } = await bench.engine.images.pull('busybox:1', {
      signal: never(),
      onLine: (line) => lines.push(line),
    })
    expect(id).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(lines.length).toBeGreaterThan(0)
    expect(await bench.engine.images.inspect('busybox:1')).toMatchObject({ id, os: 'linux', cmd: ['sh'] })
    const again = await bench.engine.images.pull(`busybox@${digest}`, quiet)
    expect(again).toEqual({ id, digest })
  })

  test('of a missing image says so', async () => {
    const pull = bench.engine.images.pull(`${registry.host}/team/app:none`, {
      ...quiet,
      registryAuth: () => Promise.resolve({ username: registry.username, password: registry.password }),
    })
    await expect(pull).rejects.toMatchObject({
      code: 'runtime_error',
      message: 'the registry has no such image or tag',
    })
  })

  test('from an unreachable registry says so', async () => {
    await expect(bench.engine.images.pull('127.0.0.1:9/team/app:1', quiet)).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('connection refused'),
    })
  })

  test('of something that is not a reference is refused before the engine is asked', async () => {
    await expect(bench.engine.images.pull('Team/App:1 2', quiet)).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('from a private registry uses the given credentials, or those of config.json', async () => {
    const name = `${registry.host}/team/app:2`
    const credentials = { username: registry.username, password: registry.password }
    await expect(
      bench.engine.images.pull(name, { ...quiet, registryAuth: () => Promise.resolve(credentials) }),
    ).resolves.toMatchObject({
      digest: expect.any(String),
    })
    const auth = Buffer.from(`${registry.username}:${registry.password}`).toString('base64')
    writeConfiguration({ auths: { [registry.host]: { auth } } })
    await expect(bench.engine.images.pull(name, quiet)).resolves.toMatchObject({ digest: expect.any(String) })
  })

  test('from a private registry that refuses credentials uses those that have replaced them by then', async () => {
    const folder = writeConfiguration({ credHelpers: { [registry.host]: 'renewing' } })
    const answers = ['of yesterday', registry.password].map((Secret) =>
      JSON.stringify({ Username: registry.username, Secret }),
    )
    answers.forEach((answer, index) => writeFileSync(join(folder, `answer-${index}`), answer))
    const helper = join(folder, 'docker-credential-renewing')
    const script = [
      '#!/bin/sh',
      `cd ${folder}`,
      'if [ -e asked ]; then cat answer-1; else cat answer-0; fi',
      'echo >> asked',
    ]
    writeFileSync(helper, `${script.join('\n')}\n`)
    chmodSync(helper, 0o755)
    const path = process.env.PATH
    process.env.PATH = `${folder}:${path}`
    try {
      const name = `${registry.host}/team/app:2`
      await expect(bench.engine.images.pull(name, quiet)).resolves.toMatchObject({
        digest: expect.any(String),
      })
      expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe('\n\n')
    } finally {
      process.env.PATH = path
    }
  })

  test.each([null, { username: 'ci', password: 'wrong' }])(
    'from a private registry with %j is refused',
    async (credentials) => {
      const pull = bench.engine.images.pull(`${registry.host}/team/app:2`, {
        ...quiet,
        registryAuth: () => Promise.resolve(credentials),
      })
      await expect(pull).rejects.toMatchObject({
        code: 'runtime_error',
        message: expect.stringContaining('docker login'),
      })
    },
  )

  test('ends with the signal', async () => {
    const reason = new Error('enough')
    const pull = bench.engine.images.pull('busybox:1', { ...quiet, signal: AbortSignal.abort(reason) })
    await expect(pull).rejects.toBe(reason)
  })
})

describe('a name that was created by a pull', () => {
  const reference = () => `${registry.host}/team/pulled:1`

  beforeAll(() => registry.push('busybox:1', 'team/pulled:1'))

  async function pull(): Promise<string> {
    const credentials = { username: registry.username, password: registry.password }
    return (
      await bench.engine.images.pull(reference(), {
        ...quiet,
        registryAuth: () => Promise.resolve(credentials),
      })
    ).id
  }

  test('is known as long as it is needed, and is removed', async () => {
    const { images } = bench.engine
    await pull()
    // Another pull finds it there, as its own.
    await pull()
    expect(images.pulled({ except: ['busybox', 'a'.repeat(64)] })).toContain(reference())
    expect(images.pulled({ except: ['busybox', reference()] })).not.toContain(reference())
    expect(images.names()).not.toContain(reference())
    await images.remove(reference())
    expect(await images.inspect(reference())).toBeNull()
    expect(images.pulled({ except: [] })).not.toContain(reference())
  })

  test('is left alone if somebody gave it to another image, or had it before', async () => {
    const { images } = bench.engine
    const id = await pull()
    bench.ledger.record('image', reference(), `${id}0`)
    await images.remove(reference())
    expect(await images.inspect(reference())).toMatchObject({ id })
    await pull()
    expect(images.pulled({ except: [] })).not.toContain(reference())
    await docker('rmi', reference())
  })
})

describe('the names of an image', () => {
  test('are given and removed, and a missing one does not matter', async () => {
    const { images } = bench.engine
    const { id } = (await images.inspect('busybox:1'))!
    await images.tag(id, `${bench.serverId}/app:one`)
    await images.tag(id, `${bench.serverId}/app:two`)
    const names = [`${bench.serverId}/app:one`, `${bench.serverId}/app:two`]
    expect(images.names()).toEqual(names)
    expect((await images.inspect(id))!.tags).toEqual(expect.arrayContaining(names))
    await images.remove(`${bench.serverId}/app:one`)
    await images.remove(`${bench.serverId}/app:one`)
    await images.remove(`${bench.serverId}/app:two`)
    expect(images.names()).toEqual([])
    await expect(images.remove('busybox:1')).rejects.toMatchObject({ code: 'runtime_error' })
    expect(await images.inspect('busybox:1')).toMatchObject({ id })
    expect(await images.inspect('no-such-image:1')).toBeNull()
  })
})

describe('registry credentials', () => {
  test('are read from every form of config.json', async () => {
    const auth = Buffer.from('ada:pass:word').toString('base64')
    const folder = writeConfiguration({
      auths: {
        'https://index.docker.io/v1/': { auth },
        'https://plain.example.com': { username: 'bob', password: 'x' },
        'token.example.com:5000': { identitytoken: 'abc' },
        'empty.example.com': {},
      },
      credHelpers: { 'helped.example.com': 'stand' },
    })
    const helper = join(folder, 'docker-credential-stand')
    writeFileSync(
      helper,
      `#!/bin/sh\nread host\n[ "$host" = helped.example.com ] || exit 1\nprintf '{"Username":"helper","Secret":"from %s"}' "$host"\n`,
    )
    chmodSync(helper, 0o755)
    const path = process.env.PATH
    process.env.PATH = `${folder}:${path}`
    try {
      expect(await registryCredentials('docker.io')).toEqual({ username: 'ada', password: 'pass:word' })
      expect(await registryCredentials('plain.example.com')).toEqual({ username: 'bob', password: 'x' })
      expect(await registryCredentials('token.example.com:5000')).toMatchObject({ identityToken: 'abc' })
      expect(await registryCredentials('empty.example.com')).toBeNull()
      expect(await registryCredentials('helped.example.com')).toEqual({
        username: 'helper',
        password: 'from helped.example.com',
      })
      expect(await registryCredentials('unknown.example.com')).toBeNull()
    } finally {
      process.env.PATH = path
    }
  })

  test('with a broken config.json or a missing helper give an error that names it', async () => {
    writeConfiguration('{')
    await expect(registryCredentials('docker.io')).rejects.toMatchObject({
      code: 'runtime_error',
      message: expect.stringContaining('config.json'),
    })
    rmSync(configuration!, { recursive: true })
    writeConfiguration({ credsStore: 'not-installed' })
    await expect(registryCredentials('docker.io')).rejects.toThrow(/docker-credential-not-installed/)
    rmSync(configuration!, { recursive: true })
    writeConfiguration({ credsStore: '../../bin/sh' })
    await expect(registryCredentials('docker.io')).rejects.toThrow(/an invalid credential helper/)
  })

  test('are empty without a config.json', async () => {
    process.env.DOCKER_CONFIG = '/nonexistent'
    expect(await registryCredentials('docker.io')).toBeNull()
  })
})

describe('an image reference', () => {
  const digest = `sha256:${'a'.repeat(64)}`
  test.each([
    ['node', 'docker.io/library/node'],
    ['node:26', 'docker.io/library/node:26'],
    ['team/api', 'docker.io/team/api'],
    ['index.docker.io/node', 'docker.io/library/node'],
    ['localhost/api', 'localhost/api'],
    ['localhost:5000/api:1', 'localhost:5000/api:1'],
    ['[::1]:5000/api', '[::1]:5000/api'],
    ['registry.example.com/a/b__c/d-e.f:Tag_1.0-x', 'registry.example.com/a/b__c/d-e.f:Tag_1.0-x'],
    [`api@${digest}`, `docker.io/library/api@${digest}`],
    [`r.example.com:443/api:2@${digest}`, `r.example.com:443/api:2@${digest}`],
  ])('%s is read as %s', (reference, whole) => {
    expect(formatReference(parseReference(reference))).toBe(whole)
  })

  test.each([
    '',
    ':1',
    'node:',
    'Node',
    'team/Api',
    'a//b',
    '/a',
    'a/',
    'a b',
    'node:26 ',
    'node:-x',
    `node:${'x'.repeat(129)}`,
    'node@sha256:abc',
    `a@${digest}@${digest}`,
    'a'.repeat(64),
    `${'a/'.repeat(130)}a`,
    'https://r.example.com/api',
    '-x.example.com/a',
    'node\n',
    '..',
    'a..b',
    'a:b:c',
  ])('%j is refused', (reference) => {
    expect(() => parseReference(reference)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})
