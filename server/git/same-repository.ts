import { parseRepositoryUrl } from './url.ts'

/**
 * Returns what identifies a repository, whichever way it is reached: its host and path, without scheme, credentials, port
 * and the ending `.git`. Null for a text that is not a repository address.
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
