import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { never, openBench, type Bench } from './engine-support.ts'
import { buildPlanned } from './planned-image.ts'
import { APPLICATIONS, EMBEDDING, SITE } from './plans-applications.ts'

let bench: Bench
let directory: string
let applications = 0
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'plans-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A first build pulls its base image and compiles; longer is a hang. */
const BUILD_LIMIT_MS = 600_000
const PORT = '8123'
const MIB = 1024 * 1024

async function logsOf(name: string): Promise<string> {
  const lines: string[] = []
  for await (const entry of bench.engine.output.logs(name, { signal: AbortSignal.timeout(5_000) }))
    lines.push(entry.line)
  return lines.join('\n')
}

for (const [language, { files, exitCodes, isSlow }] of Object.entries(APPLICATIONS))
  test(
    `a small application in ${language} is built, serves on its port as a non-root user, and exits on SIGTERM`,
    { tags: isSlow ? ['slow'] : [], timeout: BUILD_LIMIT_MS },
    async () => {
      const { plan, image } = await buildPlanned(bench, directory, files)
      expect(plan.name).toBe(language)
      const name = `${bench.serverId}-${language}`
      const address = `${bench.prefix}${20 + ++applications}`
      const { env, ...spec } = bench.spec('', { name, image, address, memoryBytes: 512 * MIB })
      delete spec.command
      await bench.engine.containers.create({ ...spec, env: { ...env, PORT } })
      await bench.engine.containers.start(name)
      const text = await waitFor(
        () =>
          fetch(`http://${address}:${PORT}/`, { signal: AbortSignal.timeout(2_000) }).then(
            async (response) => (response.ok ? await response.text() : null),
            () => null,
          ),
        `an answer of ${language}`,
      ).catch(async (cause: unknown) => {
        throw new Error(`no answer; the program said:\n${await logsOf(name)}`, { cause })
      })
      expect(text.trim()).toBe('hello from 1000')
      const ended = bench.engine.containers.wait(name, never())
      await bench.engine.containers.stop(name, 20)
      expect(exitCodes).toContain((await ended).exitCode)
    },
  )

test(
  "a site's image holds what the build made of the variables, where the plan says",
  async () => {
    const { plan, image } = await buildPlanned(bench, directory, SITE, { processType: 'static' })
    expect(plan.publishDirectory).toBe('public_html')
    const { command: _none, ...spec } = bench.spec('', { image })
    await bench.engine.containers.create({ ...spec, command: ['cat', 'public_html/index.html'] })
    await bench.engine.containers.start(spec.name)
    await bench.engine.containers.wait(spec.name, never())
    expect(await logsOf(spec.name)).toContain('green')
  },
  BUILD_LIMIT_MS,
)

test(
  'a Go program embeds the pages that npm built in a folder of the source, and not their packages',
  { tags: ['slow'], timeout: BUILD_LIMIT_MS },
  async () => {
    // Node needs it, and the stand's Go image has no C compiler that brings it.
    const { image } = await buildPlanned(bench, directory, EMBEDDING, { aptPackages: ['libatomic1'] })
    const { command: _none, ...spec } = bench.spec('', { image })
    await bench.engine.containers.create({ ...spec, command: ['sh', '-c', 'bin/server; ls web'] })
    await bench.engine.containers.start(spec.name)
    await bench.engine.containers.wait(spec.name, never())
    expect(await logsOf(spec.name)).toBe(
      '<h1>an inbox</h1>\ndist\nembed.go\npackage-lock.json\npackage.json\npage',
    )
  },
)
