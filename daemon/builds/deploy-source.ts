import { announceDeploy } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import { archivePath } from '#server/deploys/folders.ts'
import type { DeploySource, DeployTrigger } from '#server/deploys/schema.ts'
import { updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import { servingConnection, type Serving } from '#server/git/serving.ts'
import type { LogWriter } from '#server/logs/files.ts'
import type { ServiceRow } from '#server/services/store.ts'
import { Slots } from '#server/work/slots.ts'
import { BuildFailure } from '#plans/index.ts'
import type { Reader } from '../reader/reader.ts'
import { checkoutAccess } from '../sources/branches.ts'
import { checkout } from '../sources/git.ts'
import { lackingContent } from '../sources/lfs-files.ts'
import { UNPACK_ARCHIVE } from '../sources/reader-calls.ts'
import type { SourceRequest } from './source-tree.ts'
import { withinBuildTimeout } from './time-limit.ts'

/** Triggers whose commit was chosen without the credentials of an administrator. */
const BY_HOOK: ReadonlySet<DeployTrigger> = new Set(['deploy_hook', 'webhook'])

/** Each fetch runs git and a source reader, with a connection to a host of somebody else. */
const FETCHES_AT_ONCE = 4

const slots = new Slots(FETCHES_AT_ONCE)

/** The source of a deploy: its repository's commit, or its archive, within `--build-timeout`. */
export function sourceOfDeploy(
  service: ServiceRow,
  deploy: DeployRow,
  log: LogWriter,
  signal: AbortSignal,
): SourceRequest {
  if (slots.isFull) log.system(`waiting until the sources of ${FETCHES_AT_ONCE} other deploys are fetched`)
  return {
    name: deploy.id,
    rootDir: service.root_dir,
    slots,
    layOut: (directory, reader) =>
      withinBuildTimeout('fetching the source', signal, (limited) =>
        endingWith(limited, reader, () => layOut(deploy, directory, reader, log, limited)),
      ),
    signal,
  }
}

/** Does some work and ends its reader when the signal aborts, of which the reader does not know. */
async function endingWith(signal: AbortSignal, reader: Reader, work: () => Promise<void>): Promise<void> {
  const end = (): void => void reader.end()
  signal.addEventListener('abort', end, { once: true })
  try {
    await work()
  } finally {
    signal.removeEventListener('abort', end)
  }
}

/** Writes the source tree to the directory, and the details of its commit to the record. */
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
    const pointers = await reader.ask(UNPACK_ARCHIVE, { path: archivePath(deploy.archive_id!), directory })
    if (pointers.length > 0) log.system(lackingContent(pointers))
    return
  }
  const serving = deploy.repo_credentials === null ? await servingOf(source.repo_url!) : null
  log.system(`cloning ${source.repo_url}${serving ? ` as ${serving.connection.account}` : ''}`)
  const head = await checkout({
    ...checkoutAccess(
      deploy.repo_credentials === null ? source.repo_url! : vault.open(deploy.repo_credentials),
      serving,
    ),
    branch: source.branch,
    commit: source.commit,
    confined: deploy.is_confined === 1 ? 'branch' : BY_HOOK.has(deploy.trigger),
    usesKeptTrees: deploy.clear_cache === 0,
    directory,
    reader,
    signal,
    onLine: (line) => log.system(line),
  })
  updateDeploy(deploy.id, {
    commit_sha: head.sha,
    commit_message: head.message,
    commit_author: head.author || null,
    source: JSON.stringify({ ...source, branch: head.branch } satisfies DeploySource),
  })
  announceDeploy(deploy.id, deploy.service_id)
  log.system(`commit ${head.sha} ${head.message.split('\n')[0]}`)
}

/** The connection that gives access to a repository. Throws BuildFailure when there is one that cannot be used. */
async function servingOf(url: string): Promise<Serving | null> {
  try {
    return await servingConnection(url)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new BuildFailure(`${url} cannot be cloned: ${error.message}`, { cause: error })
  }
}
