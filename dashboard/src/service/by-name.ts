const { compare } = new Intl.Collator('en', { numeric: true })

/** Orders by name, `web-2` before `web-10`; `web-02` and `web-2` always alike. */
export function byName(left: { name: string }, right: { name: string }): number {
  return compare(left.name, right.name) || (left.name < right.name ? -1 : 1)
}
