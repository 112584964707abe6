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

/** Where well-known hosts show the commits from one to another. */
const COMPARE_PATHS: Record<string, (older: string, newer: string) => string> = {
  'github.com': (older, newer) => `compare/${older}...${newer}`,
  'gitlab.com': (older, newer) => `-/compare/${older}...${newer}`,
  'bitbucket.org': (older, newer) => `branches/compare/${newer}..${older}`,
  'codeberg.org': (older, newer) => `compare/${older}...${newer}`,
  'gitea.com': (older, newer) => `compare/${older}...${newer}`,
}

type Version = Pick<Deploy, 'commit_sha' | 'source' | 'trigger' | 'created_at'>

/** The page of the commits between two deploys of one repository; null where that is not known. */
export function compareUrl(from: Version, to: Version): string | null {
  const { repo_url } = to.source
  if (repo_url === null || repo_url !== from.source.repo_url || !from.commit_sha || !to.commit_sha)
    return null
  const repository = from.commit_sha === to.commit_sha ? null : placeOf(repo_url)
  if (!repository || !Object.hasOwn(COMPARE_PATHS, repository.host)) return null
  // These pages are empty from a newer commit to an older one, as a rollback goes.
  const isBack = to.trigger === 'rollback' || to.created_at < from.created_at
  const [older, newer] = isBack ? [to.commit_sha, from.commit_sha] : [from.commit_sha, to.commit_sha]
  const { host, path } = repository
  return `https://${host}/${path}/${COMPARE_PATHS[host]!(older, newer)}`
}

/** Host and path of a repository's address, `https://host/path.git` or `git@host:path.git`. */
function placeOf(address: string): { host: string; path: string } | null {
  const match = /^(?:[a-z]+:\/\/)?(?:[^@/]*@)?([^:/]+)(?::\d+)?[:/]\/*(.+?)(?:\.git)?\/*$/i.exec(address)
  if (!match) return null
  const [, host = '', path = ''] = match
  return { host: host.toLowerCase(), path: path.split('/').map(encodeURIComponent).join('/') }
}
