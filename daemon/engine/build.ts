import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { AppError } from '#server/errors.ts'
import type { BuildCache } from './build-cache.ts'
import { explainBuild } from './build-faults.ts'
import { BuildProgress, type OnLine, type OnStep } from './build-progress.ts'
import { openBuildSession } from './build-session.ts'
import { ClassicProgress } from './classic-progress.ts'
import type { Connection } from './connection.ts'
import { authOf, engineKeyOf, registryCredentials, type RegistryAuth } from './credentials.ts'
import { EngineAway, engineFault } from './faults.ts'
import type { SeparateFiles } from './file-sync.ts'
import { jsonLines } from './json-lines.ts'

export interface BuildOptions {
  /** The image's name in the engine. */
  tag: string
  /** The Dockerfile's path in the tar. */
  dockerfile: string
  /** The Dockerfile, if it is not in the tar, so that no `COPY` finds it; see `SeparateFiles`. Needs Docker's BuildKit. */
  separate?: { content: string; ignore: string | null } | undefined
  buildArgs?: Record<string, string>
  labels?: Record<string, string>
  /** Ignores the cache of earlier builds. */
  noCache?: boolean
  /** The stage to build; the last one when absent. */
  target?: string
  /** Values for `RUN --mount=type=secret,id=...`; they stay out of the image and its history. */
  secrets?: Record<string, string | Buffer>
  /** Credentials for a base image's registry; those of the user's Docker `config.json` when absent. */
  registryAuth?: RegistryAuth
  /** The registries of base images, as far as they are known: an engine without sessions does not ask. */
  registries?: readonly string[]
  signal: AbortSignal
  onLine: OnLine
  onStep?: OnStep
}

/**
 * After this many empty traces in a row, once the image's id or an error is known, the build counts as ended: BuildKit
 * sometimes sends them forever (seen with Docker 20.10).
 */
const EMPTY_TRACES_AFTER_END = 100
/** How long a canceled build may take to answer. */
const CANCEL_TIMEOUT_MS = 5_000

/**
 * Builds an image from a tar stream and returns its id; with BuildKit if the engine has it. Aborting the signal ends the
 * running step. Throws `build_failed` for faults in the source or its Dockerfile, `runtime_error` for faults of the engine,
 * or the signal's reason.
 */
export async function buildImage(
  connection: Connection,
  cache: BuildCache,
  context: Readable,
  options: BuildOptions,
): Promise<string> {
  const { signal } = options
  const offer = {
    secrets: options.secrets ?? {},
    registryAuth: options.registryAuth ?? registryCredentials,
    files: separateFiles(context, options),
  }
  const session = await openBuildSession(connection, offer, signal)
  const buildId = randomUUID()
  if (offer.files && !session)
    throw new AppError('runtime_error', 'the container engine opens no build session: update it')
  const { onLine, onStep, buildArgs } = options
  const progress = new BuildProgress({ onLine, onStep, buildArgs, onExecuted: (step) => cache.note(step) })
  try {
    const registryconfig = session ? {} : await registryConfiguration(options.registries, offer.registryAuth)
    const body = await connection.call(
      'building the image',
      (docker, abortSignal) =>
        docker.buildImage(offer.files ? Readable.from([]) : context, {
          ...requestOf(options),
          ...(offer.files && { remote: 'client-session' }),
          // Must be a number: with the string "2", dockerode opens a session of its own.
          ...(session
            ? { version: 2, session: session.id, buildid: buildId }
            : { forcerm: true, registryconfig }),
          abortSignal,
        } as never) as unknown as Promise<Readable>,
      { signal },
    )
    return await follow(body, progress, new ClassicProgress(onLine, onStep))
  } catch (error) {
    if (signal.aborted && session) await cancel(connection, buildId)
    signal.throwIfAborted()
    throw engineFault('building the image', connection.place, error)
  } finally {
    session?.close()
    context.destroy()
    cache.claim()
  }
}

/** The credentials that an engine without sessions gets with the request, by registry. */
async function registryConfiguration(
  registries: readonly string[] = [],
  registryAuth: RegistryAuth,
): Promise<Record<string, Record<string, string>>> {
  const found = await Promise.all(
    [...new Set(registries)].map(async (registry) => [registry, await registryAuth(registry)] as const),
  )
  return Object.fromEntries(
    found.flatMap(([registry, credentials]) =>
      credentials === null ? [] : [[engineKeyOf(registry), authOf(credentials)] as const],
    ),
  )
}

function separateFiles(context: Readable, { dockerfile, separate }: BuildOptions): SeparateFiles | undefined {
  if (separate === undefined) return undefined
  const { content, ignore } = separate
  // It may fail before the engine requests it.
  context.on('error', () => {})
  return { dockerfile: { path: dockerfile, content }, ignore, context }
}

function requestOf({
  tag,
  dockerfile,
  buildArgs,
  labels,
  noCache,
  target,
}: BuildOptions): Record<string, unknown> {
  return {
    t: tag,
    dockerfile,
    buildargs: JSON.stringify(buildArgs ?? {}),
    labels: JSON.stringify(labels ?? {}),
    nocache: noCache ?? false,
    rm: true,
    ...(target ? { target } : {}),
  }
}

/** Reads the progress of a build to its end and returns the image's id. */
async function follow(body: Readable, progress: BuildProgress, classic: ClassicProgress): Promise<string> {
  let id: string | null = null
  let fault: string | null = null
  let emptyTraces = 0
  try {
    for await (const value of jsonLines(body)) {
      const aux = value.aux as { ID?: string } | string | undefined
      if (typeof value.error === 'string') fault = value.error
      else if (typeof value.stream === 'string') for (const line of linesOf(value.stream)) classic.read(line)
      else if (typeof aux === 'object' && aux.ID) id = aux.ID
      else if (value.id === 'moby.buildkit.trace' && typeof aux === 'string') {
        emptyTraces = aux === '' ? emptyTraces + 1 : 0
        if (aux !== '') progress.read(Buffer.from(aux, 'base64'))
        if (emptyTraces >= EMPTY_TRACES_AFTER_END && (id !== null || fault !== null)) break
      }
    }
  } finally {
    body.destroy()
    progress.end()
  }
  if (fault !== null)
    throw new AppError(
      'build_failed',
      [explainBuild(fault, progress.failed), ...progress.lastLines].join('\n'),
      { cause: fault },
    )
  classic.end()
  if (id === null) throw new EngineAway('the container engine went away during the build: deploy again')
  return id
}

/** The lines of the classic builder's output, without the image's internal name, which does not help the reader. */
function linesOf(text: string): string[] {
  if (text.startsWith('Successfully tagged ')) return []
  const lines = text.replace(/\n$/, '').split(/\r?\n/)
  return lines.length === 1 && lines[0] === '' ? [] : lines
}

/** Closing the connection also ends the build; this makes sure of it if a connection in between stays open. */
async function cancel(connection: Connection, buildId: string): Promise<void> {
  const path = `/build/cancel?id=${buildId}`
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS)
  await connection.dial('canceling the build', { method: 'POST', path, signal }).catch(() => {})
}
