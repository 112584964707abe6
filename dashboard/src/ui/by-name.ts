const { compare } = new Intl.Collator('en', { numeric: true })

/** Orders by name, `web-2` before `web-10`; `web-02` and `web-2` always in the same order. */
export function byName(left: { name: string }, right: { name: string }): number {
  return compareNames(left.name, right.name)
}

/** As above, for the names themselves. */
export function compareNames(left: string, right: string): number {
  return compare(left, right) || (left < right ? -1 : 1)
}
