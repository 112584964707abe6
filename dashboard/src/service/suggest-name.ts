const MAX_NAME_CHARACTERS = 63

/** A service name from a repository address, an image reference or a file name; empty when nothing is left of it. */
export function suggestName(source: string): string {
  const path = source
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/@sha256:.*$/, '')
    .replace(/^[\w.-]+@[^:/]+:/, '')
    .replace(/\/+$/, '')
  return path
    .slice(path.lastIndexOf('/') + 1)
    .replace(/\.(git|tar\.gz|tgz)$/i, '')
    .replace(/:.*$/, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, MAX_NAME_CHARACTERS)
    .replace(/-+$/, '')
}
