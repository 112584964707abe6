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
import { StoreUses } from './store-uses.ts'
import type { ComposeStore } from './stores.ts'

/**
 * Converts the variables of a service; those whose name is not allowed here are left out. Values that point to a database
 * become references to the datastore, which has its own password.
 */
export function composeVariables(program: ComposeProgram, roles: Roles, notes: Notes): Node[] {
  const uses = new StoreUses(program, roles)
  const nodes = program.variables.flatMap((variable) => composeVariable(variable, uses, roles, notes))
  uses.warnOfMissingPasswords(notes)
  return nodes
}

function composeVariable(variable: ComposeVariable, uses: StoreUses, roles: Roles, notes: Notes): Node[] {
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
  const renamed = new Set<string>()
  const text = parts.map((part) =>
    'text' in part ? escapedText(key, part.text, roles, renamed) : part.reference,
  )
  if (renamed.size > 0) warn(notes, node, `in ${key} ${[...renamed].join(' and ')} here`)
  return entry({ value: scalarAt(place, text.join('')) })
}

/** Literal text of the file, with the names that other services have here. */
function escapedText(key: string, text: string, { file }: Roles, renamed: Set<string>): string {
  const here = renameHosts(text, addressesIn(text, file, key))
  for (const name of here.renamed) renamed.add(name)
  return literal(here.text)
}

function propertyAt(store: ComposeStore, property: string, { place }: Node): Node {
  return mappingAt(place, {
    name: scalarAt(place, store.name),
    property: scalarAt(place, property),
  })
}
