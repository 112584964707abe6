import { AppError } from '../errors.ts'
import { closedListener, lackOfPlaces } from './entry-limits.ts'
import type { NodePatch } from './schema.ts'
import { listNodes, type NodeRow } from './store.ts'

/** Whether a node serves requests: the own one always, another one that is to and has joined. */
export function isEntry({ is_own, is_entry, joined_at }: NodeRow): boolean {
  return is_own === 1 || (is_entry === 1 && joined_at !== null)
}

/** The nodes that serve requests besides the own one. */
export function otherEntries(): NodeRow[] {
  return listNodes().filter((node) => node.is_own === 0 && isEntry(node))
}

/** The nodes on which a data plane may be, although they are not to serve any more. */
export function formerEntries(): NodeRow[] {
  return listNodes().filter((node) => node.has_data_plane === 1 && !isEntry(node))
}

/** What DNS names for the other nodes that serve requests. */
export function addressesOfEntries(): string[] {
  return otherEntries().flatMap(({ public_address, address }) => public_address ?? address ?? [])
}

/** What a change makes of a node as an entry. Throws `conflict`. */
export function entryColumns(node: NodeRow, { entry, public_address }: NodePatch): Partial<NodeRow> {
  const refuse = (reason: string) => {
    throw new AppError('conflict', reason)
  }
  const isOwn = node.is_own === 1
  if (isOwn && entry === false)
    refuse("entry: the server's own node always serves requests: it cannot stop being an entry")
  if (isOwn && public_address !== undefined)
    refuse("public_address: the addresses of the server's own node are set with --public-ip")
  if (!isOwn && entry && node.is_entry === 0 && node.status !== 'ready')
    refuse(`entry: ${node.name} is ${node.status}: it can be an entry once it is ready`)
  const lack = !isOwn && entry && node.is_entry === 0 ? (closedListener() ?? lackOfPlaces(1)) : null
  if (lack !== null) refuse(`entry: ${lack}`)
  return {
    ...(isOwn || entry === undefined ? {} : { is_entry: Number(entry) }),
    ...(public_address === undefined ? {} : { public_address }),
  }
}
