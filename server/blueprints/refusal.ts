import { AppError } from '../errors.ts'
import { ReferenceFault } from '../variables/references.ts'
import type { Faults } from './faults.ts'
import { placeIn, type Node } from './nodes.ts'
import type { WantedVariable } from './project.ts'

/** The field that an operation refused, and the index of the item in the file; empty when it is not about a field. */
export type RefusedField = [field?: string, item?: number]

/**
 * Reports an operation's refusal as a fault at the place in the file that it is about: one of these variables, or a field of
 * the part. Returns the field. `without` has the indexes of items that were not passed to the operation.
 */
export function reportRefusal(
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
  // A group's variable is reported once, not for each service that gets it.
  if (variable) faults.addOnce(variable.place, message)
  else if (node.kind !== 'mapping') faults.add(node.place, message)
  else {
    const isThere = field !== undefined && node.entries.has(field)
    const place = placeIn(node, isThere ? (refused as PropertyKey[]) : ['name'])
    // If the place already has a fault, the operation found the same one.
    if (!faults.concern(place.path)) faults.add(place, message)
  }
  return refused
}

/** The index in the file of an item of a list from which some items were left out. */
function placeOf(item: number, without: readonly number[]): number {
  return without
    .toSorted((left, right) => left - right)
    .reduce((place, left) => (left <= place ? place + 1 : place), item)
}
