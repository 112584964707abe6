import { createHash } from 'node:crypto'
import { isAbbreviatedCommit, isBranchOrTag, isFullCommit } from '#server/git/refs.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { BuildFailure } from '#plans/index.ts'
import { GitError } from './git-error.ts'
import { ALL_COMMITS, findInHistory } from './history.ts'
import { branchNames, listRefs, type RemoteRefs } from './refs.ts'
import type { Repository } from './repository.ts'

/** How many branches the message about a missing branch lists. */
const NAMED_BRANCHES = 10
/** The namespace that a complete history is fetched into, to find a commit in it. */
const HISTORY = 'refs/deployer/history'
const BRANCHES_AND_TAGS = ['refs/heads/*', 'refs/tags/*']

/** The commit of a remote that is wanted. */
export interface CommitChoice {
  /** The branch that the service follows, or a tag if there is no branch with that name; null means the remote's HEAD. */
  branch: string | null
  /** A full or abbreviated commit id, or the name of a tag or branch; takes precedence over `branch`. */
  commit: string | null
  /**
   * Whether `commit` comes from a caller who may only deploy published commits: it must then be a branch or tag, or a commit
   * that `branch` contains; with `branch`, only the latter. Git hosts keep the commits of forks and unmerged pull requests
   * in the same repository.
   */
  confined: boolean | 'branch'
}

/**
 * A fetched commit, and the branch that the service follows. The branch is null when the remote's HEAD is not a branch, and
 * when neither a branch nor a commit was given, since the remote was not asked for the name of its HEAD.
 */
export interface FetchedCommit {
  sha: string
  branch: string | null
}

/**
 * Fetches the chosen commit into a repository, as shallowly as the remote allows. Existing objects are not sent again, but
 * each time the remote decides what may be fetched. Throws BuildFailure for a missing commit, else GitError.
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
  const name = isWhole ? undefined : nameOf(commit, refs, confined !== false)
  if (name !== undefined && confined === 'branch')
    // An annotated tag is an object of its own.
    return fetchCommit(repository, { ...choice, commit: refs.get(peeled(name)) ?? refs.get(name)! }, onLine)
  if (name !== undefined) return { sha: await fetchReference(repository, name, place), branch: followed }
  const id = commit.toLowerCase()
  if (!isWhole && !isAbbreviatedCommit(commit)) throw missingCommit(repository, commit)
  const idLength = isWhole ? id.length : ([...refs.values()][0]?.length ?? 0)
  let sha = id
  if (confined !== false) sha = await findInBranch(repository, followed, id, idLength, onLine)
  else if (!isWhole) sha = await completeId(repository, id, refs, idLength, onLine)
  return { sha: await fetchObject(repository, sha, place, onLine), branch: followed }
}

/** Fetches a commit by its full id. Throws BuildFailure for a missing commit, else GitError. */
export function fetchById(
  repository: Repository,
  sha: string,
  onLine: (line: string) => void,
): Promise<string> {
  return fetchObject(repository, sha, placeOf(sha), onLine)
}

const NOT_ASKED: RemoteRefs = { refs: new Map(), defaultBranch: null }

/** The remote's default branch, and if a name is given, all refs that it may mean. */
function askFor({ remote }: Repository, name: string | null): Promise<RemoteRefs> {
  return listRefs(remote, name === null ? ['HEAD'] : ['HEAD', ...BRANCHES_AND_TAGS, name])
}

/**
 * The place that keeps the last fetched commit of a branch: git reports it to the remote, which then sends only the
 * difference. There are sixteen places, so that many branches do not leave many commits behind.
 */
function placeOf(branch: string | null): string {
  return createHash('sha256')
    .update(branch ?? '')
    .digest('hex')[0]!
}

/** The full name of the ref that a text means, by the precedence of gitrevisions(7). */
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

/** The refs that the branch of a service may mean at its remote; the first existing one counts. */
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
  if (!(await repository.usesIdLength(object.length))) await createFor(repository, object)
  try {
    return await resolveFetched(repository, await repository.fetchOne(object, place), object)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    // The remote has no such object.
    if (/not our ref/.test(error.messages)) throw missingCommit(repository, object)
    // The remote gives out only what its refs point to: the commit may still be in the history of one of them.
    if (!isMissingReference(error) && !/unadvertised object|not valid/i.test(error.messages)) throw error
    onLine('the remote does not allow fetching single commits: fetching its complete history')
    await fetchHistory(repository)
    const sha = await repository.resolve(object)
    if (sha === null || !(await isInHistory(repository, sha))) throw missingCommit(repository, object)
    return sha
  }
}

/**
 * Creates a repository again for the length of an object's id. Checks the length of the remote's ids first, so that a wrong
 * id does not destroy a mirror.
 */
async function createFor(repository: Repository, object: string): Promise<void> {
  const { refs } = await listRefs(repository.remote, ['HEAD', ...BRANCHES_AND_TAGS])
  const [listed] = refs.values()
  if (listed?.length !== object.length) throw missingCommit(repository, object)
  await repository.create(object.length)
}

/** Fetches everything that branches and tags contain now. */
async function fetchHistory(repository: Repository): Promise<void> {
  const references = BRANCHES_AND_TAGS.map((pattern) => `+${pattern}:${pattern.replace('refs', HISTORY)}`)
  await repository.fetch(references, ['--prune', `--depth=${ALL_COMMITS}`])
}

/** Whether the remote's history contains a commit: a commit that was removed there may still be here. */
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
  // If the object cannot be read, this throws: the repository is at fault.
  await repository.git(['cat-file', '-t', held])
  const { url } = repository.remote
  throw new BuildFailure(`${name} of ${url} is not a commit: use a commit, branch or tag`)
}

/** The full id of a commit that a branch or tag contains. */
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
  // Most commits in hooks were pushed a moment ago.
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
    `${where} of ${repository.remote.url} does not contain the commit ${id}: a hook deploys what that ${kind} contains, or a branch or tag by its name, and a token that may only deploy what that ${kind} contains; other commits are deployed from the dashboard or with an API token that may change everything`,
  )
}

function peeled(reference: string): string {
  return `${reference}^{}`
}

/** The full id of an abbreviated one: that of a branch or tag, or one in the history of all of them. */
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

/** The commit that was found; null if none was. Throws BuildFailure when several were. */
function onlyOne({ remote }: Repository, prefix: string, [first, ...others]: string[]): string | null {
  if (others.length === 0) return first ?? null
  throw new BuildFailure(`commit ${prefix} is ambiguous in ${remote.url}: use more of its characters`)
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
    `${remote.url} has no commit ${commit}: push it, or use another commit, branch or tag`,
  )
}
