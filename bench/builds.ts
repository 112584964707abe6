// Measures a build after a one-line change, and the size of the image: compared to the Dockerfile that the tool's
// documentation gives, where there is one, else to building the plan's own Dockerfile by hand.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { NO_SETTINGS, planDirectory } from '#plans/index.ts'
import { packContext, type BuildFile } from '../daemon/builds/context.ts'
import { commit, createRepository, startGitHttp } from '../test/stand/git.ts'
import type { TestServer } from '../test/support/server.ts'
import { APPLICATIONS, type Application, type Files } from './lib/applications.ts'
import { buildByHand } from './lib/build-by-hand.ts'
import { DOCUMENTED, type Documented } from './lib/documented.ts'
import { formatMib, median, withServer } from './lib/stand.ts'

const ROUNDS = 5
/** A replaced version is stopped 5 s later, which should not slow down a build of the next round. */
const PAUSE_MS = 6_000
/** Often enough to continue soon; each poll takes CPU time from the build. */
const POLL_EVERY_MS = 100
/** Added to every file that changes: otherwise the result of an earlier run would be in the engine's cache. */
const RUN = randomUUID().slice(0, 8)
const IMAGE = 'deployer-bench'
const run = promisify(execFile)

await withServer(async (server, dockerHost) => {
  const docker = (...args: string[]) => run('docker', ['-H', dockerHost, ...args])
  const remote = await startGitHttp()
  for (const [name, application] of chosen()) {
    const { dockerfile = null, lock = null } = application
    const files = { ...application.files, ...(await lock?.(application.files)) }
    const version = (text: string): Files => application.change(`${text} ${RUN}`)
    const repository = await createRepository({ ...files, ...version('first') })
    const slug = name.toLowerCase().replaceAll(/[^a-z]+/g, '-')
    const service = { name: slug, repo_url: remote.url(repository) }
    const { body } = await server.api('POST', '/services', service)
    await phasesOf(server, body.latest_deploy.id)
    const { base } = await buildManually(dockerHost, { ...files, ...version('first') }, null)
    const bytes = await sizeOf(IMAGE)
    const own = bytes - (await sizeOf(base))
    await docker('image', 'rm', IMAGE)
    if (dockerfile !== null)
      await buildManually(dockerHost, { ...files, ...version('hand first') }, dockerfile)
    const documented = dockerfile === null ? null : await sizeOf(IMAGE)
    const ours: Phases[] = []
    const byHand: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await delay(PAUSE_MS)
      const made = await buildManually(dockerHost, { ...files, ...version(`hand ${round}`) }, dockerfile)
      byHand.push(made.took)
      await docker('image', 'rm', IMAGE)
      await commit(repository, version(`server ${round}`), `round ${round}`)
      const deploy = await server.api('POST', `/services/${slug}/deploys`)
      ours.push(await phasesOf(server, deploy.body.id))
    }
    const hand = median(byHand)
    const figure = (phase: (phases: Phases) => number): string => `${median(ours.map(phase)).toFixed(0)} ms`
    const ratio = (phase: (phases: Phases) => number): string => (median(ours.map(phase)) / hand).toFixed(2)
    console.log(
      `${name}: build ${figure(({ build }) => build)}, by hand ${hand.toFixed(0)} ms (ratio ${ratio(({ build }) => build)}; aim: at most 1.15)`,
    )
    console.log(
      `  with the source and the plan before it (${figure(({ source }) => source)}) ${figure(({ source, build }) => source + build)} (ratio ${ratio(({ source, build }) => source + build)}); image ${formatMib(bytes)}, of which ${formatMib(own)} on top of ${base}${documented === null ? '' : `; by hand ${formatMib(documented)}`}`,
    )
  }
  await remote.close()

  async function sizeOf(image: string): Promise<number> {
    return Number((await docker('image', 'inspect', '-f', '{{.Size}}', image)).stdout)
  }
})

/** Returns all applications, or those named on the command line. */
function chosen(): [string, Application & Partial<Documented>][] {
  const names = process.argv.slice(2)
  return Object.entries({ ...DOCUMENTED, ...APPLICATIONS }).filter(
    ([name]) => names.length === 0 || names.includes(name),
  )
}

/** What a deploy did until it had its image. */
interface Phases {
  /** Milliseconds from its start until it has the files and knows how to build them. */
  source: number
  /** Milliseconds from then until it has the image. */
  build: number
}

/** Waits until a deploy is live, and reads the times from its log. */
async function phasesOf(server: TestServer, id: string): Promise<Phases> {
  for (;;) {
    const { body: deploy } = await server.api('GET', `/deploys/${id}`)
    if (/failed|canceled/.test(deploy.status)) throw new Error(`${deploy.status}: ${deploy.error}`)
    if (deploy.status === 'live') {
      const log = (await server.api('GET', `/deploys/${id}/logs`)).body as string
      const planned = momentOf(log, 'building with the plan')
      return {
        source: planned - Date.parse(deploy.started_at),
        build: momentOf(log, 'starting 1 instance') - planned,
      }
    }
    await delay(POLL_EVERY_MS)
  }
}

function momentOf(log: string, line: string): number {
  const found = log.split('\n').find((event) => event.includes(`"line":"${line}`))
  if (found === undefined) throw new Error(`the log has no line "${line}"`)
  return Date.parse((JSON.parse(found.slice('data: '.length)) as { ts: string }).ts)
}

interface ManualBuild {
  took: number
  /** The base image that it was built from. */
  base: string
}

/**
 * Gives a Dockerfile with its context to the engine's BuildKit, as its own client would; without one, the plan's own.
 */
async function buildManually(
  dockerHost: string,
  files: Files,
  dockerfile: string | null,
): Promise<ManualBuild> {
  const folder = await mkdtemp(join(tmpdir(), 'deployer-bench-'))
  const tree = join(folder, 'tree')
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(tree, name)), { recursive: true })
    await writeFile(join(tree, name), content)
  }
  const context = join(folder, 'context.tar')
  const plan = await planDirectory('auto', tree, { ...NO_SETTINGS, cacheScope: 'bench' })
  const { dockerfile: content, ignore, manifests } = plan
  if (dockerfile !== null) await writeFile(join(tree, 'Dockerfile'), dockerfile)
  const file: BuildFile =
    dockerfile === null ? { kind: 'plan', content, ignore, manifests } : { kind: 'tree', path: 'Dockerfile' }
  const began = performance.now()
  await packContext({ root: tree, file }, createWriteStream(context))
  await buildByHand(dockerHost, context, IMAGE)
  const took = performance.now() - began
  await rm(folder, { recursive: true, force: true })
  return { took, base: baseOf(content) }
}

/** Returns the base image of the last stage, which may come from an earlier stage. */
function baseOf(dockerfile: string): string {
  const stages = new Map<string, string>()
  let base = ''
  for (const [, image = '', name] of dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)) {
    base = stages.get(image) ?? image
    if (name !== undefined) stages.set(name, base)
  }
  return base
}
