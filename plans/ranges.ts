import semver from 'semver'

/** Telling whether two ranges meet takes the square of their lengths. */
const MAX_CHARACTERS = 200

/** A range of semantic versions as the library writes it; null for a text that is none, or longer than people write them. */
export function rangeOf(text: string): string | null {
  return text.length > MAX_CHARACTERS ? null : semver.validRange(text)
}
