/** A word with more letters than this is not a typo of another. */
const MAX_LENGTH = 64
/** How many letters may be added, lost, changed or swapped. */
const MAX_DISTANCE = 2
/** Longer than names are; tokens have 44 characters. */
const SECRET_LENGTH = 32

/** What every token of a server begins with. */
export const TOKEN_PREFIX = 'dpl_'
const TOKENS = new RegExp(`${TOKEN_PREFIX}\\w+`, 'g')

/** A sentence that names the nearest of some words, or nothing. `prefix` stands before it, such as `--`. */
export function didYouMean(word: string, candidates: Iterable<string>, prefix = ''): string {
  const nearest = nearestTo(word, candidates)
  return nearest === null ? '' : `. Did you mean ${prefix}${nearest}?`
}

/** The word from which another differs least, by at most two letters; null if there is none. */
export function nearestTo(word: string, candidates: Iterable<string>): string | null {
  if (word.length > MAX_LENGTH) return null
  let nearest: string | null = null
  // A short word is near to everything.
  let least = Math.min(MAX_DISTANCE, Math.max(1, Math.floor(word.length / 2))) + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const distance = distanceOf(word, candidate)
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

/** Whether a word may be a token or a password, which no message repeats. */
export function looksSecret(word: string): boolean {
  return (
    word.includes(TOKEN_PREFIX) ||
    (word.length >= SECRET_LENGTH && /^[\w+/=.-]+$/.test(word) && /\d/.test(word))
  )
}

/** A text without the tokens that were pasted into it. */
export function withoutTokens(text: string): string {
  return text.replaceAll(TOKENS, `${TOKEN_PREFIX}…`)
}

/** The optimal string alignment distance: letters added, lost, changed, or swapped with their neighbour. */
function distanceOf(one: string, other: string): number {
  let [before, last] = [[] as number[], Array.from({ length: other.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    for (let column = 1; column <= other.length; column++) {
      const cost = one[row - 1] === other[column - 1] ? 0 : 1
      let least = Math.min(last[column]! + 1, next[column - 1]! + 1, last[column - 1]! + cost)
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (isSwapped) least = Math.min(least, before[column - 2]! + 1)
      next.push(least)
    }
    ;[before, last] = [last, next]
  }
  return last[other.length]!
}
