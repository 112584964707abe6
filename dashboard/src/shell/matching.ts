/** What an entry is found by. */
export interface Named {
  label: string
  detail: string
  /** It came after the others: none of them moves away for it. */
  isLate?: boolean
}

/**
 * The entries that have every word that is typed: first those that are called exactly that, then those that begin with it, then
 * the others.
 */
export function matching<Entry extends Named>(entries: readonly Entry[], query: string): Entry[] {
  const typed = query.trim().toLowerCase()
  const words = typed.split(/\s+/).filter(Boolean)
  const [exact, begun, others]: [Entry[], Entry[], Entry[]] = [[], [], []]
  for (const entry of entries) {
    const label = entry.label.toLowerCase()
    const text = `${label} ${entry.detail.toLowerCase()}`
    if (!words.every((word) => text.includes(word))) continue
    const rank = entry.isLate || !label.startsWith(typed) ? others : label === typed ? exact : begun
    rank.push(entry)
  }
  return [...exact, ...begun, ...others]
}
