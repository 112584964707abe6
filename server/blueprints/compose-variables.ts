import { literalAt, mappingAt, scalarAt } from './builder.ts'
import type { ComposeVariable } from './compose-environment.ts'
import type { ComposeNames, ComposeStore } from './compose-names.ts'
import { warn, type Notes } from './foreign.ts'
import type { Node } from './nodes.ts'

/** The address of a database: its scheme, and the host that it names. */
const STORE_URL =
  /^(?:postgres|postgresql|redis|rediss|valkey)(?:\+\w+)?:\/\/(?:[^\s@/]*@)?([A-Za-z0-9_.-]+)(?::\d+)?(?:[/?]\S*)?$/

/** Converts a variable. What leads to a database refers to the datastore, whose password is another one here. */
export function composeVariable(
  { key, value, node }: ComposeVariable,
  names: ComposeNames,
  notes: Notes,
): Node {
  const { place } = node
  if (value === null) return mappingAt(place, { key: scalarAt(place, key), sync: scalarAt(place, false) })
  const store = names.stores.get(STORE_URL.exec(value)?.[1] ?? '')
  if (store) {
    warn(notes, node, `${key} is the url of the datastore ${store.name} here`)
    return reference(key, store, 'url', node)
  }
  const owner = [...names.stores.values()].find(
    ({ password }) => password !== null && password !== '' && password === value,
  )
  if (owner && /pass|pwd/i.test(key)) return reference(key, owner, 'password', node)
  return mappingAt(place, {
    key: scalarAt(place, key),
    value: literalAt(place, value),
  })
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
