/** Patterns of folders, as workspaces write them: `*`, `?`, `[a-z]` in a name, `**` for any number of folders, braces. */

/** No path on a disk is longer (limits.h, PATH_MAX). */
const MAX_CHARACTERS = 4_096

/** How many patterns may come of one with braces, which multiply each other. */
const MAX_BRACES = 200

/** One part of a segment: a character, or a wildcard for one or for any number of them. */
type Part = { kind: 'any' | 'one' } | { kind: 'of'; isOther: boolean; ranges: [string, string][] } | string

/** Returns the patterns that one with braces stands for; none where they are too many. Braces without a comma are plain text. */
export function withoutBraces(pattern: string): string[] {
  if (pattern.length > MAX_CHARACTERS) return []
  const finished: string[] = []
  const waiting = [pattern]
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    const group = innermost(each)
    if (group === null) finished.push(each)
    else waiting.push(...group.choices.map((choice) => group.before + choice + group.after))
    if (finished.length + waiting.length > MAX_BRACES) return []
  }
  return [...new Set(finished)]
}

/** Returns the first braces with a comma that contain no others; null for none. */
function innermost(pattern: string): { before: string; choices: string[]; after: string } | null {
  let start = -1
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] === '{') start = at
    if (pattern[at] !== '}' || start === -1) continue
    const choices = pattern.slice(start + 1, at).split(',')
    if (choices.length > 1) return { before: pattern.slice(0, start), choices, after: pattern.slice(at + 1) }
    start = -1
  }
  return null
}

/** Returns the names that a pattern consists of. Consecutive `**` are read as one. */
export function segmentsOf(pattern: string): string[] {
  return pattern
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .filter((segment, index, all) => segment !== '**' || all[index - 1] !== '**')
}

/** Whether a folder matches a pattern, both split at their slashes; `**` matches any number of folders. */
export function matchesFolder(folder: readonly string[], pattern: readonly string[]): boolean {
  return matchesEach(folder, pattern, (segment) => segment === '**', matchesName)
}

/** Whether a segment of a pattern is more than a name. */
export function isPattern(segment: string): boolean {
  return /[*?[]/.test(segment)
}

/** Whether a name matches one segment of a pattern. */
export function matchesName(name: string, segment: string): boolean {
  // As in a shell, a wildcard does not match a leading dot.
  if (name.startsWith('.') && !segment.startsWith('.')) return false
  return matchesEach([...name], partsOf(segment), isAny, matchesPart)
}

function isAny(part: Part): boolean {
  return typeof part !== 'string' && part.kind === 'any'
}

function matchesPart(character: string, part: Part): boolean {
  if (typeof part === 'string') return part === character
  if (part.kind !== 'of') return true
  return part.ranges.some(([from, to]) => from <= character && character <= to) !== part.isOther
}

function partsOf(segment: string): Part[] {
  const characters = [...segment]
  const parts: Part[] = []
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!
    const end = character === '[' ? characters.indexOf(']', at + 2) : -1
    if (end !== -1) {
      parts.push(rangesOf(characters.slice(at + 1, end)))
      at = end
    } else if (character === '*') parts.push({ kind: 'any' })
    else if (character === '?') parts.push({ kind: 'one' })
    else parts.push(character)
  }
  return parts
}

function rangesOf(characters: string[]): Part {
  const isOther = characters[0] === '!' || characters[0] === '^'
  const ranges: [string, string][] = []
  for (let at = isOther ? 1 : 0; at < characters.length; at++) {
    const isRange = characters[at + 1] === '-' && at + 2 < characters.length
    ranges.push([characters[at]!, characters[isRange ? at + 2 : at]!])
    if (isRange) at += 2
  }
  return { kind: 'of', isOther, ranges }
}

/**
 * Whether a list matches a pattern, one item for each part, or any number for a part that stands for many. Only the last
 * such part is tried again: what comes before it matches as early as it can (linear in the list, for each part).
 */
function matchesEach<Item, Each>(
  items: readonly Item[],
  pattern: readonly Each[],
  isMany: (part: Each) => boolean,
  matches: (item: Item, part: Each) => boolean,
): boolean {
  let part = 0
  let last = -1
  let taken = 0
  for (let at = 0; at < items.length;) {
    if (part < pattern.length && isMany(pattern[part]!)) {
      last = part
      taken = at
      part += 1
    } else if (part < pattern.length && matches(items[at]!, pattern[part]!)) {
      part += 1
      at += 1
    } else if (last !== -1) {
      part = last + 1
      taken += 1
      at = taken
    } else return false
  }
  while (part < pattern.length && isMany(pattern[part]!)) part += 1
  return part === pattern.length
}
