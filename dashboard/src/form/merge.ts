/** Values by name; an absent name has no value. */
export type Fields = Readonly<Record<string, string | boolean>>

export interface Merge<F extends Fields> {
  /** What the reader's values are a change of. */
  base: F
  mine: F
}

/**
 * Brings values that someone is changing up to date with what is there now: what was not touched follows, and so does
 * what both changed alike. What both changed differently stays the reader's, with its base, until they choose; it is what
 * `conflictsOf` then finds.
 */
export function rebase<F extends Fields>({ base, mine }: Merge<F>, now: F): Merge<F> {
  const nextBase = copyOf()
  const nextMine = copyOf()
  for (const name of namesOf(mine, base, now)) {
    const [was, is, there] = [valueOf(base, name), valueOf(mine, name), valueOf(now, name)]
    const follows = is === was || is === there
    put(nextBase, name, follows ? there : was)
    put(nextMine, name, follows ? there : is)
  }
  return { base: nextBase as F, mine: nextMine as F }
}

/** Names that somebody else changed since the reader began to change them, after a `rebase`. */
export function conflictsOf<F extends Fields>(base: F, now: F): string[] {
  return namesOf(base, now).filter((name) => valueOf(base, name) !== valueOf(now, name))
}

/** Names whose values differ. */
export function touchedOf<F extends Fields>({ base, mine }: Merge<F>): string[] {
  return namesOf(mine, base).filter((name) => valueOf(mine, name) !== valueOf(base, name))
}

/** `fields` with the values that `source` has under these names. */
export function withValues<F extends Fields>(fields: F, names: readonly string[], source: F): F {
  const result = copyOf(fields)
  for (const name of names) {
    delete result[name]
    put(result, name, valueOf(source, name))
  }
  return result as F
}

/** Names are anybody's: `constructor` is a value where somebody gave it one, and nothing elsewhere. */
export function valueOf<V>(fields: Readonly<Record<string, V>>, name: string): V | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

function copyOf(fields: Fields = {}): Record<string, string | boolean> {
  return Object.assign(Object.create(null) as object, fields)
}

function namesOf(...all: Fields[]): string[] {
  return [...new Set(all.flatMap((fields) => Object.keys(fields)))]
}

function put(
  fields: Record<string, string | boolean>,
  name: string,
  value: string | boolean | undefined,
): void {
  if (value !== undefined) fields[name] = value
}
