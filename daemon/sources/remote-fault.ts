import type { RefusalStatus } from '#server/git/providers/ask.ts'
import { plainLine } from '#server/text/plain-line.ts'
import type { Pass } from './gate.ts'
import { diskFault, GitError } from './git-error.ts'

/** Why a remote cannot be read: it refuses the credentials, cannot be reached, or has no such repository. Shown to its user. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  /** `local` when it lies with this server alone, `unknown` when it may not lie with the remote. */
  readonly kind: 'refused' | 'unreachable' | 'local' | 'unknown'

  constructor(kind: RemoteFault['kind'], message: string, cause: Error) {
    super(message, { cause })
    this.kind = kind
  }
}

/** What a message says of the remote that was asked. */
interface AskedRemote {
  /** Without credentials. */
  url: string
  host: string
  /** What git went out through, which knows what it refused. */
  pass: Pick<Pass, 'fault'>
}

/** git's messages about a remote that refuses the credentials it was given. */
const CREDENTIALS_REFUSED =
  /Authentication failed|HTTP Basic: Access denied|returned error: 403|invalid credentials/i

/** How a remote refused the credentials that git was given; null when it did not. */
export function refusalOf(fault: unknown): RefusalStatus | null {
  const messages = fault instanceof RemoteFault && fault.cause instanceof GitError ? fault.cause.messages : ''
  if (!CREDENTIALS_REFUSED.test(messages)) return null
  return /returned error: 403/.test(messages) ? 403 : 401
}

/** What git's messages about a remote that wants other credentials mean, first match first. The message says what to do. */
const REFUSALS: [pattern: RegExp, explain: (remote: AskedRemote) => string][] = [
  [
    /Permission denied \(|Permission denied, please try again|Load key /,
    ({ url }) =>
      `${url} refused the server's ssh key: add the public key that "deployer ssh-key" prints to the repository's deploy keys`,
  ],
  [
    CREDENTIALS_REFUSED,
    ({ url }) =>
      `${url} refused the credentials: correct the user name and the password or token in repo_url, or authorize its git connection again`,
  ],
  [
    /could not read (Username|Password)|terminal prompts disabled|returned error: 401/,
    ({ url }) =>
      `${url} does not exist or is private: check the address, or connect its account, put a user name and token into it, or use its ssh address`,
  ],
]

/** The same of those that cannot be reached or have no such repository. */
const ABSENCES: typeof REFUSALS = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/,
    ({ host }) =>
      `the host key of ${host} is not the one that was pinned: if the change is right, remove the host's line from ssh/known_hosts in the data directory`,
  ],
  [
    /repository .* not found|Repository not found|does not appear to be a git repository|not exported|returned error: 404|is this a git repository|Could not find repository|project you were looking for could not be found/i,
    ({ url }) =>
      `${url} does not exist or this server may not read it: check the address and who may read it`,
  ],
  [
    /Could not resolve host|Name or service not known|Temporary failure in name resolution|unable to look up/i,
    ({ host }) => `the host ${host} cannot be found: check the address and the server's name resolution`,
  ],
  [
    /returned error: 30\d/,
    ({ url }) =>
      `${url} leads to another address, which is not followed through a SOCKS proxy: give that address itself`,
  ],
  [
    /certificate|SSL|TLS|gnutls/,
    ({ host }) =>
      `the TLS certificate of ${host} is not trusted: add its authority to the server's certificates`,
  ],
  [
    /Failed to connect|Couldn't connect|Connection (refused|timed out|reset|closed)|unable to connect|No route to host|Network is unreachable|Operation timed out|kex_exchange_identification|too slow|returned error: 5\d\d|unexpected disconnect|hung up unexpectedly|early EOF|Empty reply/i,
    ({ host }) => `the host ${host} cannot be reached or broke off: check the address and try again`,
  ],
  [
    /transport '.*' not allowed/,
    ({ url }) => `${url} leads to a protocol that is not taken: use https, http, ssh or git`,
  ],
]

/** What a failed command means for its user. */
export function explain(error: GitError, remote: AskedRemote): RemoteFault {
  const { fault } = remote.pass
  if (fault?.kind === 'refused')
    return new RemoteFault('unreachable', `${remote.url}: ${fault.message}`, error)
  if (fault) return new RemoteFault('unreachable', fault.message, error)
  // A fetch that cannot be written breaks off, which looks as if the remote did.
  const local = diskFault(error)
  if (local !== null) return new RemoteFault('local', local, error)
  const messageFrom = (faults: typeof REFUSALS): string | undefined =>
    faults.find(([pattern]) => pattern.test(error.messages))?.[1](remote)
  const refusal = messageFrom(REFUSALS)
  if (refusal !== undefined) return new RemoteFault('refused', refusal, error)
  const absence = messageFrom(ABSENCES)
  if (absence !== undefined) return new RemoteFault('unreachable', absence, error)
  return new RemoteFault('unknown', `${remote.url} cannot be read: ${lastWords(error)}`, error)
}

/** git's own last words, for faults that are not known. */
export function lastWords(error: GitError): string {
  const lines = error.messages
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const said = lines.findLast((line) => /^(fatal|error|remote|ERROR):/.test(line)) ?? lines.at(-1)
  return plainLine(said ?? error.message)
}
