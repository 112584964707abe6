import { parseRepositoryUrl, splitCredentials } from '#server/git/url.ts'
import { GitError } from './git-command.ts'

/** How a remote is reached. */
export interface RemoteAccess {
  /** As it was saved, credentials included. */
  url: string
  sshKeyFile: string
  knownHostsFile: string
}

/** A remote as git commands are told of it: no credentials in `url` or `settings`, which anyone on the host may see. */
export interface Remote {
  url: string
  host: string
  settings: string[]
  environment: Record<string, string>
}

/** An ssh connection is given up after this, a silent one after three intervals of it. */
const SSH_TIMEOUT_SECONDS = 15

/**
 * A credential helper (gitcredentials(7)) of fixed text: the values come to it in the environment, which only the owner
 * of the process can read, and they leave no trace on disk.
 */
function credentialHelper(index: number): string {
  return `!f() { test "$1" = get && printf "username=%s\\npassword=%s\\n" "$${USERNAME}${index}" "$${PASSWORD}${index}"; }; f`
}

const USERNAME = 'DEPLOYER_GIT_USERNAME_'
const PASSWORD = 'DEPLOYER_GIT_PASSWORD_'

/** Prepares a remote for commands. Throws GitError for an address that is not one, which was judged when it was saved. */
export function openRemote(access: RemoteAccess): Remote {
  const parsed = parseRepositoryUrl(access.url)
  if (!parsed) throw new GitError('', 'no address', 'is not a repository address')
  const { url, username, password } = splitCredentials(access.url)
  const environment = {
    GIT_SSH_VARIANT: 'ssh',
    GIT_SSH_COMMAND: sshCommand(access).map(quoteForShell).join(' '),
  }
  const remote = { url, host: parsed.host, settings: [], environment }
  // For all of its host, where its submodules may be; neither a redirect nor a submodule elsewhere is told them.
  return username === null && password === null
    ? remote
    : addCredentials(remote, new URL(url).origin, username, password)
}

/** A remote that knows, beside its own, the credentials that stood in another address, for that address alone. */
export function withCredentials(remote: Remote, { url, username, password }: SplitAddress): Remote {
  return username === null && password === null ? remote : addCredentials(remote, url, username, password)
}

type SplitAddress = ReturnType<typeof splitCredentials>

function addCredentials(
  remote: Remote,
  place: string,
  username: string | null,
  password: string | null,
): Remote {
  const index = remote.settings.length
  // First, as git asks the helpers in this order and passes by those for a wider place then (gitcredentials(7)).
  // An equals sign would end the key (git(1), -c).
  const key = `credential.${place.replaceAll('=', '%3D')}.helper`
  const settings = ['-c', `${key}=${credentialHelper(index)}`, ...remote.settings]
  const environment = {
    ...remote.environment,
    [`${USERNAME}${index}`]: username ?? '',
    [`${PASSWORD}${index}`]: password ?? '',
  }
  return { ...remote, settings, environment }
}

function sshCommand({ sshKeyFile, knownHostsFile }: RemoteAccess): string[] {
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
  ]
  return ['ssh', '-F', '/dev/null', '-i', sshKeyFile, ...options.flatMap((option) => ['-o', option])]
}

/** git hands GIT_SSH_COMMAND to a shell (git(1)); in single quotes nothing but the quote itself means anything there. */
function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** What git's messages about a remote mean, first match first. The message says what to do. */
const FAULTS: [pattern: RegExp, explain: (remote: Remote) => string][] = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/,
    ({ host }) =>
      `the host key of ${host} is not the one that was pinned: if the change is right, remove the host's line from ssh/known_hosts in the data directory`,
  ],
  [
    /Permission denied \(|Permission denied, please try again|Load key /,
    ({ url }) =>
      `${url} refused the server's ssh key: add the public key that "deployer ssh-key" prints to the repository's deploy keys`,
  ],
  [
    /Authentication failed|HTTP Basic: Access denied|returned error: 403|invalid credentials/i,
    ({ url }) =>
      `${url} refused the credentials: correct the user name and the password or token in repo_url`,
  ],
  [
    /could not read (Username|Password)|terminal prompts disabled|returned error: 401/,
    ({ url }) =>
      `${url} does not exist or is private: check the address, or put a user name and token into it, or use its ssh address`,
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

/** What a failed command means for its user; null when its messages are not known. */
export function explainRemote(error: GitError, remote: Remote): string | null {
  const fault = FAULTS.find(([pattern]) => pattern.test(error.messages))
  return fault ? fault[1](remote) : null
}

/** git's own last words, for faults that are not known. */
export function lastWords(error: GitError): string {
  const lines = error.messages
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return lines.findLast((line) => /^(fatal|error|remote|ERROR):/.test(line)) ?? lines.at(-1) ?? error.message
}
