import { keyFault } from '../../variables/rules.ts'
import { literal, mappingAt, scalarAt } from '../builder.ts'
import { warn, type Notes } from '../foreign.ts'
import type { Node } from '../nodes.ts'
import { addressesIn, renameHosts } from './addresses.ts'
import type { ComposeVariable } from './environment.ts'
import type { ComposeProgram } from './file.ts'
import { ABSENT, markedIn, missingIn } from './interpolation.ts'
import type { Roles } from './roles.ts'
import { readUrls } from './store-urls.ts'
import { StoreUses, staleIn } from './store-uses.ts'
import type { ComposeStore } from './stores.ts'

/**
 * Converts the variables of a service; those whose name is not allowed here are left out. Values that point to a database
 * become references to the datastore, which has its own password.
 */
export function composeVariables(program: ComposeProgram, roles: Roles, notes: Notes): Node[] {
  const uses = new StoreUses(program, roles)
  const nodes = program.variables.flatMap((variable) =>
    composeVariable(variable, program, uses, roles, notes),
  )
  uses.warnOfMissingPasswords(notes)
  return nodes
}

function composeVariable(
  variable: ComposeVariable,
  program: ComposeProgram,
  uses: StoreUses,
  roles: Roles,
  notes: Notes,
): Node[] {
  const { key, value, node } = variable
  const { place } = node
  const entry = (fields: Record<string, Node>) => [mappingAt(place, { key: scalarAt(place, key), ...fields })]
  const byHand = (why: string) => {
    warn(notes, node, `${key} ${why}: set it by hand`)
    return entry({ sync: scalarAt(place, false) })
  }
  const fault = keyFault(key)
  if (fault) {
    warn(notes, node, `${key} is left out: ${fault}`)
    return []
  }
  if (value === null) return byHand('gets its value from outside the file')

  const property = uses.propertyOf(variable, notes)
  if (property) return entry({ from_datastore: propertyAt(property.store, property.property, node) })
  const urls = readUrls(variable, roles, notes)
  for (const store of urls?.unlocked ?? []) uses.unlock(store)
  if (urls?.whole) return entry({ from_datastore: propertyAt(urls.whole, 'url', node) })

  const parts = urls?.parts ?? [{ text: markedIn(value) }]
  if (parts.some((part) => 'text' in part && part.text.includes(ABSENT)))
    return byHand(`uses ${missingIn(value).join(', ')} from outside the file`)
  const text = parts.map((part) =>
    'text' in part ? literalText({ ...variable, text: part.text }, program, roles, notes) : part.reference,
  )
  return entry({ value: scalarAt(place, text.join('')) })
}

/** Literal text of a variable, with the names that other services have here. */
function literalText(
  { key, node, text }: ComposeVariable & { text: string },
  program: ComposeProgram,
  roles: Roles,
  notes: Notes,
): string {
  const addresses = addressesIn(text, roles.file, key)
  const here = renameHosts(text, addresses, program)
  if (here.renamed.length > 0) warn(notes, node, `in ${key} ${here.renamed.join(' and ')} here`)
  for (const stale of staleIn(text, addresses, roles))
    warn(notes, node, `${key} names ${stale}: change it by hand`)
  return literal(here.text)
}

function propertyAt(store: ComposeStore, property: string, { place }: Node): Node {
  return mappingAt(place, {
    name: scalarAt(place, store.name),
    property: scalarAt(place, property),
  })
}
