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

export { lsRemote } from './refs.ts'
export { ensureSshKey } from './ssh-key.ts'

/** A clone that takes longer is given up; the build's own time limit holds beside it. */
const CHECKOUT_TIMEOUT_MS = 15 * 60_000
/** As much of a commit's message as is kept. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024
/** And of the name of its author. */
const MAX_AUTHOR_CHARACTERS = 256
/** Submodules of submodules, and theirs: deeper ones are of a repository that contains itself. */
const MAX_DEPTH = 10

export interface CheckoutRequest extends RemoteAccess, CommitChoice {
  /** Where what is fetched is kept between checkouts. */
  mirrors: string
  /** Whose credentials these are, the same while they are renewed: others see nothing of what was fetched with them. */
  holder: string
  /** Whether trees that are kept are made use of; else they are written anew. */
  usesKeptTrees: boolean
  /** Made; what is in it is removed. */
  directory: string
  /** Ends with the signal. */
  reader: Reader
  signal: AbortSignal
  /** Receives lines for the build's log. */
  onLine: (line: string) => void
}

/** What a checkout is of. */
export interface Checkout extends FetchedCommit {
  message: string
  author: string
}

/**
 * Puts one commit's tree into a directory, submodules included and nothing of git's own. What is sent is what the mirror of
 * a repository lacks, as shallow as the remote lets. Hooks and filters never run; links are left as they are. The files may
 * be shared with other trees: they are replaced, never written to. Throws BuildFailure with what to change.
 */
export async function checkout(request: CheckoutRequest): Promise<Checkout> {
  const { url } = splitCredentials(request.url)
  const timeout = AbortSignal.timeout(CHECKOUT_TIMEOUT_MS)
  const ending = new AbortController()
  const signal = AbortSignal.any([request.signal, timeout, ending.signal])
  try {
    // Each is a conversation with the remote, of which neither needs the other.
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

/** The branch that the remote's HEAD is, where that is what is asked for; else null. Throws RemoteFault. */
async function followedBranch(request: CheckoutRequest, signal: AbortSignal): Promise<string | null> {
  if (request.branch !== null || request.commit !== null) return null
  const { defaultBranch } = await withRemote(request, signal, (remote) => listRefs(remote, ['HEAD']))
  return defaultBranch
}

/** The repositories of one checkout, laid out one after another: each may be the mirror of another's submodule too. */
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
 * The credentials for a submodule: those in its own address, which who may read its parent knows, else those of its parent
 * on the same host. What lies below another host gets none of those above it, wherever it says that it is.
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

/** The credentials in an address: those of the account that its repository is of, as those of a connection are. */
function credentialsOf({ url, username, password }: ReturnType<typeof splitCredentials>): GitCredentials {
  const { origin, pathname } = new URL(url)
  const [owner, name] = pathname.slice(1).split('/', 2)
  // Where repositories lie at the root they have no owners.
  const own = name === undefined ? {} : { own: `${origin}/${owner}` }
  return { username: username ?? '', password: password ?? '', place: origin, ...own }
}

/**
 * The credentials for a submodule that is somebody else's: what lies below that is theirs to say, so that it gets them for
 * their repositories alone.
 */
function forOwnerOf(url: string, credentials: GitCredentials): GitCredentials | null {
  const { own, ...rest } = credentials
  const { place } = rest
  if (own === undefined || isBelow(url, own)) return credentials
  if (!isBelow(url, place)) return null
  const [owner] = url.slice(place.length + 1).split('/', 1)
  return { ...rest, place: `${place}/${owner}` }
}

/** What has the same credentials. */
function placeOf(url: string): string {
  const { protocol, host, port } = parseRepositoryUrl(url)!
  return JSON.stringify([protocol, host, port])
}

/** Adds what people know a commit by. */
async function describe(repository: Repository, commit: FetchedCommit): Promise<Checkout> {
  // `show` would compare the tree with an empty one first. The name of an author is one line; not split: a message may be a
  // million of them.
  const shown = await repository.git(['log', '-1', '--format=%an%n%B', commit.sha])
  const nameEnd = shown.indexOf('\n')
  return {
    ...commit,
    message: plainLines(shown.slice(nameEnd + 1).trim(), MAX_MESSAGE_CHARACTERS),
    author: plainLine(shown.slice(0, nameEnd), MAX_AUTHOR_CHARACTERS),
  }
}
