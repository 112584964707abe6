import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { UPLOAD_LIMIT_BYTES } from '#server/deploys/folders.ts'
import { useContext } from '#server/context.ts'
import type { Detection, DetectHints } from '#server/detection/schema.ts'
import { AppError } from '#server/errors.ts'
import { servingConnection } from '#server/git/serving.ts'
import { splitCredentials } from '#server/git/url.ts'
import { randomHex } from '#server/ids.ts'
import { Slots } from '#server/work/slots.ts'
import { BuildFailure, NO_SETTINGS } from '#plans/index.ts'
import type { Reader } from '../reader/reader.ts'
import { receiveArchive } from '../sources/archive.ts'
import { checkoutAccess } from '../sources/branches.ts'
import { RemoteFault } from '../sources/remote-fault.ts'
import { checkout } from '../sources/git.ts'
import { UNPACK_ARCHIVE } from '../sources/reader-calls.ts'
import { lackingContent } from '../sources/lfs-files.ts'
import { CHOOSE_RECIPE } from './reader-calls.ts'
import type { Recipe } from './recipe.ts'
import { withSourceTree } from './source-tree.ts'

/** A user waits for the answer; a clone that takes longer is left to a deploy. */
const DETECTION_TIMEOUT_MS = 2 * 60_000
/** Each detection runs git and a source reader; the time that others wait counts towards their timeout. */
const AT_ONCE = 4
/** The random part of a detection's folder name. */
const NAME_BYTES = 10

const slots = new Slots(AT_ONCE)

/**
 * Returns what a deploy of a repository would do, by the same function as the deploy; nothing is kept. Throws
 * `git_remote_unreachable`, `git_authorization_rejected` or `git_provider_unavailable`, or `invalid_request` for a fault in
 * the source.
 */
export async function detectRepository(
  { repo_url, branch, ...hints }: DetectHints & { repo_url: string; branch?: string | undefined },
  signal: AbortSignal,
): Promise<Detection> {
  const { username, password } = splitCredentials(repo_url)
  const serving = username === null && password === null ? await servingConnection(repo_url) : null
  return detect(hints, signal, async (directory, reader, limited) => {
    await checkout({
      ...checkoutAccess(repo_url, serving),
      branch: branch ?? null,
      commit: null,
      confined: false,
      usesKeptTrees: true,
      directory,
      reader,
      signal: limited,
      onLine: () => {},
    })
  })
}

/** The same for a `.tar.gz`. Throws `invalid_request` or `payload_too_large`. */
export async function detectArchive(
  stream: Readable,
  hints: DetectHints,
  signal: AbortSignal,
): Promise<Detection> {
  const path = join(useContext().options.dataDirectory, 'archives', `${newName()}.tar.gz`)
  try {
    await receiveArchive(stream, path, UPLOAD_LIMIT_BYTES)
    let pointers: string[] = []
    const found = await detect(hints, signal, async (directory, reader) => {
      pointers = await reader.ask(UNPACK_ARCHIVE, { path, directory })
    })
    return pointers.length === 0 ? found : { ...found, notes: [lackingContent(pointers), ...found.notes] }
  } finally {
    await rm(path, { force: true })
  }
}

async function detect(
  { type, runtime, root_dir }: DetectHints,
  signal: AbortSignal,
  layOut: (directory: string, reader: Reader, signal: AbortSignal) => Promise<void>,
): Promise<Detection> {
  const timeout = AbortSignal.timeout(DETECTION_TIMEOUT_MS)
  const limited = AbortSignal.any([signal, timeout])
  const choice = {
    type: type ?? null,
    runtime: runtime ?? 'auto',
    dockerfilePath: null,
    publishDirectory: null,
    settings: NO_SETTINGS,
  }
  try {
    return await withSourceTree(
      {
        name: newName(),
        rootDir: root_dir ?? null,
        slots,
        signal: limited,
        layOut: (directory, reader) => layOut(directory, reader, limited),
      },
      async (source) => view(await source.ask(CHOOSE_RECIPE, { place: source.place, choice })),
    )
  } catch (error) {
    if (timeout.aborted && !signal.aborted) {
      throw new AppError(
        'invalid_request',
        `detection took longer than ${DETECTION_TIMEOUT_MS / 60_000} minutes: deploy the source without it, or use a smaller one`,
        { cause: error },
      )
    }
    throw explain(error)
  }
}

function newName(): string {
  return `detect-${randomHex(NAME_BYTES)}`
}

function explain(error: unknown): unknown {
  if (!(error instanceof BuildFailure)) return error
  const { cause } = error
  if (!(cause instanceof RemoteFault)) return new AppError('invalid_request', error.message, { cause })
  const code = cause.kind === 'refused' ? 'git_authorization_rejected' : 'git_remote_unreachable'
  return new AppError(code, error.message, { cause })
}

function view(recipe: Recipe): Detection {
  const { obstacle, notes } = recipe
  return {
    type: recipe.type,
    runtime: recipe.runtime as Detection['runtime'],
    framework: recipe.framework,
    version: recipe.version,
    package_manager: recipe.packageManager,
    install_command: recipe.installCommand,
    build_command: recipe.buildCommand,
    start_command: recipe.startCommand,
    pre_deploy_command: recipe.preDeployCommand,
    publish_dir: recipe.publishDirectory,
    port: recipe.port,
    health_check_path: recipe.healthCheckPath,
    env: recipe.env.map(({ key, generate, why }) => ({ key, generate: generate !== null, why })),
    apt_packages: recipe.aptPackages,
    root_dirs: recipe.rootDirectories,
    notes: obstacle === null || notes.includes(obstacle) ? notes : [...notes, obstacle],
  }
}
