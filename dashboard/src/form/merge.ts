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
  const nextBase: Record<string, string | boolean> = {}
  const nextMine: Record<string, string | boolean> = {}
  for (const name of namesOf(mine, base, now)) {
    const isTouched = mine[name] !== base[name]
    const follows = !isTouched || mine[name] === now[name]
    put(nextBase, name, follows ? now[name] : base[name])
    put(nextMine, name, follows ? now[name] : mine[name])
  }
  return { base: nextBase as F, mine: nextMine as F }
}

/** Names that somebody else changed since the reader began to change them, after a `rebase`. */
export function conflictsOf<F extends Fields>(base: F, now: F): string[] {
  return namesOf(base, now).filter((name) => base[name] !== now[name])
}

/** Names whose values differ. */
export function touchedOf<F extends Fields>({ base, mine }: Merge<F>): string[] {
  return namesOf(mine, base).filter((name) => mine[name] !== base[name])
}

/** `fields` with the values that `source` has under these names. */
export function withValues<F extends Fields>(fields: F, names: readonly string[], source: F): F {
  const result: Record<string, string | boolean> = { ...fields }
  for (const name of names) {
    delete result[name]
    put(result, name, source[name])
  }
  return result as F
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
