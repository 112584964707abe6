import { keyFault } from '../variables/rules.ts'
import { literalAt, mappingAt, scalarAt } from './builder.ts'
import { interpolate, type ComposeVariable } from './compose-environment.ts'
import type { ComposeNames, ComposeStore } from './compose-names.ts'
import { warn, type Notes } from './foreign.ts'
import type { Node } from './nodes.ts'

/** The address of a database: its scheme, and the host that it names. */
const STORE_URL =
  /^(?:postgres|postgresql|redis|rediss|valkey)(?:\+\w+)?:\/\/(?:[^\s@/]*@)?([A-Za-z0-9_.-]+)(?::\d*)?(?:[/?]\S*)?$/

/**
 * Converts a variable; nothing when its name is none that is taken here. What leads to a database refers to the
 * datastore, whose password is another one here.
 */
export function composeVariable(
  { key, written, node }: ComposeVariable,
  names: ComposeNames,
  notes: Notes,
): Node[] {
  const { place } = node
  const fault = keyFault(key)
  if (fault) {
    warn(notes, node, `${key} is left out: ${fault}`)
    return []
  }
  if (written === null) {
    warn(notes, node, `${key} has its value outside of the file: set it by hand`)
    return [byHand(key, node)]
  }
  const { text, missing } = interpolate(written)
  const store = names.storeAt(STORE_URL.exec(text)?.[1] ?? '')
  if (store) {
    warn(notes, node, `${key} is the url of the datastore ${store.name} here`)
    return [reference(key, store, 'url', node)]
  }
  for (const owner of names.stores) {
    const property = owner.propertyOf(key, written)
    if (property) return [reference(key, owner, property, node)]
  }
  if (missing.length > 0) {
    warn(notes, node, `${key} takes ${missing.join(', ')} from outside of the file: set it by hand`)
    return [byHand(key, node)]
  }
  const { text: here, renamed } = names.renameHosts(key, text)
  if (renamed.length > 0) warn(notes, node, `in ${key} ${renamed.join(' and ')} here`)
  return [mappingAt(place, { key: scalarAt(place, key), value: literalAt(place, here) })]
}

function byHand(key: string, { place }: Node): Node {
  return mappingAt(place, { key: scalarAt(place, key), sync: scalarAt(place, false) })
}

function reference(key: string, store: ComposeStore, property: string, { place }: Node): Node {
  return mappingAt(place, {
    key: scalarAt(place, key),
    from_datastore: mappingAt(place, {
      name: scalarAt(place, store.name),
      property: scalarAt(place, property),
    }),
  })
}
