/**
 * The grammar of paths to match and of targets, as `_redirects` and `_headers` have it and redirects of a service: a segment
 * `:name` captures one segment, and a final `*` the rest. `proxy/sites/pattern.ts` matches them.
 */

/** Why a path to match is invalid; null when it is valid. */
export function patternFault(pattern: string): string | null {
  if (!pattern.startsWith('/')) return `${pattern} is not a path: only paths of the site can be matched`
  if (/\s/.test(pattern)) return `${pattern} contains a space: write %20`
  if (/[?#]/.test(pattern)) return `${pattern} has a query or a fragment, which cannot be matched`
  const star = pattern.indexOf('*')
  if (star >= 0 && star < pattern.length - 1)
    return `${pattern} has a * before its end, which is not supported`
  return escapesFault(pattern)
}

/** Why a target is invalid; null when it is valid. */
export function targetFault(target: string): string | null {
  if (target.startsWith('//')) return `${target} names a host without a scheme: write https:${target}`
  if (!target.startsWith('/') && !URL.canParse(target)) return `${target} is not a URL`
  if (/[\x00-\x1f\x7f\\]/.test(target))
    return `${JSON.stringify(target)} has characters that a URL cannot contain`
  return escapesFault(target)
}

/** The first name after a colon in a target that its pattern does not capture. A port is not one: names begin with a letter. */
export function unknownPlaceholder(pattern: string, target: string): string | undefined {
  const names = [...target.matchAll(/:([A-Za-z]\w*)/g)].map(([, name]) => name!)
  return names.find((name) => !captures(pattern, name))
}

function captures(pattern: string, name: string): boolean {
  return (name === 'splat' && pattern.endsWith('*')) || pattern.split('/').includes(`:${name}`)
}

function escapesFault(path: string): string | null {
  try {
    decodeURIComponent(path)
    return null
  } catch {
    return `${path} has a % that does not begin an escape: write %25`
  }
}
