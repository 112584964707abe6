import type { GitCredentials } from '#server/git/serving.ts'
import { parseRepositoryUrl, splitCredentials } from '#server/git/url.ts'
import { plainLine, plainLines } from '#server/text/plain-line.ts'
import { join } from 'node:path'
import { BuildFailure } from '#plans/index.ts'
import type { Reader } from '../reader/reader.ts'
import { MAX_SUBMODULES, TOO_MANY_SUBMODULES, type CheckoutUse } from './checkout-limits.ts'
import { isBelow } from './credential-desk.ts'
import { fetchById, fetchCommit, type CommitChoice, type FetchedCommit } from './fetch.ts'
import { withRemote, type RemoteAccess } from './git-remote.ts'
import { RemoteFault } from './remote-fault.ts'
import { fetchLfsFiles } from './lfs.ts'
import { layOutPart, mirrorOf, type Part } from './part.ts'
import { listRefs } from './refs.ts'
import type { Repository } from './repository.ts'
import { failureOf, type Submodule } from './submodules.ts'

/** The time limit of a clone, in addition to that of the build. */
const CHECKOUT_TIMEOUT_MS = 15 * 60_000
/** How much of a commit's message is kept. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024
/** How much of its author's name is kept. */
const MAX_AUTHOR_CHARACTERS = 256
/** How deep submodules may be nested: deeper ones are those of a repository that contains itself. */
const MAX_DEPTH = 10

export interface CheckoutRequest extends RemoteAccess, CommitChoice {
  /** The folder that keeps fetched objects between checkouts. */
  mirrors: string
  /** Identifies the owner of the credentials, also when they are renewed: others do not see what was fetched with them. */
  holder: string
  /** Whether kept trees are used; otherwise they are written again. */
  usesKeptTrees: boolean
  /** It is created; existing content is removed. */
  directory: string
  /** Ends with the signal. */
  reader: Reader
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
}

/** The commit that was checked out. */
export interface Checkout extends FetchedCommit {
  message: string
  author: string
}

/**
 * Writes the tree of a commit to a directory, with its submodules but without git's own files. Only what the mirror of the
 * repository lacks is fetched, as shallowly as the remote allows. Hooks and filters never run; links are left as they are.
 * The files may be shared with other trees: replace them, never write to them. Throws BuildFailure with what to change.
 */
export async function checkout(request: CheckoutRequest): Promise<Checkout> {
  const { url } = splitCredentials(request.url)
  const timeout = AbortSignal.timeout(CHECKOUT_TIMEOUT_MS)
  const ending = new AbortController()
  const signal = AbortSignal.any([request.signal, timeout, ending.signal])
  try {
    // These are two independent conversations with the remote.
    const following = followedBranch(request, signal)
    following.catch(() => {})
    const head = await new Parts(request, signal).layOut()
    return { ...head, branch: head.branch ?? (await following) }
  } catch (error) {
    if (timeout.aborted && !request.signal.aborted) {
      throw new BuildFailure(
        `cloning ${url} took longer than ${CHECKOUT_TIMEOUT_MS / 60_000} minutes: try again, or deploy a smaller repository`,
      )
    }
    if (!(error instanceof RemoteFault)) throw error
    throw new BuildFailure(error.message, { cause: error })
  } finally {
    ending.abort()
  }
}

/** The branch that the remote's HEAD points to, if HEAD is what is deployed; else null. Throws RemoteFault. */
async function followedBranch(request: CheckoutRequest, signal: AbortSignal): Promise<string | null> {
  if (request.branch !== null || request.commit !== null) return null
  const { defaultBranch } = await withRemote(request, signal, (remote) => listRefs(remote, ['HEAD']))
  return defaultBranch
}

/** The repositories of one checkout. They are written one after another, since two of them may need the same mirror. */
class Parts {
  readonly #request: CheckoutRequest
  readonly #signal: AbortSignal
  readonly #used: CheckoutUse = { bytes: 0, files: 0 }
  readonly #added: CheckoutUse = { bytes: 0, files: 0 }
  #submodules = 0

  constructor(request: CheckoutRequest, signal: AbortSignal) {
    this.#request = request
    this.#signal = signal
  }

