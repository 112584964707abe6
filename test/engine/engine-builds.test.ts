import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type BuildOptions } from '#daemon/engine/index.ts'
import { startPrivateRegistry, type PrivateRegistry } from '../stand/registry.ts'
import { standEngine } from '../support/stand-setup.ts'
import { waitFor } from '../support/wait.ts'
import { cacheIds, memoryLedger, never, openBench, tarOf, type Bench } from './engine-support.ts'

let bench: Bench
let builds = 0
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())

interface Built {
  id: string
  lines: string[]
  /** Lines with the stream they came on. */
  streams: [string, 'stdout' | 'stderr'][]
}

async function build(
  files: Record<string, string> | Readable,
  more: Partial<BuildOptions> = {},
): Promise<Built> {
  const streams: [string, 'stdout' | 'stderr'][] = []
  const id = await bench.engine.images.build(files instanceof Readable ? files : tarOf(files), {
    tag: `${bench.serverId}:${++builds}`,
    dockerfile: 'Dockerfile',
    signal: never(),
    onLine: (line, stream) => streams.push([line, stream]),
    ...more,
  })
  return { id, lines: streams.map(([line]) => line), streams }
}

async function sha256(value: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value))).toString('hex')
}

/** A build that must fail: its error. */
async function failure(
  files: Record<string, string>,
  more?: Partial<BuildOptions>,
): Promise<{ code: string; message: string }> {
  return build(files, more).then(
    () => {
      throw new Error('the build did not fail')
    },
    (error: unknown) => error as { code: string; message: string },
  )
}

