import { AppError } from '#server/errors.ts'
import type { RefusalStatus } from '#server/git/providers/ask.ts'
import { plainLine } from '#server/plain-line.ts'
import type { Reach } from '#server/reach/addresses.ts'
import type { GitCredentials } from '#server/git/serving.ts'
import { withRenewal } from '#server/renewal.ts'
import { parseRepositoryUrl, splitCredentials, usualPort, type RepositoryUrl } from '#server/git/url.ts'
import { ASK_DESK, CredentialDesk } from './credential-desk.ts'
import { openPass, type Pass } from './gate.ts'
import { gitDialer, withGit, type Git } from './git-command.ts'
import { diskFault, GitError } from './git-error.ts'
import { isOfHttp, outboundProxy } from './outbound-proxy.ts'

/** How a remote is reached. */
export interface RemoteAccess {
  /** As it was saved, credentials included. */
  url: string
  /** Of the connection that serves the address; those in the address win. */
  credentials?: GitCredentials | null
  reach: Reach
  sshKeyFile: string
  knownHostsFile: string
}

/** A remote as git commands are told of it: no credentials in `url`, `settings` or `environment`. */
export interface Remote {
  url: string
  host: string
  settings: string[]
  environment: Record<string, string>
  /** Answers git's questions for credentials, as git was told. */
  desk: CredentialDesk
  /** What git goes out through. */
  pass: Pass
  git: Git
  /** Runs a program of a host of ssh, and answers what it wrote. Throws GitError. */
  ssh(at: RepositoryUrl, command: string[]): Promise<string>
}

/** Why a remote cannot be read: it refuses who asks, or it cannot be reached or has no such repository. For its user. */
export class RemoteFault extends Error {
  override readonly name = 'RemoteFault'
  /** `local` when it lies with this server alone, `unknown` when it may not lie with the remote. */
  readonly kind: 'refused' | 'unreachable' | 'local' | 'unknown'

  constructor(kind: RemoteFault['kind'], message: string, cause: Error) {
    super(message, { cause })
    this.kind = kind
  }
}

/** An ssh connection is given up after this, a silent one after three intervals of it. */
const SSH_TIMEOUT_SECONDS = 15

/**
 * Prepares a remote for commands, lets `use` run them, and ends what was opened for them; once more with another token when
 * it refuses that of a connection. Throws RemoteFault for what git says of the remote, for an address that is none, which was
 * judged when it was saved, and for one that leads where it may not; and what `use` throws beside GitError.
 */
export function withRemote<T>(
  access: RemoteAccess,
  signal: AbortSignal,
  use: (remote: Remote) => Promise<T>,
): Promise<T> {
  return withAccess(access, refusalOf, (now) => withRemoteOnce(now, signal, use))
}

/**
 * Uses an access; once more with another token when that of its connection was refused, as `refusalOf` reads from what was
 * thrown. Throws RemoteFault when there should be another token and is none.
 */
export function withAccess<T>(
  access: RemoteAccess,
  refusalOf: (fault: unknown) => RefusalStatus | null,
  use: (access: RemoteAccess) => Promise<T>,
): Promise<T> {
  return withRenewal(access, use, async (fault, { credentials }) => {
    const status = refusalOf(fault)
    if (status === null || !credentials?.renew) return null
    const password = await credentials.renew(credentials.password, status).catch(noOther)
    return password === null ? null : { ...access, credentials: { ...credentials, password } }
  })
}

function noOther(cause: unknown): never {
  if (!(cause instanceof AppError)) throw cause
  const kind = cause.code === 'git_authorization_rejected' ? 'refused' : 'unreachable'
  throw new RemoteFault(kind, cause.message, cause)
}