  async layOut(): Promise<Checkout> {
    const { mirrors, url, holder, onLine } = this.#request
    const fetch = async (repository: Repository): Promise<Checkout> =>
      describe(repository, await fetchCommit(repository, this.#request, onLine))
    const part = {
      access: this.#request,
      holder,
      mirror: mirrorOf(mirrors, url, holder),
      place: this.#place(''),
      fetch,
    }
    const { head, submodules } = await this.#add(part)
    await this.#addSubmodules(submodules, part, 1)
    return head
  }

  async #add<Head extends { sha: string }>(
    part: Part<Head>,
  ): Promise<{ head: Head; submodules: Submodule[] }> {
    const { reader, directory, usesKeptTrees, onLine } = this.#request
    const context = { used: this.#used, added: this.#added, usesKeptTrees, signal: this.#signal, onLine }
    const { lfs, head, submodules, used, added } = await layOutPart(part, context)
    count(this.#used, used)
    count(this.#added, added)
    if (lfs !== null) {
      const place = { directory: join(directory, part.place.folder), access: part.access, reader }
      count(this.#used, await fetchLfsFiles({ listing: lfs, ...place, ...context }))
    }
    return { head, submodules }
  }

  async #addSubmodules(submodules: Submodule[], parent: AnyPart, depth: number): Promise<void> {
    this.#submodules += submodules.length
    if (submodules.length > 0 && depth > MAX_DEPTH)
      throw new BuildFailure(
        `the submodules are nested more than ${MAX_DEPTH} deep: does one contain itself?`,
      )
    if (this.#submodules > MAX_SUBMODULES) throw new BuildFailure(TOO_MANY_SUBMODULES)
    for (const submodule of submodules) {
      const { folder, sha, url } = submodule
      const { onLine, mirrors } = this.#request
      onLine(`fetching the submodule ${folder}`)
      const { credentials, holder } = credentialsBelow(parent, url)
      const fetch = async (repository: Repository): Promise<{ sha: string }> => ({
        sha: await fetchById(repository, sha, onLine),
      })
      const part = {
        access: { ...this.#request, url, credentials },
        holder,
        mirror: mirrorOf(mirrors, url, holder),
        place: this.#place(folder),
        fetch,
      }
      const below = await this.#add(part).catch((error: unknown) => {
        throw failureOf(submodule, error)
      })
      await this.#addSubmodules(below.submodules, part, depth + 1)
    }
  }

  #place(folder: string): AnyPart['place'] {
    return { reader: this.#request.reader, root: this.#request.directory, folder }
  }
}

type AnyPart = Part<{ sha: string }>

function count(sum: CheckoutUse, { bytes, files }: CheckoutUse): void {
  sum.bytes += bytes
  sum.files += files
}

/**
 * The credentials for a submodule: those in its own URL, which everybody who can read its parent knows, else those of its
 * parent if it is on the same host. Submodules below one on another host never get the credentials from above it.
 */
function credentialsBelow(
  { access, holder, mirror }: AnyPart,
  url: string,
): Pick<RemoteAccess, 'credentials'> & Pick<AnyPart, 'holder'> {
  const own = splitCredentials(url)
  if (own.username !== null || own.password !== null) return { credentials: null, holder: mirror }
  const above = splitCredentials(access.url)
  const isInAddress = above.username !== null || above.password !== null
  const credentials = isInAddress ? credentialsOf(above) : (access.credentials ?? null)
  return credentials !== null && placeOf(above.url) === placeOf(own.url)
    ? { credentials: forOwnerOf(own.url, credentials), holder }
    : { credentials: null, holder: '' }
}

/** The credentials in a URL, as those of the account that owns the repository, like the credentials of a connection. */
function credentialsOf({ url, username, password }: ReturnType<typeof splitCredentials>): GitCredentials {
  const { origin, pathname } = new URL(url)
  const [owner, name] = pathname.slice(1).split('/', 2)
  // Repositories at the root have no owners.
  const own = name === undefined ? {} : { own: `${origin}/${owner}` }
  return { username: username ?? '', password: password ?? '', place: origin, ...own }
}

/**
 * The credentials for a submodule of another owner. That owner decides what the submodules below it are, so it gets the
 * credentials only for its own repositories.
 */
function forOwnerOf(url: string, credentials: GitCredentials): GitCredentials | null {
  const { own, ...rest } = credentials
  const { place } = rest
  if (own === undefined || isBelow(url, own)) return credentials
  if (!isBelow(url, place)) return null
  const [owner] = url.slice(place.length + 1).split('/', 1)
  return { ...rest, place: `${place}/${owner}` }
}

/** Identifies the host: URLs with the same value can share credentials. */
function placeOf(url: string): string {
  const { protocol, host, port } = parseRepositoryUrl(url)!
  return JSON.stringify([protocol, host, port])
}

/** Adds the message and the author of a commit. */
async function describe(repository: Repository, commit: FetchedCommit): Promise<Checkout> {
  // `show` would first compare the tree with an empty one. The author's name is the first line; the text is not split into
  // lines, since a message may have a million of them.
  const shown = await repository.git(['log', '-1', '--format=%an%n%B', commit.sha])
  const nameEnd = shown.indexOf('\n')
  return {
    ...commit,
    message: plainLines(shown.slice(nameEnd + 1).trim(), MAX_MESSAGE_CHARACTERS),
    author: plainLine(shown.slice(0, nameEnd), MAX_AUTHOR_CHARACTERS),
  }
}
