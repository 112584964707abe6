/** What is still missing where "these" was chosen: an empty list would mean all. Null when nothing is. */
export function missing(chosen: Record<string, readonly string[] | null>): string | null {
  const empty = Object.entries(chosen).find(([, ids]) => ids?.length === 0)
  return empty ? `Choose at least one of the ${empty[0]}, or all ${empty[0]}.` : null
}