async function withRemoteOnce<T>(
  access: RemoteAccess,
  signal: AbortSignal,
  use: (remote: Remote) => Promise<T>,
): Promise<T> {
  const parsed = parseRepositoryUrl(access.url)
  if (!parsed) {
    const error = new GitError('', 'no address', 'is not a repository address')
    throw new RemoteFault('unreachable', 'this is not a repository address: correct repo_url', error)
  }
  const { url, username, password } = splitCredentials(access.url)
  const desk = new CredentialDesk()
  const isWeb = parsed.protocol === 'http' || parsed.protocol === 'https'
  // For all of its host, where its submodules may be.
  if (username !== null || password !== null) desk.add(new URL(url).origin, username, password)
  else if (isWeb && access.credentials)
    desk.add(access.credentials.place, access.credentials.username, access.credentials.password)
  const pass = await openPass(access.reach)
  const ssh = sshCommand(access)
  const environment = {
    GIT_SSH_VARIANT: 'ssh',
    GIT_SSH_COMMAND: ssh.map(quoteForShell).join(' '),
    ...pass.environment,
  }
  const work = async (git: Git): Promise<T> => {
    const remote: Remote = {
      url,
      host: parsed.host,
      settings: [...ASK_DESK],
      environment,
      desk,
      pass,
      git,
      ssh: ({ host, port, username }, command) =>
        git.run({
          program: 'ssh',
          arguments: [
            ...ssh.slice(1),
            ...(port === null ? [] : ['-p', String(port)]),
            ...(username === null ? [] : ['-l', username]),
            '--',
            host,
            command.map(quoteForShell).join(' '),
          ],
          environment,
        }),
    }
    try {
      remote.settings.push(...(await admit(remote, parsed)))
      return await use(remote)
    } catch (error) {
      throw error instanceof GitError ? explain(error, remote) : error
    }
  }
  try {
    return await withGit(signal, work, desk)
  } finally {
    pass.close()
  }
}

/**
 * Lets git reach the host of an address that was judged; answers the settings that it needs for that. The protocol of git
 * itself knows no proxy, so it is given the address that its name has now. What goes through the host's own proxy is judged
 * here before that is asked.
 */
export async function admit({ pass }: Remote, { protocol, host, port }: RepositoryUrl): Promise<string[]> {
  pass.allow(host)
  const place = [host, port ?? usualPort(protocol)] as const
  if (protocol === 'git') {
    const address = await pass.resolve(...place).catch(refuse)
    if (address === host) return []
    const after = port === null ? '' : `:${port}`
    const bracketed = address.includes(':') ? `[${address}]` : address
    return ['-c', `url.git://${bracketed}${after}/.insteadOf=git://${host}${after}/`]
  }
  const proxy = protocol === 'ssh' ? null : outboundProxy(protocol)
  if (proxy === null) return []
  await pass.judge(...place).catch(refuse)
  // What leads elsewhere is not seen here where bytes are handed on.
  return isOfHttp(proxy) ? [] : ['-c', 'http.followRedirects=false']
}

function refuse(cause: unknown): never {
  throw new GitError('connect', 'no address', String(cause))
}

function sshCommand({ sshKeyFile, knownHostsFile }: RemoteAccess): string[] {
  const dialer = [process.execPath, gitDialer()].map((path) => quoteForShell(path).replaceAll('%', '%%'))
  const options = [
    'IdentitiesOnly=yes',
    'IdentityAgent=none',
    'BatchMode=yes',
    'StrictHostKeyChecking=accept-new',
    `UserKnownHostsFile="${knownHostsFile}"`,
    'GlobalKnownHostsFile=/dev/null',
    'HashKnownHosts=no',
    'UpdateHostKeys=no',
    `ConnectTimeout=${SSH_TIMEOUT_SECONDS}`,
    `ServerAliveInterval=${SSH_TIMEOUT_SECONDS}`,
    'PermitLocalCommand=no',
    'ForwardAgent=no',
    'ClearAllForwardings=yes',
    `ProxyCommand=${dialer.join(' ')} %h %p`,
  ]
  return ['ssh', '-F', '/dev/null', '-i', sshKeyFile, ...options.flatMap((option) => ['-o', option])]
}

/** git hands GIT_SSH_COMMAND to a shell (git(1)), ssh a command to that of its host; in single quotes nothing but the quote itself means anything there. */
function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** git's messages about a remote that refuses the credentials it was given. */
const CREDENTIALS_REFUSED =
  /Authentication failed|HTTP Basic: Access denied|returned error: 403|invalid credentials/i

/** How a remote refused the credentials that git was given; null when it did not. */
function refusalOf(fault: unknown): RefusalStatus | null {
  const messages = fault instanceof RemoteFault && fault.cause instanceof GitError ? fault.cause.messages : ''
  if (!CREDENTIALS_REFUSED.test(messages)) return null
  return /returned error: 403/.test(messages) ? 403 : 401
}

/** What git's messages about a remote that wants other credentials mean, first match first. The message says what to do. */
const REFUSALS: [pattern: RegExp, explain: (remote: Remote) => string][] = [
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
function explain(error: GitError, remote: Remote): RemoteFault {
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
