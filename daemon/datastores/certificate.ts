import { hostname } from 'node:os'
import { certify } from '#server/datastores/authority.ts'
import { supportsTls, type DatastoreKind } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import type { Engine } from '../engine/index.ts'
import { idsOf } from '../instances/disk.ts'
import type { ProgramCertificate } from './files.ts'

/** The user as which the program of a kind runs in its images: the first of these that an image has. */
const USERS: Record<DatastoreKind, string[]> = { relational: ['postgres'], keyvalue: ['valkey', 'redis'] }
/** The names that a certificate may have; some machines have names with other characters. */
const DNS_NAME = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,10}$/

/**
 * Returns a new certificate for a datastore's program, whose container exists and is not started yet: for its name and
 * address in the network, and for the host, whose loopback has its ports. Null if it cannot use one.
 */
export async function certificateFor(
  engine: Engine,
  row: DatastoreRow,
  address: string,
): Promise<ProgramCertificate | null> {
  if (!supportsTls(row)) return null
  const users = await Promise.all(USERS[row.kind].map((user) => idsOf(engine, row.id, user)))
  const owner = users.find((found) => found !== null)
  if (!owner) return null
  const names = [row.name, 'localhost', hostname().toLowerCase()].filter((name) => DNS_NAME.test(name))
  return { ...(await certify({ names, addresses: ['127.0.0.1', '::1', address] })), owner }
}
