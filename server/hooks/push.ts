import { z } from 'zod'
import { AppError } from '../errors.ts'
import { isFullCommit } from '../git/refs.ts'
import { repositoryKey } from '../git/same-repository.ts'

/** What a push says, whichever provider sent it. */
export interface Push {
  branch: string
  /** The branch's new head. */
  after: string
  message: string
  defaultBranch: string | null
  /** What the repository is known by. */
  repositories: Set<string>
}

const Text = z.string().optional().nullable().catch(null)

/** The parts of a push that are read, of GitHub's payload (also Gitea's and Forgejo's) and of GitLab's. */
const Payload = z.object({
  ref: z.string(),
  after: z.string(),
  head_commit: z.object({ message: Text }).nullish().catch(null),
  commits: z
    .array(z.object({ id: Text, message: Text }))
    .nullish()
    .catch(null),
  repository: z
    .object({
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
    .object({ git_http_url: Text, git_ssh_url: Text, web_url: Text, default_branch: Text })
    .nullish()
    .catch(null),
})

/** Commit ids that stand for no commit: the branch was deleted (githooks(5), pre-receive). */
const NO_COMMIT = /^0+$/

/** Takes a push apart. Answers why it is ignored when it is none of a branch. Throws `invalid_request` for what is no push. */
export function readPush(payload: unknown): Push | { ignored: string } {
  const parsed = Payload.safeParse(payload)
  if (!parsed.success)
    throw new AppError('invalid_request', 'the payload is not that of a push: it has no ref and after')
  const { ref, after, head_commit, commits, repository, project } = parsed.data
  if (!ref.startsWith('refs/heads/')) return { ignored: `${ref} is no branch` }
  const branch = ref.slice('refs/heads/'.length)
  if (NO_COMMIT.test(after)) return { ignored: `the branch ${branch} was deleted` }
  if (!isFullCommit(after)) throw new AppError('invalid_request', 'after: must be a whole commit id')
  const urls = [...Object.values(repository ?? {}), ...Object.values(project ?? {})]
  return {
    branch,
    after,
    message: head_commit?.message ?? commits?.find(({ id }) => id === after)?.message ?? '',
    defaultBranch: repository?.default_branch ?? project?.default_branch ?? null,
    repositories: new Set(
      urls.flatMap((url) => (url ? [repositoryKey(url)] : [])).filter((key) => key !== null),
    ),
  }
}

const SKIP = /\[(?:skip deploy|deploy skip|skip cd|skip ci)\]/i

/** The phrase with which a commit's message asks not to be deployed; null when it does not. */
export function skipPhrase(message: string): string | null {
  return SKIP.exec(message)?.[0] ?? null
}
