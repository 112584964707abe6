import semver from 'semver'

/** The longest range that is read: finding out whether two ranges intersect takes time quadratic in their length. */
const MAX_CHARACTERS = 200

/**
 * Returns a range of semantic versions in the form of the library; null for a text that is not a range, or is longer than
 * people write them.
 */
export function rangeOf(text: string): string | null {
  return text.length > MAX_CHARACTERS ? null : semver.validRange(text)
}
