import type { RefusalStatus } from '#server/git/providers/ask.ts'
import { plainLine } from '#server/text/plain-line.ts'
import type { Pass } from './gate.ts'
import { diskFault, GitError } from './git-error.ts'

/** Why a remote cannot be read: it refuses the credentials, cannot be reached, or has no such repository. Shown to users. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  /** `local` when the cause is this server, `unknown` when it may not be the remote. */
  readonly kind: 'refused' | 'unreachable' | 'local' | 'unknown'

  constructor(kind: RemoteFault['kind'], message: string, cause: Error) {
    super(message, { cause })
    this.kind = kind
  }
}

/** What messages need to know about the remote. */
interface AskedRemote {
  /** Without credentials. */
  url: string
  host: string
  /** git's way out, which knows what it refused. */
  pass: Pick<Pass, 'fault'>
}

/** git's messages about a remote that refuses the given credentials. */
const CREDENTIALS_REFUSED =
  /Authentication failed|HTTP Basic: Access denied|returned error: 403|invalid credentials/i

/** The status with which a remote refused the credentials; null when it did not refuse them. */
export function refusalOf(fault: unknown): RefusalStatus | null {
  const messages = fault instanceof RemoteFault && fault.cause instanceof GitError ? fault.cause.messages : ''
  if (!CREDENTIALS_REFUSED.test(messages)) return null
  return /returned error: 403/.test(messages) ? 403 : 401
}

/** What git's messages about credentials mean. The first match counts; the explanation says what to do. */
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
      `${url} does not exist or is private: check the URL, or connect its account, add a user name and token to the URL, or use its ssh URL`,
  ],
]

/** The same for remotes that cannot be reached or have no such repository. */
const ABSENCES: typeof REFUSALS = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/,
    ({ host }) =>
      `the host key of ${host} has changed: if that is expected, remove the host's line from ssh/known_hosts in the data directory`,
  ],
  [
    /repository .* not found|Repository not found|does not appear to be a git repository|not exported|returned error: 404|is this a git repository|Could not find repository|project you were looking for could not be found/i,
    ({ url }) => `${url} does not exist or this server may not read it: check the URL and who may read it`,
  ],
  [
    /Could not resolve host|Name or service not known|Temporary failure in name resolution|unable to look up/i,
    ({ host }) => `the host ${host} cannot be found: check the address and the server's name resolution`,
  ],
  [
    /returned error: 30\d/,
    ({ url }) =>
      `${url} leads to another address, which is not followed through a SOCKS proxy: use that address instead`,
  ],
  [
    /certificate|SSL|TLS|gnutls/,
    ({ host }) =>
      `the TLS certificate of ${host} is not trusted: add its authority to the server's certificates`,
  ],
  [
    /Failed to connect|Couldn't connect|Connection (refused|timed out|reset|closed)|unable to connect|No route to host|Network is unreachable|Operation timed out|kex_exchange_identification|too slow|returned error: 5\d\d|unexpected disconnect|hung up unexpectedly|early EOF|Empty reply/i,
    ({ host }) =>
      `the host ${host} cannot be reached or closed the connection: check the address and try again`,
  ],
  [
    /transport '.*' not allowed/,
    ({ url }) => `${url} leads to a protocol that is not supported: use https, http, ssh or git`,
  ],
]

/** Explains a failed command to the user. */
export function explain(error: GitError, remote: AskedRemote): RemoteFault {
  const { fault } = remote.pass
  if (fault?.kind === 'refused')
    return new RemoteFault('unreachable', `${remote.url}: ${fault.message}`, error)
  if (fault) return new RemoteFault('unreachable', fault.message, error)
  // When a fetch cannot be written it is cut off, which looks as if the remote had cut it off.
  const local = diskFault(error)
  if (local !== null) return new RemoteFault('local', local, error)
  const messageFrom = (faults: typeof REFUSALS): string | undefined =>
    faults.find(([pattern]) => pattern.test(error.messages))?.[1](remote)
  const refusal = messageFrom(REFUSALS)
  if (refusal !== undefined) return new RemoteFault('refused', refusal, error)
  const absence = messageFrom(ABSENCES)
  if (absence !== undefined) return new RemoteFault('unreachable', absence, error)
  return new RemoteFault('unknown', `${remote.url} cannot be read: ${lastMessage(error)}`, error)
}

/** git's own last message, for errors that are not known. */
export function lastMessage(error: GitError): string {
  const lines = error.messages
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const last = lines.findLast((line) => /^(fatal|error|remote|ERROR):/.test(line)) ?? lines.at(-1)
  return plainLine(last ?? error.message)
}
