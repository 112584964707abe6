import { Pattern, fill, splitPath } from '#proxy/sites/pattern.ts'
import { patternFault, targetFault, unknownPlaceholder } from '../text/path-patterns.ts'

/** Browsers follow about 20 redirects before they give up. */
const MAX_HOPS = 20
/** What stands for whatever a pattern captures: no rule is likely to name it. */
const ANYTHING = 'x-anything'

export interface PathRedirect {
  from: string
  to: string
}

/** Why a path to redirect is invalid; null when it is valid. */
export function fromFault(from: string): string | null {
  return /[\x00-\x1f\x7f\\]/.test(from)
    ? `${JSON.stringify(from)} has characters that a path cannot contain`
    : patternFault(from)
}

/** Why the target of a redirect is invalid, by itself; null when it is valid. */
export function toFault(to: string): string | null {
  if (!to.startsWith('/') && !/^https?:\/\//i.test(to)) return `${to} is not a path or an http(s) URL`
  return /\s/.test(to) ? `${JSON.stringify(to)} contains a space: write %20` : targetFault(to)
}

/** Why a target does not fit what its redirect captures; null when it does. */
export function captureFault({ from, to }: PathRedirect): string | null {
  const unknown = unknownPlaceholder(from, to)
  return unknown === undefined ? null : `:${unknown} does not occur in ${from}`
}

/**
 * Finds a redirect that leads a request round in a circle, to itself, or on and on: for each one, a path that it matches is
 * followed until no redirect matches or an absolute URL leads away. So what it finds is proved, but not every circle is found.
 * All redirects must be valid by themselves.
 */
export function findCircle(redirects: readonly PathRedirect[]): { index: number; fault: string } | null {
  const rules = redirects.map(({ from, to }) => ({ pattern: new Pattern(from), to }))
  const next = (path: string): string | null => {
    const split = splitPath(path)
    for (const { pattern, to } of rules) {
      const taken = pattern.match(split)
      if (taken)
        return to.startsWith('/') ? pathOf(fill(to.split(/[?#]/, 1)[0]!, taken, encodeURIComponent)) : null
    }
    return null
  }
  for (const [index, { from }] of redirects.entries()) {
    const walked = [sampleOf(from)]
    for (let path = next(walked[0]!); path !== null; path = next(path)) {
      const here = path
      const isCircle = walked.some((earlier) => isSame(earlier, here))
      walked.push(path)
      if (!isCircle && walked.length <= MAX_HOPS) continue
      const way = walked.slice(0, 4).join(' -> ') + (walked.length > 4 ? ' -> ...' : '')
      return { index, fault: `leads in a circle: ${way}` }
    }
  }
  return null
}

/** A path that a pattern matches. */
function sampleOf(from: string): string {
  const segments = from.split('/').map((segment) => (/^:[A-Za-z]\w*$/.test(segment) ? ANYTHING : segment))
  return pathOf(segments.join('/').replace(/\*$/, ANYTHING))
}

function pathOf(target: string): string {
  return decodeURIComponent(target).replace(/^\/+/, '/')
}

/** Patterns do not tell a path from the same one with a slash at its end. */
function isSame(left: string, right: string): boolean {
  return splitPath(left).segments.join('/') === splitPath(right).segments.join('/')
}
