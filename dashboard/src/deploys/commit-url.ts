import type { Deploy } from '../api/types.ts'

/** Where well-known hosts show a commit; for other hosts it is unknown. */
const COMMIT_PATHS: Record<string, string> = {
  'github.com': 'commit',
  'gitlab.com': '-/commit',
  'bitbucket.org': 'commits',
  'codeberg.org': 'commit',
  'gitea.com': 'commit',
}

/** The page of a deploy's commit at its provider; null where that is not known. */
export function commitUrl({
  commit_sha: commit,
  source,
}: Pick<Deploy, 'commit_sha' | 'source'>): string | null {
  const repository = commit === null || source.repo_url === null ? null : placeOf(source.repo_url)
  if (!repository || !Object.hasOwn(COMMIT_PATHS, repository.host)) return null
  const { host, path } = repository
  return `https://${host}/${path}/${COMMIT_PATHS[host]}/${commit}`
}

/** Host and path of a repository's address, `https://host/path.git` or `git@host:path.git`. */
function placeOf(address: string): { host: string; path: string } | null {
  const match = /^(?:[a-z]+:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+)?[:/]\/*(.+?)(?:\.git)?\/*$/i.exec(address)
  if (!match) return null
  const [, host = '', path = ''] = match
  return { host: host.toLowerCase(), path: path.split('/').map(encodeURIComponent).join('/') }
}
