import { ID_PATTERN } from '../ids.ts'
import { Name } from '../schema.ts'
import { getNodeByIdOrName } from './store.ts'

const FALLBACK = 'node'
const MAX_CHARACTERS = 63

/** A name for a node after that of its host, by the rules of names, which no other node has. */
export function freeNodeName(host: string): string {
  const name = nameFrom(host)
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : `-${number}`
    const candidate = `${name.slice(0, MAX_CHARACTERS - suffix.length)}${suffix}`
    if (!getNodeByIdOrName(candidate)) return candidate
  }
}

/** The first label of a host's name as a name of ours. */
function nameFrom(host: string): string {
  const words = host
    .toLowerCase()
    .split('.')[0]!
    .split(/[^a-z0-9]/)
  const label = words
    .filter((word) => word !== '')
    .join('-')
    .replace(/^[^a-z]+/, '')
    .slice(0, MAX_CHARACTERS)
    .replace(/-$/, '')
  return Name.safeParse(label).success && !ID_PATTERN.test(label) ? label : FALLBACK
}
