import { z } from 'zod'
import { AppError } from '../errors.ts'
import { isFullCommit, type Pushed } from '../git/refs.ts'
import { repositoryKey } from '../git/same-repository.ts'

/** A push, the same for every provider. */
export interface Push extends Pushed {
  /** The full ref, such as `refs/heads/main`. */
  ref: string
  /** The commit that the ref points to now. */
  after: string
  message: string
  /** The keys that identify the repository. */
  repositories: Set<string>
  /** `owner/name`, to show to people. */
  name: string | null
  /**
   * Returns every file that the push changes; null when the payload does not list them all. Computed when called, which is
   * rare.
   */
  files: () => string[] | null
}

const Text = z.string().optional().nullable().catch(null)

/** Commit ids that mean no commit: the branch was deleted, or is new (githooks(5), pre-receive). */
const NO_COMMIT = /^0+$/

/**
 * GitHub lists at most this many commits of a push (https://docs.github.com/en/webhooks/webhook-events-and-payloads#push).
 */
const MAX_LISTED_COMMITS = 2_048
/** For a commit that changes more files, GitHub's own comparisons leave some out. */
const MAX_LISTED_FILES = 300
/**
 * Limit for all file names together: each is matched against each glob of each service, and anyone who may push chooses
 * them.
 */
const MAX_NAMES_CHARACTERS = 512 * 1024

const Files = z.array(z.string()).max(MAX_LISTED_FILES - 1)

/** A commit that lists its files. */
const ListedCommit = z.object({ id: z.string(), added: Files, removed: Files, modified: Files })

/** A push whose payload lists all files: judged by GitHub's `forced` and `created`, and by GitLab's and Gitea's totals. */
const CompletePush = z.object({
  before: z.string().refine((id) => !NO_COMMIT.test(id)),
  forced: z.literal(false).nullish(),
  created: z.literal(false).nullish(),
  commits: z
    .array(ListedCommit)
    .min(1)
    .max(MAX_LISTED_COMMITS - 1),
  total_commits_count: z.int().nullish(),
  total_commits: z.int().nullish(),
})

/** The parts of a push that are read, from GitHub's payload (also Gitea's and Forgejo's) and from GitLab's. */
const Payload = z.object({
  ref: z.string(),
  after: z.string(),
  /** GitLab's counterpart of `repository`. */
  checkout_sha: Text,
  head_commit: z.object({ id: Text, message: Text }).nullish().catch(null),
  commits: z
    .array(z.object({ id: Text, message: Text }))
    .nullish()
    .catch(null),
  repository: z
    .object({
      full_name: Text,
      clone_url: Text,
      ssh_url: Text,
      git_url: Text,
      html_url: Text,
      url: Text,
      default_branch: Text,
    })
    .nullish()
    .catch(null),
  project: z
    .object({
      path_with_namespace: Text,
      git_http_url: Text,
      git_ssh_url: Text,
      web_url: Text,
      default_branch: Text,
    })
    .nullish()
    .catch(null),
})

/**
 * Reads a push. Says why it is ignored when it is neither to a branch nor to a tag. Throws `invalid_request` for an invalid
 * payload.
 */
export function readPush(payload: unknown): Push | { ignored: string } {
  const parsed = Payload.safeParse(payload)
  if (!parsed.success)
    throw new AppError('invalid_request', 'the payload is not a push event: it has no ref and after')
  const { ref, head_commit, checkout_sha, commits, repository, project } = parsed.data
  const [, folder, branch] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? []
  if (branch === undefined) return { ignored: `${ref} is neither a branch nor a tag` }
  const kind = folder === 'tags' ? 'tag' : 'branch'
  if (NO_COMMIT.test(parsed.data.after)) return { ignored: `the ${kind} ${branch} was deleted` }
  if (!isFullCommit(parsed.data.after))
    throw new AppError('invalid_request', 'after: must be a full commit id')
  // For an annotated tag, `after` is the id of the tag object, not of its commit.
  const commit = kind === 'tag' ? (checkout_sha ?? head_commit?.id) : null
  const after = commit && isFullCommit(commit) ? commit : parsed.data.after
  const { full_name: name, ...places } = repository ?? {}
  const { path_with_namespace: path, ...projectPlaces } = project ?? {}
  const urls = [...Object.values(places), ...Object.values(projectPlaces)]
  return {
    ref,
    kind,
    branch,
    after,
    message: head_commit?.message ?? commits?.find(({ id }) => id === after)?.message ?? '',
    defaultBranch: repository?.default_branch ?? project?.default_branch ?? null,
    repositories: new Set(
      urls.flatMap((url) => (url ? [repositoryKey(url)] : [])).filter((key) => key !== null),
    ),
    name: name ?? path ?? null,
    files: once(() => filesOf(payload, after)),
  }
}

/** Wraps a function so that it runs at most once. */
function once<T>(work: () => T): () => T {
  let done: { value: T } | null = null
  return () => (done ??= { value: work() }).value
}

/**
 * Every file that a push changes; null when the payload does not list them (the push is forced, new or truncated), or there
 * are too many.
 */
function filesOf(payload: unknown, after: string): string[] | null {
  const complete = CompletePush.safeParse(payload)
  if (!complete.success) return null
  const { commits, total_commits_count, total_commits } = complete.data
  const isWhole = commits.length >= (total_commits_count ?? total_commits ?? 0)
  if (!isWhole || !commits.some(({ id }) => id === after)) return null
  const files = new Set(
    commits.flatMap(({ added, removed, modified }) => [...added, ...removed, ...modified]),
  )
  const characters = [...files].reduce((sum, file) => sum + file.length, 0)
  return characters > MAX_NAMES_CHARACTERS ? null : [...files]
}

const SKIP = /\[(?:skip (?:deploy|cd|ci)|(?:deploy|cd|ci) skip|no (?:deploy|cd|ci))\]/i

/** The phrase in a commit's message that asks not to deploy it; null when there is none. */
export function skipPhrase(message: string): string | null {
  return SKIP.exec(message)?.[0] ?? null
}
