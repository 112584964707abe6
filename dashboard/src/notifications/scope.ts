/** Returns a message if "these" was chosen with an empty list, which would mean all; null otherwise. */
export function emptyChoice(chosen: Record<string, readonly string[] | null>): string | null {
  const empty = Object.entries(chosen).find(([, ids]) => ids?.length === 0)
  return empty ? `Choose at least one of the ${empty[0]}, or all ${empty[0]}.` : null
}
