import { z } from 'zod'
import { AppError } from '../errors.ts'
import { isFullCommit, type Pushed } from '../git/refs.ts'
import { repositoryKey } from '../git/same-repository.ts'

/** What a push says, whichever provider sent it. */
export interface Push extends Pushed {
  /** In full, such as `refs/heads/main`. */
  ref: string
  /** The commit that it is at now. */
  after: string
  message: string
  /** What the repository is known by. */
  repositories: Set<string>
  /** For people: `owner/name`. */
  name: string | null
  /** Every file that the push touches; null when the payload does not tell all of them. Read when asked for: few ask. */
  files: () => string[] | null
}

const Text = z.string().optional().nullable().catch(null)

/** Commit ids that stand for no commit: a branch that was deleted, or is new (githooks(5), pre-receive). */
const NO_COMMIT = /^0+$/

/** GitHub tells no more commits of a push (https://docs.github.com/en/webhooks/webhook-events-and-payloads#push). */
const MAX_TOLD_COMMITS = 2_048
/** Of a commit that touches more, GitHub's own comparisons leave files out. */
const MAX_TOLD_FILES = 300
/** Of all names together: every one is held against each glob of each service, and whoever may push chooses them. */
const MAX_NAMES_CHARACTERS = 512 * 1024

const Files = z.array(z.string()).max(MAX_TOLD_FILES - 1)

/** A commit that tells its files. */
const ToldCommit = z.object({ id: z.string(), added: Files, removed: Files, modified: Files })

/** What has to be so for a payload to tell all files: GitHub's `forced` and `created`, GitLab's and Gitea's totals. */
const ToldPush = z.object({
  before: z.string().refine((id) => !NO_COMMIT.test(id)),
  forced: z.literal(false).nullish(),
  created: z.literal(false).nullish(),
  commits: z
    .array(ToldCommit)
    .min(1)
    .max(MAX_TOLD_COMMITS - 1),
  total_commits_count: z.int().nullish(),
  total_commits: z.int().nullish(),
})

/** The parts of a push that are read, of GitHub's payload (also Gitea's and Forgejo's) and of GitLab's. */
const Payload = z.object({
  ref: z.string(),
  after: z.string(),
  /** GitLab's. */
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

/** Reads a push. Answers why it is ignored when it is of neither a branch nor a tag. Throws `invalid_request` for what is not a push. */
export function readPush(payload: unknown): Push | { ignored: string } {
  const parsed = Payload.safeParse(payload)
  if (!parsed.success)
    throw new AppError('invalid_request', 'the payload is not that of a push: it has no ref and after')
  const { ref, head_commit, checkout_sha, commits, repository, project } = parsed.data
  const [, folder, branch] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? []
  if (branch === undefined) return { ignored: `${ref} is neither a branch nor a tag` }
  const kind = folder === 'tags' ? 'tag' : 'branch'
  if (NO_COMMIT.test(parsed.data.after)) return { ignored: `the ${kind} ${branch} was deleted` }
  if (!isFullCommit(parsed.data.after))
    throw new AppError('invalid_request', 'after: must be a whole commit id')
  // Of a tag with a message of its own `after` is that tag, not its commit.
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

/** A function whose work is done at most once. */
function once<T>(work: () => T): () => T {
  let done: { value: T } | null = null
  return () => (done ??= { value: work() }).value
}

/** Every file that a push touches; null when its payload cannot tell (it is forced, new, cut, or tells no files), or too many. */
function filesOf(payload: unknown, after: string): string[] | null {
  const told = ToldPush.safeParse(payload)
  if (!told.success) return null
  const { commits, total_commits_count, total_commits } = told.data
  const isWhole = commits.length >= (total_commits_count ?? total_commits ?? 0)
  if (!isWhole || !commits.some(({ id }) => id === after)) return null
  const files = new Set(
    commits.flatMap(({ added, removed, modified }) => [...added, ...removed, ...modified]),
  )
  const characters = [...files].reduce((sum, file) => sum + file.length, 0)
  return characters > MAX_NAMES_CHARACTERS ? null : [...files]
}

const SKIP = /\[(?:skip (?:deploy|cd|ci)|(?:deploy|cd|ci) skip|no (?:deploy|cd|ci))\]/i

/** The phrase with which a commit's message asks not to be deployed; null when it does not. */
export function skipPhrase(message: string): string | null {
  return SKIP.exec(message)?.[0] ?? null
}
