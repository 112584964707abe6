/** Values by name; an absent name has no value. */
export type Fields = Readonly<Record<string, string | boolean>>

export interface Merge<F extends Fields> {
  /** The values that the user started from. */
  base: F
  mine: F
}

/**
 * Updates values that someone is editing to the current ones: untouched values follow, and so do those that both
 * changed in the same way. What both changed differently keeps the user's value and its base until they choose;
 * `conflictsOf` finds these.
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

/** Names that someone else changed after the user started to change them, after a `rebase`. */
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

/** Names come from users: `constructor` has a value only if someone set one. */
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
