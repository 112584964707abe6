import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { dockerfilePathOf, packContext, type BuildFile } from '#daemon/builds/context.ts'
import { choosePlan, type ChosenPlan } from '#daemon/builds/plans/index.ts'
import { NO_SETTINGS, type PlanSettings } from '#daemon/builds/plans/plan.ts'
import { waitFor } from '../support/wait.ts'
import { never, openBench, type Bench } from './engine-support.ts'
import { APPLICATIONS, SITE, type SmallApplication } from './plans-applications.ts'

let bench: Bench
let directory: string
let builds = 0
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'plans-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A first build pulls its base image and compiles; longer is a hang. */
const BUILD_LIMIT_MS = 240_000
const PORT = '8123'
const MIB = 1024 * 1024

/** Builds the files with the plan that `auto` takes for them; the build sees the variable COLOUR. */
async function build(
  files: Record<string, string>,
  processType: PlanSettings['processType'] = 'web',
): Promise<{ plan: ChosenPlan; image: string; log: string }> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
  const plan = await choosePlan('auto', directory, {
    ...NO_SETTINGS,
    secretNames: ['COLOUR'],
    processType,
  })
  const file: BuildFile = { kind: 'plan', content: plan.dockerfile, ignore: plan.ignore }
  const tar = new PassThrough()
  const packing = packContext({ root: directory, file }, tar)
  const lines: string[] = []
  const image = await bench.engine.images
    .build(tar, {
      tag: `${bench.serverId}:plan-${++builds}`,
      dockerfile: dockerfilePathOf(file),
      secrets: { COLOUR: 'green' },
      signal: never(),
      onLine: (line) => lines.push(line),
    })
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${lines.slice(-30).join('\n')}`, { cause: error })
    })
  await packing
  return { plan, image, log: lines.join('\n') }
}

async function logsOf(name: string): Promise<string> {
  const lines: string[] = []
  for await (const entry of bench.engine.containers.logs(name, { signal: AbortSignal.timeout(5_000) }))
    lines.push(entry.line)
  return lines.join('\n')
}

test.each<[string, SmallApplication]>(Object.entries(APPLICATIONS))(
  'a small application in %s is built, serves on its port as a user of its own, and ends on SIGTERM',
  async (language, { files, exitCodes }) => {
    const { plan, image } = await build(files)
    expect(plan.name).toBe(language)
    const name = `${bench.serverId}-${language}`
    const address = `${bench.prefix}${20 + builds}`
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
      30_000,
    ).catch(async (cause: unknown) => {
      throw new Error(`no answer; the program said:\n${await logsOf(name)}`, { cause })
    })
    expect(text.trim()).toBe('hello from 1000')
    const ended = bench.engine.containers.wait(name, never())
    await bench.engine.containers.stop(name, 20)
    expect(exitCodes).toContain((await ended).exitCode)
  },
  BUILD_LIMIT_MS,
)

test(
  "a site's image holds what the build made of the variables, where the plan says",
  async () => {
    const { plan, image } = await build(SITE, 'static')
    expect(plan.publishDirectory).toBe('public_html')
    const { command: _none, ...spec } = bench.spec('', { image })
    await bench.engine.containers.create({ ...spec, command: ['cat', 'public_html/index.html'] })
    await bench.engine.containers.start(spec.name)
    await bench.engine.containers.wait(spec.name, never())
    expect(await logsOf(spec.name)).toContain('green')
  },
  BUILD_LIMIT_MS,
)
