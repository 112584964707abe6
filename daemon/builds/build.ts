import { realpath, rm, stat } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { join, relative } from 'node:path'
import { archivePath } from '#server/archives.ts'
import { tellDeploy } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import type { DeploySource } from '#server/deploys/schema.ts'
import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { makePrivateDirectory } from '#server/files.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { resolveVariables, type ImageFacts } from '../deploys/snapshot.ts'
import { unpackArchive } from '../sources/archive.ts'
import { checkout } from '../sources/git.ts'
import type { World } from '../world.ts'
import { packContext } from './context.ts'
import { BuildFailure } from './failure.ts'
import { chooseRecipe } from './recipe.ts'
import { imageTag } from './tags.ts'

/** What a build made: the engine's id, the reference that keeps it, the ports it exposes. */
export interface BuiltImage extends ImageFacts {
  reference: string
}

/**
 * Builds a deploy's image from its repository or archive, within `--build-timeout`.
 * Throws BuildFailure for faults of the source, its plan or its build.
 */
export async function buildImage(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const { buildTimeoutMs, dataDirectory } = useContext().options
  const directory = join(dataDirectory, 'checkouts', deploy.id)
  const timeout = AbortSignal.timeout(buildTimeoutMs)
  const limited = AbortSignal.any([signal, timeout])
  try {
    await rm(directory, { recursive: true, force: true })
    makePrivateDirectory(directory)
    await layOut(deploy, directory, log, limited)
    return await buildTree(world, service, deploy, await rootOf(directory, service.root_dir), log, limited)
  } catch (error) {
    if (timeout.aborted && !signal.aborted) {
      throw new BuildFailure(
        `the build took longer than ${buildTimeoutMs / 60_000} minutes: make it faster, or raise --build-timeout`,
      )
    }
    throw error
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** What is left to everything else on the host while builds run. */
const MEMORY_SHARE = 0.75
const SPARED_CPUS = 0.25

/** What all builds together may take, so that they leave the host usable. */
function buildLimits(): { memoryBytes: number; cpus: number } {
  return {
    memoryBytes: Math.floor(totalmem() * MEMORY_SHARE),
    cpus: Math.max(1, availableParallelism()) - SPARED_CPUS,
  }
}

/** Puts the source tree into the directory, and what is known of its commit into the record. */
async function layOut(
  deploy: DeployRow,
  directory: string,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const { options, vault } = useContext()
  const source = JSON.parse(deploy.source) as DeploySource
  if (source.kind === 'archive') {
    log.system('unpacking the uploaded archive')
    await unpackArchive(archivePath(deploy.archive_id!), directory, signal)
    return
  }
  log.system(`cloning ${source.repo_url}`)
  const head = await checkout({
    url: deploy.repo_credentials === null ? source.repo_url! : vault.open(deploy.repo_credentials),
    branch: source.branch,
    commit: source.commit,
    directory,
    sshKeyFile: join(options.dataDirectory, 'ssh', 'id_ed25519'),
    knownHostsFile: join(options.dataDirectory, 'ssh', 'known_hosts'),
    signal,
    onLine: (line) => log.output('stdout', line),
  })
  updateDeploy(deploy.id, { commit_sha: head.sha, commit_message: head.message })
  tellDeploy(deploy.id, deploy.service_id)
  log.system(`commit ${head.sha} ${head.message.split('\n')[0]}`)
}

/** `root_dir` inside the tree; links that lead out of it count as missing. */
async function rootOf(directory: string, rootDir: string | null): Promise<string> {
  if (rootDir === null) return directory
  const base = await realpath(directory)
  const root = await realpath(join(base, rootDir)).catch(() => null)
  const isInside = root !== null && !relative(base, root).startsWith('..')
  if (!isInside || !(await stat(root)).isDirectory()) {
    throw new BuildFailure(`root_dir ${rootDir} is no folder of the source: correct it`)
  }
  return root
}

async function buildTree(
  world: World,
  service: ServiceRow,
  deploy: DeployRow,
  root: string,
  log: LogWriter,
  signal: AbortSignal,
): Promise<BuiltImage> {
  const variables = resolveVariables(service)
  const recipe = await chooseRecipe(service, root, variables, log)
  const reference = imageTag(service.id, deploy.id)
  const context = await packContext(root, recipe.file)
  for (const note of context.notes) log.system(note)
  if (!world.engine.limitBuilds(buildLimits())) {
    log.system('builds cannot be limited on this engine; the time limit and --build-concurrency hold')
  }
  const id = await world.engine.images.build(context.tar, {
    tag: reference,
    dockerfile: context.dockerfilePath,
    // A declared argument stays in the image's history; the secrets do not.
    buildArgs: Object.fromEntries(
      Object.entries(variables).filter(([key]) => recipe.declaredArguments.includes(key)),
    ),
    labels: { 'deployer.service': service.id, 'deployer.deploy': deploy.id },
    noCache: deploy.clear_cache === 1,
    secrets: variables,
    signal,
    onLine: (line, stream) => log.output(stream, line),
  })
  const image = await world.engine.images.inspect(id)
  return { id, reference, exposedPorts: image?.exposedPorts ?? [] }
}
