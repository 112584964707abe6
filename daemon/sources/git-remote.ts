import { AppError } from '#server/errors.ts'
import type { RefusalStatus } from '#server/git/providers/ask.ts'
import type { Reach } from '#server/network/addresses.ts'
import type { GitCredentials } from '#server/git/serving.ts'
import { withRenewal } from '#server/network/renewal.ts'
import { parseRepositoryUrl, splitCredentials, usualPort, type RepositoryUrl } from '#server/git/url.ts'
import { ASK_DESK, CredentialDesk } from './credential-desk.ts'
import { openPass, type Pass } from './gate.ts'
import { gitDialer, withGit, type Git } from './git-command.ts'
import { GitError } from './git-error.ts'
import { isOfHttp, outboundProxy } from './outbound-proxy.ts'
import { explain, refusalOf, RemoteFault } from './remote-fault.ts'

/** How a remote is reached. */
export interface RemoteAccess {
  /** As it was saved, including credentials. */
  url: string
  /** Those of the git connection for this URL; credentials in the URL itself take precedence. */
  credentials?: GitCredentials | null
  reach: Reach
  sshKeyFile: string
  knownHostsFile: string
}

/** A remote as git commands see it: there are no credentials in `url`, `settings` or `environment`. */
export interface Remote {
  url: string
  host: string
  settings: string[]
  environment: Record<string, string>
  /** Answers git's requests for credentials. */
  desk: CredentialDesk
  /** git's way out. */
  pass: Pass
  git: Git
  /** Runs a program on a host over ssh, and returns its output. Throws GitError. */
  ssh(at: RepositoryUrl, command: string[]): Promise<string>
}

/** ssh gives up on connecting after this time, and on a silent connection after three times as long. */
const SSH_TIMEOUT_SECONDS = 15

/**
 * Prepares a remote for commands, lets `use` run them, and closes what was opened for them. Tries once more with another
 * token if the remote refuses that of a connection. Throws RemoteFault for git's errors about the remote, for an invalid URL
 * and for one that leads to a forbidden place; and what `use` throws other than GitError.
 */
export function withRemote<T>(
  access: RemoteAccess,
  signal: AbortSignal,
  use: (remote: Remote) => Promise<T>,
): Promise<T> {
  return withAccess(access, refusalOf, (now) => withRemoteOnce(now, signal, use))
}

/**
 * Runs `use` with an access, and once more with another token if that of its connection was refused, which `refusalOf` finds
 * in the error. Throws RemoteFault when no other token can be had.
 */
export function withAccess<T>(
  access: RemoteAccess,
  refusalOf: (fault: unknown) => RefusalStatus | null,
  use: (access: RemoteAccess) => Promise<T>,
): Promise<T> {
  return withRenewal(access, use, async (fault, { credentials }) => {
    const status = refusalOf(fault)
    if (status === null || !credentials?.renew) return null
    const password = await credentials.renew(credentials.password, status).catch(noOtherToken)
    return password === null ? null : { ...access, credentials: { ...credentials, password } }
  })
}

function noOtherToken(cause: unknown): never {
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
    const error = new GitError('', 'no address', 'is not a repository URL')
    throw new RemoteFault('unreachable', 'this is not a repository URL: correct repo_url', error)
  }
  const { url, username, password } = splitCredentials(access.url)
  const desk = new CredentialDesk()
  const isWeb = parsed.protocol === 'http' || parsed.protocol === 'https'
  // Valid for its whole host, since its submodules may be there.
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
 * Lets git reach the host of a URL that was judged; returns the settings that git needs for that. The git protocol itself
 * supports no proxy, so git gets the address that the name resolves to now. A place behind the host's own proxy is judged
 * here before the proxy is used.
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
  // With a SOCKS proxy, redirects cannot be judged here.
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

/**
 * Quotes a word for a shell: git passes GIT_SSH_COMMAND to one (git(1)), and ssh a command to that of its host. In single
 * quotes, only the quote itself has a meaning.
 */
function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
