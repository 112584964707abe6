import { AppError, messageOf } from '#server/errors.ts'
import { plainLines } from '#server/text/plain-line.ts'

/** The messages of Docker and Podman. */
const SUBNET_TAKEN =
  /Pool overlaps with other one|networks have overlapping|subnet \S+ is (?:already used|being used)/

/** The engine's words for an image without the shell. */
const NO_SHELL = /exec: "\/bin\/sh": .*(no such file|not found)/

/** What registries say when they do not accept credentials, or when those do not permit the pull. */
const REGISTRY_REFUSAL =
  /no basic auth credentials|authentication required|unauthorized|failed to authorize|insufficient_scope|\bdenied\b/i

/** Messages of the engine or a registry, and what they mean for the reader. The first match wins. */
const EXPLANATIONS: [RegExp, string | ((match: RegExpExecArray) => string)][] = [
  [
    /no basic auth credentials|authentication required|401 Unauthorized|no active sessions|failed to authorize|insufficient_scope/i,
    'the registry requires credentials or refuses them: add or correct a registry credential for it, or run docker login as the user that runs the server',
  ],
  [
    /pull access denied for (\S+?),/,
    ([, name]) =>
      `there is no image ${name}, or it is private: correct the name, add a registry credential for it, or run docker login as the user that runs the server`,
  ],
  [
    /manifest unknown|manifest for (\S+) not found|name unknown|repository name not known|404 Not Found/i,
    'the registry has no such image or tag',
  ],
  [
    /no matching manifest for (\S+)/,
    ([, platform]) => `the image is not published for this host's platform (${platform})`,
  ],
  [
    /toomanyrequests|pull rate limit/i,
    'the pull limit of the registry is reached: wait, or add a registry credential for it',
  ],
  [
    /lookup ([^\s:]+)(?: on \S+)?: (?:.*: )?(no such host|server misbehaving|Temporary failure[^:]*|i\/o timeout)/,
    ([, host, why]) => `the registry's name ${host} cannot be looked up (${why})`,
  ],
  [
    /dial tcp \S+: (?:connect: )?(connection refused|no route to host|network is unreachable|i\/o timeout)/,
    ([, why]) => `the registry cannot be reached (${why})`,
  ],
  [/no space left on device/i, 'the disk is full: free some space'],
  [SUBNET_TAKEN, 'its addresses are taken by another network'],
  [
    /exec: "([^"]+)": (?:stat [^:]+: )?(?:executable file not found in \$PATH|no such file or directory)/,
    ([, program]) => `the image does not contain the program ${program}: correct the start command`,
  ],
  [
    /exec: "([^"]+)": (?:stat [^:]+: )?permission denied/,
    ([, program]) => `${program} is not executable: chmod +x it, or start it with its interpreter`,
  ],
  [
    /exec (\S+): exec format error|exec format error/,
    'the program is for another processor architecture, or a script without a first line that begins with #!',
  ],
  [/No command specified/, 'the image has no command: set a start command'],
  [/No such image: (\S+)/, ([, image]) => `the image ${image} is not on this host: deploy again`],
]

/** Whether a registry refused the credentials of a pull. */
export function isRegistryRefusal(error: unknown): boolean {
  return error instanceof AppError && REGISTRY_REFUSAL.test(engineMessage(error.cause))
}

/** The engine's message, explained if it is known. */
export function explain(message: string): string {
  for (const [pattern, meaning] of EXPLANATIONS) {
    const match = pattern.exec(message)
    if (match) return typeof meaning === 'string' ? meaning : meaning(match)
  }
  return plainLines(message).trim()
}

/** The message in the engine's HTTP answer, without the client library's prefix. */
export function engineMessage(error: unknown): string {
  const body = (error as { json?: { message?: unknown; cause?: unknown } | null } | undefined)?.json
  if (body && typeof body.message === 'string') return body.message
  return messageOf(error)
    .replace(/^\(HTTP code \d+\) [^-]*- /, '')
    .trim()
}

/** Whether the engine refused to create a network because another one has its addresses. */
export function isSubnetTaken(error: unknown): boolean {
  return error instanceof AppError && SUBNET_TAKEN.test(engineMessage(error.cause))
}

/** Whether a program could not be started because the image has no `/bin/sh`; `error` may be the engine's message. */
export function lacksShell(error: unknown): boolean {
  const message = error instanceof AppError ? engineMessage(error.cause) : error
  return typeof message === 'string' && NO_SHELL.test(message)
}

/** The HTTP status with which the engine refused, or null when it did not answer. */
export function statusOf(error: unknown): number | null {
  const status = (error as { statusCode?: unknown }).statusCode
  return typeof status === 'number' ? status : null
}

const noEngine = (socketPath: string): string =>
  `no container engine answers at ${socketPath}: start it, or set its socket with --docker-host`
const engineLeft = (_: string, doing: string): string => `${doing}: the container engine went away`

/** What errors of the socket mean, by their code. */
const FAULTS: Record<string, (socketPath: string, doing: string) => string> = {
  ENOENT: noEngine,
  ECONNREFUSED: noEngine,
  EACCES: (socketPath) =>
    `this user may not use the engine's socket ${socketPath}: run the server as root, or add the user to the group docker`,
  ECONNRESET: engineLeft,
  EPIPE: engineLeft,
}

/** Thrown when the engine did not answer, or went away during a call: the same call may succeed once it is back. */
export class EngineAway extends AppError {
  constructor(message: string, cause?: unknown) {
    super('runtime_error', message, { cause })
  }
}

/** Whether something failed because the engine was away. Checks the class, since file errors share codes with sockets. */
export function isEngineAway(error: unknown): error is EngineAway {
  return error instanceof EngineAway
}

/** Where an engine is. */
export interface EnginePlace {
  socketPath: string
  /** The name of its node; null for the engine of the server's own. */
  node: string | null
}

/** Turns the error of a call to an engine into a `runtime_error` that its reader can act on. */
export function engineFault(doing: string, { socketPath, node }: EnginePlace, error: unknown): AppError {
  if (error instanceof AppError) return error
  const known = FAULTS[(error as NodeJS.ErrnoException).code ?? '']
  if (known)
    return new EngineAway(
      node === null ? known(socketPath, doing) : `${doing}: the node ${node} does not answer`,
      error,
    )
  const isLate = error instanceof Error && error.name === 'TimeoutError'
  const reason = isLate ? 'the container engine did not answer in time' : explain(engineMessage(error))
  const where = node === null ? doing : `${doing} on the node ${node}`
  return new AppError('runtime_error', `${where}: ${reason}`, { cause: error })
}
