/** What is not said yet where "these" was chosen; null when nothing is: none of them would mean all. */
export function missing(chosen: Record<string, readonly string[] | null>): string | null {
  const empty = Object.entries(chosen).find(([, ids]) => ids?.length === 0)
  return empty ? `Choose at least one of the ${empty[0]}, or all ${empty[0]}.` : null
}
