import { createHash } from 'node:crypto'
import { isAbbreviatedCommit, isBranchOrTag, isFullCommit } from '#server/git/refs.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { BuildFailure } from '#plans/index.ts'
import { GitError } from './git-error.ts'
import { ALL_COMMITS, findInHistory } from './history.ts'
import { branchNames, listRefs, type RemoteRefs } from './refs.ts'
import type { Repository } from './repository.ts'

/** As many branches are named to one who asked for a missing one. */
const NAMED_BRANCHES = 10
/** Where a whole history is fetched to, until the commit is found in it. */
const HISTORY = 'refs/deployer/history'
const BRANCHES_AND_TAGS = ['refs/heads/*', 'refs/tags/*']

/** Which commit of a remote is wanted. */
export interface CommitChoice {
  /** The branch that the service follows, or a tag of that name where there is no such branch; null is the remote's HEAD. */
  branch: string | null
  /** A whole or abbreviated commit id, or the name of a tag or branch; wins over `branch`. */
  commit: string | null
  /**
   * Whether `commit` was named by someone who may deploy no more than what is on offer: it is then a branch or tag, or a
   * commit that `branch` contains. Hosts keep the commits of forks and of unmerged requests in the same repository.
   */
  confined: boolean
}

/**
 * A commit that is in a repository, and the branch that the service follows: null when the remote's HEAD is none, and when
 * neither a branch nor a commit was named, as nobody was asked which one that is.
 */
export interface FetchedCommit {
  sha: string
  branch: string | null
}

/**
 * Fetches the chosen commit into a repository, as shallow as the remote lets. What is there already saves sending it, but
 * only the remote says, each time, what may be had. Throws BuildFailure for a missing one, else GitError.
 */
export async function fetchCommit(
  repository: Repository,
  choice: CommitChoice,
  onLine: (line: string) => void,
): Promise<FetchedCommit> {
  const { branch, commit, confined } = choice
  const place = placeOf(branch)
  if (commit === null) return await fetchBranch(repository, branch, place)
  const isWhole = isFullCommit(commit)
  const { refs, defaultBranch } =
    isWhole && branch !== null ? NOT_ASKED : await askFor(repository, isWhole ? null : commit)
  const followed = branch ?? defaultBranch
  const name = isWhole ? undefined : nameOf(commit, refs, confined)
  if (name !== undefined) return { sha: await fetchReference(repository, name, place), branch: followed }
  const id = commit.toLowerCase()
  if (!isWhole && !isAbbreviatedCommit(commit)) throw missingCommit(repository, commit)
  const idLength = isWhole ? id.length : ([...refs.values()][0]?.length ?? 0)
  let sha = id
  if (confined) sha = await findInBranch(repository, followed, id, idLength, onLine)
  else if (!isWhole) sha = await completeId(repository, id, refs, idLength, onLine)
  return { sha: await fetchObject(repository, sha, place, onLine), branch: followed }
}

/** Fetches a commit by its whole id. Throws BuildFailure for a missing one, else GitError. */
export function fetchById(
  repository: Repository,
  sha: string,
  onLine: (line: string) => void,
): Promise<string> {
  return fetchObject(repository, sha, placeOf(sha), onLine)
}

const NOT_ASKED: RemoteRefs = { refs: new Map(), defaultBranch: null }

/** The remote's default branch, and with a name every ref that it may mean. */
function askFor({ remote }: Repository, name: string | null): Promise<RemoteRefs> {
  return listRefs(remote, name === null ? ['HEAD'] : ['HEAD', ...BRANCHES_AND_TAGS, name])
}

/**
 * Where what was fetched last for a branch is held: git tells the remote of it, which then sends the difference. There are
 * sixteen such places, so that any number of branches leaves no more behind.
 */
function placeOf(branch: string | null): string {
  return createHash('sha256')
    .update(branch ?? '')
    .digest('hex')[0]!
}

/** The full name of the ref that a text means, in the order of gitrevisions(7). */
function nameOf(text: string, refs: RemoteRefs['refs'], confined: boolean): string | undefined {
  return [text, `refs/tags/${text}`, `refs/heads/${text}`].find(
    (name) => refs.has(name) && (!confined || isBranchOrTag(name)),
  )
}

async function fetchBranch(
  repository: Repository,
  branch: string | null,
  place: string,
): Promise<FetchedCommit> {
  for (const reference of referencesOf(branch)) {
    try {
      return { sha: await fetchReference(repository, reference, place), branch }
    } catch (error) {
      if (!isMissingReference(error)) throw error
    }
  }
  throw await missingBranch(repository, branch)
}

/** What the branch that a service follows may be at its remote; the first that is there counts. */
function referencesOf(branch: string | null): string[] {
  return branch === null ? ['HEAD'] : [`refs/heads/${branch}`, `refs/tags/${branch}`]
}

async function fetchReference(repository: Repository, name: string, place: string): Promise<string> {
  return await resolveFetched(repository, await repository.fetchOne(name, place), name)
}

async function fetchObject(
  repository: Repository,
  object: string,
  place: string,
  onLine: (line: string) => void,
): Promise<string> {
  if (!(await repository.takes(object.length))) await makeFor(repository, object)
  try {
    return await resolveFetched(repository, await repository.fetchOne(object, place), object)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    // The server looked and has no such object.
    if (/not our ref/.test(error.messages)) throw missingCommit(repository, object)
    // It hands out only what its refs name: the commit may still lie behind one of them.
    if (!isMissingReference(error) && !/unadvertised object|not valid/i.test(error.messages)) throw error
    onLine('the remote gives no single commits: fetching its whole history')
    await fetchHistory(repository)
    const sha = await repository.resolve(object)
    if (sha === null || !(await isInHistory(repository, sha))) throw missingCommit(repository, object)
    return sha
  }
}

