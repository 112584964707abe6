import { AppError } from '../errors.ts'
import { ReferenceFault } from '../variables/references.ts'
import type { Faults } from './faults.ts'
import { placeIn, type Node } from './nodes.ts'
import type { WantedVariable } from './project.ts'

/** The field that an operation refused, and the item of it in the file; empty when it is about none. */
export type RefusedField = [field?: string, item?: number]

/**
 * Lays what an operation refused to the place in the file that it is about: one of these variables, or a field of the
 * part. Answers the field. `without` are the items of it that the operation was not asked for.
 */
export function layRefusal(
  faults: Faults,
  { node }: { node: Node },
  error: unknown,
  variables: readonly WantedVariable[],
  without: readonly number[] = [],
): RefusedField {
  if (!(error instanceof AppError)) throw error
  const { cause } = error
  const variable =
    cause instanceof ReferenceFault ? variables.findLast(({ key }) => key === cause.key) : undefined
  const [, field, item, message = error.message] =
    /^([a-z_]+)(?:[.[](\d+)\]?)?: ([^]*)$/.exec(error.message) ?? []
  const refused: RefusedField =
    field === undefined ? [] : item === undefined ? [field] : [field, placeOf(Number(item), without)]
  // A group's variable is told once, and not for each service that gets it.
  if (variable) faults.addOnce(variable.place, message)
  else if (node.kind !== 'mapping') faults.add(node.place, message)
  else {
    const isThere = field !== undefined && node.entries.has(field)
    const place = placeIn(node, isThere ? (refused as PropertyKey[]) : ['name'])
    // An operation that finds what was found before says nothing new.
    if (!faults.concern(place.path)) faults.add(place, message)
  }
  return refused
}

/** Where an item stands in a list of which some were left out. */
function placeOf(item: number, without: readonly number[]): number {
  return without
    .toSorted((left, right) => left - right)
    .reduce((place, left) => (left <= place ? place + 1 : place), item)
}
