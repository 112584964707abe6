import { parseRepositoryUrl } from './url.ts'

/**
 * What a repository is known by, whichever way it is reached: its host and path, without scheme, credentials, port and
 * the ending `.git`. Null for what is no repository address.
 */
export function repositoryKey(url: string): string | null {
  const parsed = parseRepositoryUrl(url)
  if (!parsed) return null
  const path = parsed.path
    .split('/')
    .filter((part) => part !== '')
    .join('/')
    .replace(/\.git$/i, '')
    .replace(/^~\//, '')
  return `${parsed.host.toLowerCase()}/${path.toLowerCase()}`
}
