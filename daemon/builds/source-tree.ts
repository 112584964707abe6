import { realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { archivePath } from '#server/archives.ts'
import { tellDeploy } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import type { DeploySource, DeployTrigger } from '#server/deploys/schema.ts'
import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import { makePrivateDirectory } from '#server/files.ts'
import { servingConnection, type Serving } from '#server/git/serving.ts'
import type { LogWriter } from '#server/log-files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { Reader } from '../reader/reader.ts'
import { remoteAccess } from '../sources/branches.ts'
import { checkout } from '../sources/git.ts'
import { REMOVE_TREE, UNPACK_ARCHIVE } from '../sources/jobs.ts'
import { clearTree, removeTree } from '../sources/remove-tree.ts'
import { BuildFailure } from './failure.ts'

/** Deploys whose commit was named without the credentials of an administrator. */
const BY_HOOK: ReadonlySet<DeployTrigger> = new Set(['deploy_hook', 'webhook'])

/** The files of a deploy's source while something is made of them. */
export class SourceTree {
  /** Its `root_dir`. */
  readonly root: string
  /** The process that alone looks into its files. */
  readonly reader: Reader
  readonly #directory: string
  #released: Promise<void> | null = null

  constructor(root: string, reader: Reader, directory: string) {
    this.root = root
    this.reader = reader
    this.#directory = directory
  }

  /** Removes the files and ends the process, as soon as neither is needed; may be called more than once. */
  release(): Promise<void> {
    this.#released ??= this.reader
      .ask(REMOVE_TREE, { directory: this.#directory })
      // What it leaves is removed at the end of all.
      .catch(() => {})
      .then(() => this.reader.end())
    return this.#released
  }
}

/**
 * Lays out the source of a deploy's repository or archive, has `work` make something of it, and removes it. All of it
 * within `--build-timeout`, of which the signal that `work` gets knows too.
 * Throws BuildFailure for faults of the source, and when time is up.
 */
export async function withSourceTree<T>(
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
  work: (source: SourceTree, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { buildTimeoutMs, dataDirectory } = useContext().options
  const directory = join(dataDirectory, 'checkouts', deploy.id)
  const timeout = AbortSignal.timeout(buildTimeoutMs)
  const limited = AbortSignal.any([signal, timeout])
  // It starts while git clones.
  const reader = new Reader(limited)
  try {
    await removeTree(directory)
    makePrivateDirectory(directory)
    const tree = join(directory, 'tree')
    await layOut(deploy, tree, reader, log, limited)
    const source = new SourceTree(await rootOf(tree, service.root_dir), reader, directory)
    const made = await work(source, limited)
    await source.release()
    return made
  } catch (error) {
    if (timeout.aborted && !signal.aborted) {
      throw new BuildFailure(
        `the build took longer than ${buildTimeoutMs / 60_000} minutes: make it faster, or raise --build-timeout`,
      )
    }
    throw error
  } finally {
    await reader.end()
    const removed = clearTree(directory)
    // Who cancels does not wait for a slow disk.
    if (!signal.aborted) await removed
  }
}

/** Puts the source tree into the directory, and what is known of its commit into the record. */
async function layOut(
  deploy: DeployRow,
  directory: string,
  reader: Reader,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const { vault } = useContext()
  const source = JSON.parse(deploy.source) as DeploySource
  if (source.kind === 'archive') {
    log.system('unpacking the uploaded archive')
    await reader.ask(UNPACK_ARCHIVE, { path: archivePath(deploy.archive_id!), directory })
    return
  }
  const serving = deploy.repo_credentials === null ? await servingOf(source.repo_url!) : null
  log.system(`cloning ${source.repo_url}${serving ? ` as ${serving.connection.account}` : ''}`)
  const head = await checkout({
    ...remoteAccess(
      deploy.repo_credentials === null ? source.repo_url! : vault.open(deploy.repo_credentials),
    ),
    credentials: serving?.credentials ?? null,
    branch: source.branch,
    commit: source.commit,
    confined: BY_HOOK.has(deploy.trigger),
    directory,
    reader,
    signal,
    onLine: (line) => log.output('stdout', line),
  })
  updateDeploy(deploy.id, {
    commit_sha: head.sha,
    commit_message: head.message,
    source: JSON.stringify({ ...source, branch: head.branch } satisfies DeploySource),
  })
  tellDeploy(deploy.id, deploy.service_id)
  log.system(`commit ${head.sha} ${head.message.split('\n')[0]}`)
}

/** The connection that serves a repository. Throws BuildFailure when it should and cannot. */
async function servingOf(url: string): Promise<Serving | null> {
  try {
    return await servingConnection(url)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new BuildFailure(`${url} cannot be cloned: ${error.message}`, { cause: error })
  }
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