describe('a build', () => {
  test('makes an image and reports its steps and their output', async () => {
    const nonce = `${bench.serverId}-print`
    const Dockerfile = `FROM busybox:1\nRUN echo ${nonce}; echo to the log >&2; printf unfinished\nEXPOSE 3000 53/udp 80\nUSER nobody\nCMD ["sh", "-c", "echo from the image"]\n`
    const { id, lines, streams } = await build({ Dockerfile }, { labels: { colour: 'red' } })
    expect(streams).toContainEqual([nonce, 'stdout'])
    expect(streams).toContainEqual(['to the log', 'stderr'])
    expect(streams).toContainEqual(['unfinished', 'stdout'])
    const heading = lines.findIndex((line) => /^#\d+ \[2\/2\] RUN echo/.test(line))
    expect(heading).toBeGreaterThanOrEqual(0)
    expect(lines.indexOf(nonce)).toBeGreaterThan(heading)
    expect(lines.slice(lines.indexOf('unfinished')).join('\n')).toMatch(/#\d+ DONE \d+\.\ds/)
    const image = await bench.engine.images.inspect(id)
    expect(image).toMatchObject({
      id,
      tags: [expect.stringMatching(/:\d+$/)],
      exposedPorts: [80, 3_000],
      user: 'nobody',
      cmd: ['sh', '-c', 'echo from the image'],
      os: 'linux',
      labels: { colour: 'red', 'deployer-image.server': bench.serverId },
    })
    expect(bench.engine.images.names()).toContain(image!.tags[0])
  })

  test('uses what an earlier one made, unless told not to', async () => {
    const files = { Dockerfile: `FROM busybox:1\nRUN echo ${bench.serverId}-cache\n` }
    await build(files)
    const again = await build(files)
    expect(again.lines.join('\n')).toMatch(/#\d+ CACHED/)
    expect(again.lines).not.toContain(`${bench.serverId}-cache`)
    const anew = await build(files, { noCache: true })
    expect(anew.lines).toContain(`${bench.serverId}-cache`)
  })

  test('accepts arguments, a target stage and a Dockerfile elsewhere', async () => {
    const value = `a "b" $c\né`
    const Dockerfile = `FROM busybox:1 AS first\nARG WORD\nRUN printf %s "$WORD" | sha256sum\nFROM first AS second\nRUN false\n`
    const more = { dockerfile: 'deep/file', target: 'first', buildArgs: { WORD: value }, noCache: true }
    const { lines } = await build({ 'deep/file': Dockerfile }, more)
    expect(lines).toContain(`${await sha256(value)}  -`)
  })

  test('does not reveal the values of its arguments in the names of its steps', async () => {
    const Dockerfile = `FROM busybox:1\nARG TOKEN\nRUN test -n "$TOKEN"; echo $TOKEN | wc -c; exit 4\n`
    const lines: string[] = []
    const more = {
      buildArgs: { TOKEN: 'very\nsecret' },
      noCache: true,
      onLine: (line: string) => lines.push(line),
    }
    const { message } = await failure({ Dockerfile }, more)
    expect([...lines, message].join('\n')).not.toContain('secret')
    expect(lines.some((line) => /^#\d+ \[2\/2\] RUN test -n "\$TOKEN"/.test(line))).toBe(true)
  })

  test('gives a step its secrets byte for byte, and keeps them out of the image', async () => {
    const secret = `s3cr-${bench.serverId} "x"\n$y\n`
    const Dockerfile = `FROM busybox:1\nRUN --mount=type=secret,id=TOKEN,required=true sha256sum < /run/secrets/TOKEN | cut -d' ' -f1; test ! -e /run/secrets/OTHER\nCMD ["sh"]\n`
    const { id, lines } = await build(
      { Dockerfile },
      { secrets: { TOKEN: secret, OTHER: 'unused' }, noCache: true },
    )
    expect(lines).toContain(await sha256(secret))
    expect(JSON.stringify(await bench.engine.images.inspect(id))).not.toContain('s3cr-')
  })

  test('says which step each line belongs to when steps run in parallel', { tags: ['slow'] }, async () => {
    const loop = (name: string) => `RUN for i in 1 2 3; do echo ${name} $i; sleep 0.2; done; touch /${name}`
    const Dockerfile = `FROM busybox:1 AS a\n${loop('left')}\nFROM busybox:1 AS b\n${loop('right')}\nFROM busybox:1\nCOPY --from=a /left /\nCOPY --from=b /right /\n`
    const { lines } = await build({ Dockerfile }, { noCache: true })
    let current = ''
    const misplaced = lines.filter((line) => {
      current = /^#\d+ (\[.*)/.exec(line)?.[1] ?? current
      const word = /^(left|right) \d$/.exec(line)?.[1]
      return word !== undefined && !current.includes(word)
    })
    expect(misplaced).toEqual([])
    expect(lines.filter((line) => /^(left|right) \d$/.test(line))).toHaveLength(6)
  })

  test('completes although a step prints a great deal', async () => {
    const Dockerfile = `FROM busybox:1\nRUN seq 1 60000; echo the end\n`
    const { lines } = await build({ Dockerfile }, { noCache: true })
    expect(lines).toContain('1000')
    expect(lines.every((line) => line.length <= 16_384)).toBe(true)
  })

  test('is limited together with all others by the control group above its steps', async () => {
    const limit = 3 * 1024 ** 3
    const pids = 321
    const { memoryBytes, cpus } = await bench.engine.info()
    expect(bench.engine.limitBuilds({ memoryBytes: limit, cpus: 2, pids })).toEqual([])
    try {
      expect(read('memory/docker/buildkit/memory.limit_in_bytes', 'docker/buildkit/memory.max')).toBe(
        String(limit),
      )
      expect(read('pids/docker/buildkit/pids.max', 'docker/buildkit/pids.max')).toBe(String(pids))
      const Dockerfile = 'FROM busybox:1\nRUN cat /proc/self/cgroup\n'
      const { lines } = await build({ Dockerfile }, { noCache: true })
      expect(lines.join('\n')).toContain('/docker/buildkit/')
      expect(lines.join('\n')).toMatch(/pids:\/docker\/buildkit\/|^0::\/docker\/buildkit\//m)
    } finally {
      bench.engine.limitBuilds({ memoryBytes, cpus, pids: 8_192 })
    }
  })

  test('that starts more processes than builds may is stopped by the kernel', async () => {
    const { memoryBytes, cpus } = await bench.engine.info()
    const Dockerfile = 'FROM busybox:1\nRUN for i in $(seq 400); do sleep 5 & done; echo all started\n'
    try {
      // A server of another test that starts meanwhile sets the limits of the engine's builds to its own.
      let error: Awaited<ReturnType<typeof failure>> | null = null
      for (let attempt = 0; attempt < 5 && error === null; attempt++) {
        bench.engine.limitBuilds({ memoryBytes, cpus, pids: 300 })
        error = await failure({ Dockerfile }, { noCache: true }).catch(() => null)
      }
      expect(error?.message).toMatch(/failed with exit code/)
    } finally {
      bench.engine.limitBuilds({ memoryBytes, cpus, pids: 8_192 })
    }
  })

  test('says which limits cannot be set before the engine has reported its version', () => {
    const engine = createEngine({ dockerHost: standEngine(), serverId: 'x', ledger: memoryLedger() })
    expect(engine.limitBuilds({ memoryBytes: 1, cpus: 1, pids: 1 })).toEqual(['memory', 'CPU', 'processes'])
  })
})

describe('the build cache', () => {
  test('is known also to a server that was killed during a build', { tags: ['slow'] }, async () => {
    const path = `/${bench.serverId}-killed`
    const Dockerfile = `FROM busybox:1\nARG WORD\nRUN echo $WORD > ${path}\nRUN echo ready; sleep 3; echo $WORD > /b\n`
    const next = createEngine({ dockerHost: standEngine(), serverId: bench.serverId, ledger: bench.ledger })
    let seen: Promise<number> | undefined
    const building = build(
      { Dockerfile },
      {
        buildArgs: { WORD: bench.serverId },
        onLine: (line) => {
          if (line === 'ready') seen ??= next.shrinkBuildCache(1024 ** 4)
        },
      },
    )
    await waitFor(() => seen !== undefined, 'the second step')
    await seen
    const [first] = await cacheIds(`echo $WORD > ${path}`)
    expect(bench.ledger.find('build_cache', first!)).toMatchObject({ engine_id: first })
    await building
    await bench.engine.shrinkBuildCache(1024 ** 4)
    expect(bench.ledger.list('build_cache').filter(({ engine_id }) => engine_id === null)).toEqual([])
  })

  test('of a step that ran when its build was canceled is known', async () => {
    const folder = `/${bench.serverId}-canceled`
    const controller = new AbortController()
    const mount = `--mount=type=cache,id=${bench.serverId},target=${folder}`
    const building = build(
      { Dockerfile: `FROM busybox:1\nRUN ${mount} echo ready; sleep 60\n` },
      {
        signal: controller.signal,
        onLine: (line) => {
          if (line === 'ready') controller.abort(new Error('canceled by the user'))
        },
      },
    )
    await expect(building).rejects.toThrow('canceled by the user')
    await bench.engine.shrinkBuildCache(1024 ** 4)
    const left = await cacheIds(`cached mount ${folder} from exec`)
    expect(left).toHaveLength(1)
    expect(bench.ledger.find('build_cache', left[0]!)).toMatchObject({ engine_id: left[0] })
  })

  test('is pruned of what this server built, and of nothing else', async () => {
    const nonce = `${bench.serverId}-own`
    await build({ Dockerfile: `FROM busybox:1\nRUN echo ${nonce} > /a\nCOPY b /b\n`, b: nonce })
    const step = `echo ${nonce} > `
    const isRecorded = (id: string) => bench.ledger.find('build_cache', id) !== undefined
    const [own] = await cacheIds(step)
    expect(isRecorded(own!)).toBe(false)
    await bench.engine.shrinkBuildCache(1024 ** 4)
    expect(isRecorded(own!)).toBe(true)
    const foreign = createEngine({
      dockerHost: standEngine(),
      serverId: 'another-server',
      ledger: memoryLedger(),
    })
    const tag = `${bench.serverId}/foreign:1`
    await foreign.images.build(tarOf({ Dockerfile: `FROM busybox:1\nRUN echo ${nonce}-foreign > /a\n` }), {
      tag,
      dockerfile: 'Dockerfile',
      signal: never(),
      onLine: () => {},
    })
    await foreign.images.remove(tag)
    for (const name of bench.engine.images.names()) await bench.engine.images.remove(name)
    const others = await cacheIds(`${nonce}-foreign`)
    expect(others).toHaveLength(1)
    await bench.engine.shrinkBuildCache(1024 ** 4)
    expect(await cacheIds(step)).toEqual([own])
    await bench.engine.shrinkBuildCache(0)
    expect(await cacheIds(step)).toEqual([])
    expect(await cacheIds(`${nonce}-foreign`)).toEqual(others)
    // Removed records are forgotten at the next check.
    await bench.engine.shrinkBuildCache(0)
    expect(isRecorded(own!)).toBe(false)
  })
})

/** The content of the control group's file, by its place under cgroup v1 or v2. */
function read(...files: string[]): string | undefined {
  const found = files.map((file) => `/sys/fs/cgroup/${file}`).find((file) => existsSync(file))
  return found && readFileSync(found, 'utf8').trim()
}

describe('a build that fails', () => {
  test('names the step and its exit code', async () => {
    const error = await failure(
      { Dockerfile: `FROM busybox:1\nRUN echo before; exit 3\n` },
      { noCache: true },
    )
    expect(error).toMatchObject({ code: 'build_failed' })
    expect(error.message).toBe('the step "[2/2] RUN echo before; exit 3" failed with exit code 3\nbefore')
  })

  test.each([
    [
      'an unknown instruction',
      { Dockerfile: 'FROM busybox:1\nFLY away\n' },
      /Dockerfile cannot be read.*line 2.*FLY/,
    ],
    ['no Dockerfile', { other: '' }, /there is no Dockerfile at Dockerfile/],
    ['an empty Dockerfile', { Dockerfile: '# nothing\n' }, /the Dockerfile is empty/],
    [
      'a missing file',
      { Dockerfile: 'FROM busybox:1\nCOPY missing.txt /\n' },
      /there is no missing\.txt in the source/,
    ],
    [
      'a missing base image',
      { Dockerfile: 'FROM no-such-base:9\n' },
      /the base image no-such-base:9 cannot be pulled/,
    ],
    [
      'a missing secret',
      { Dockerfile: 'FROM busybox:1\nRUN --mount=type=secret,id=LOST,required=true true\n' },
      /secret LOST/,
    ],
  ])('says so for %s', async (_, files, pattern) => {
    const error = await failure(files)
    expect(error).toMatchObject({ code: 'build_failed', message: expect.stringMatching(pattern) })
  })

  test('leaves the engine usable when its source breaks off', async () => {
    const broken = new Readable({
      read() {
        setTimeout(() => this.destroy(new Error('the disk is gone')), 100)
      },
    })
    await expect(build(broken)).rejects.toMatchObject({
      message: expect.stringContaining('the disk is gone'),
    })
    await build({ Dockerfile: 'FROM busybox:1\n' })
  })
})

describe('canceling a build', () => {
  test("ends the running step and throws the signal's reason", async () => {
    const marker = `7${Math.floor(Math.random() * 1e6)}.5`
    const controller = new AbortController()
    const reason = new Error('canceled by the user')
    const building = build(
      { Dockerfile: `FROM busybox:1\nRUN echo started; sleep ${marker}\n` },
      {
        signal: controller.signal,
        noCache: true,
        onLine: (line) => {
          if (line === 'started') controller.abort(reason)
        },
      },
    )
    await expect(building).rejects.toBe(reason)
    await expect.poll(() => isRunning(marker), { timeout: 10_000 }).toBe(false)
  })

  test('before it began prevents its start', async () => {
    const reason = new Error('too late')
    await expect(
      build({ Dockerfile: 'FROM busybox:1\n' }, { signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason)
  })
})

/** Whether a process of the host has the text among its arguments. */
function isRunning(argument: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
    } catch {
      return false
    }
  })
}

describe('a base image of a private registry', () => {
  let registry: PrivateRegistry
  beforeAll(async () => {
    registry = await startPrivateRegistry()
    await registry.push('busybox:1', 'team/base:1')
  })
  afterAll(() => registry.close())

  test('is pulled with the credentials that the build offers', async () => {
    const asked: string[] = []
    const { id } = await build(
      { Dockerfile: `FROM ${registry.host}/team/base:1\nLABEL made=yes\n` },
      {
        registryAuth: (host) => {
          asked.push(host)
          return Promise.resolve({ username: registry.username, password: registry.password })
        },
      },
    )
    expect(await bench.engine.images.inspect(id)).toMatchObject({ labels: { made: 'yes' } })
    expect(asked).toContain(registry.host)
  })

  test('reports that it needs credentials if it may not be pulled', async () => {
    const error = await failure(
      { Dockerfile: `FROM ${registry.host}/team/base:1\nLABEL made=${Math.random()}\n` },
      { noCache: true, registryAuth: () => Promise.resolve(null) },
    )
    expect(error).toMatchObject({ code: 'build_failed', message: expect.stringMatching(/credentials/) })
  })
})