/** Makes a repository anew for an object. Its remote says of what length its ids are: whoever names one spoils no mirror. */
async function makeFor(repository: Repository, object: string): Promise<void> {
  const { refs } = await listRefs(repository.remote, ['HEAD', ...BRANCHES_AND_TAGS])
  const [told] = refs.values()
  if (told?.length !== object.length) throw missingCommit(repository, object)
  await repository.make(object.length)
}

/** Fetches all that branches and tags contain now. */
async function fetchHistory(repository: Repository): Promise<void> {
  const references = BRANCHES_AND_TAGS.map((pattern) => `+${pattern}:${pattern.replace('refs', HISTORY)}`)
  await repository.fetch(references, ['--prune', `--depth=${ALL_COMMITS}`])
}

/** Whether the remote has a commit: one that it took away may still be here. */
async function isInHistory(repository: Repository, sha: string): Promise<boolean> {
  const refs = await repository.git(['for-each-ref', '--count=1', `--contains=${sha}`, HISTORY])
  return refs.trim() !== ''
}

function isMissingReference(error: unknown): boolean {
  return error instanceof GitError && /no such remote ref|couldn't find remote ref/i.test(error.messages)
}

async function resolveFetched(repository: Repository, held: string, name: string): Promise<string> {
  const sha = await repository.resolve(held)
  if (sha !== null) return sha
  // Of an object that cannot be read the fault is the repository's.
  await repository.git(['cat-file', '-t', held])
  const { url } = repository.remote
  throw new BuildFailure(`${name} of ${url} is not a commit: give one, or a branch or tag`)
}

/** The whole id of a commit that a branch, or a tag, contains. */
async function findInBranch(
  repository: Repository,
  branch: string | null,
  id: string,
  idLength: number,
  onLine: (line: string) => void,
): Promise<string> {
  const references = referencesOf(branch)
  // An annotated tag is listed with the commit that it points to (gitprotocol-v2(5), "peeled").
  const { refs } = await listRefs(repository.remote, [...references, ...references.map(peeled)])
  const reference = references.find((name) => refs.has(name))
  if (reference === undefined) throw await missingBranch(repository, branch)
  // Most of what a hook names was pushed a moment ago.
  if ([refs.get(reference), refs.get(peeled(reference))].includes(id)) return id
  const kind = reference.startsWith('refs/tags/') ? 'tag' : 'branch'
  const where = branch === null ? 'the default branch' : `the ${kind} ${branch}`
  onLine(`looking for commit ${id} in ${where}`)
  const found = await findInHistory(repository, [reference], id, idLength).catch(async (error: unknown) => {
    throw isMissingReference(error) ? await missingBranch(repository, branch) : error
  })
  const sha = onlyOne(repository, id, found)
  if (sha !== null) return sha
  throw new BuildFailure(
    `${where} of ${repository.remote.url} does not contain the commit ${id}: a hook deploys what that ${kind} contains, or a branch or tag by its name; other commits are deployed from the dashboard or with an API token`,
  )
}

function peeled(reference: string): string {
  return `${reference}^{}`
}

/** The whole id of an abbreviated one: a tip's, or one of the history of all branches and tags. */
async function completeId(
  repository: Repository,
  prefix: string,
  refs: RemoteRefs['refs'],
  idLength: number,
  onLine: (line: string) => void,
): Promise<string> {
  const tips = new Set([...refs.values()].filter((object) => object.startsWith(prefix)))
  const [tip] = tips
  if (tips.size === 1) return tip!
  onLine(`looking for commit ${prefix} in the history`)
  const found = await findInHistory(repository, BRANCHES_AND_TAGS, prefix, idLength)
  const sha = onlyOne(repository, prefix, found)
  if (sha === null) throw missingCommit(repository, prefix)
  return sha
}

/** The commit that was found; null without one. Throws BuildFailure when several were. */
function onlyOne({ remote }: Repository, prefix: string, [first, ...others]: string[]): string | null {
  if (others.length === 0) return first ?? null
  throw new BuildFailure(`commit ${prefix} is ambiguous in ${remote.url}: give more of its characters`)
}

async function missingBranch({ remote }: Repository, branch: string | null): Promise<BuildFailure> {
  const names = branchNames(await listRefs(remote, ['refs/heads/*']))
  const { url } = remote
  if (names.length === 0) return new BuildFailure(`${url} is empty: push a commit to it first`)
  const named = plainLine(names.slice(0, NAMED_BRANCHES).join(', '))
  const shown = named + (names.length > NAMED_BRANCHES ? ', ...' : '')
  if (branch === null) {
    return new BuildFailure(
      `the default branch of ${url} does not exist: set branch to one of its branches (${shown})`,
    )
  }
  return new BuildFailure(
    `${url} has no branch ${branch}: set branch to one of its branches (${shown}), or to a tag`,
  )
}

function missingCommit({ remote }: Repository, commit: string): BuildFailure {
  return new BuildFailure(
    `${remote.url} has no commit ${commit}: push it, or give another commit, branch or tag`,
  )
}
