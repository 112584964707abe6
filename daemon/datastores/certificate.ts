import { hostname } from 'node:os'
import { certify } from '#server/datastores/authority.ts'
import { KINDS, majorOf, type DatastoreKind } from '#server/datastores/kinds.ts'
import type { DatastoreRow } from '#server/datastores/store.ts'
import type { Engine } from '../engine/index.ts'
import { idsOf } from '../instances/disk.ts'
import type { ProgramCertificate } from './files.ts'

/** As which user the program of a kind runs in its images: the first that an image has. */
const USERS: Record<DatastoreKind, string[]> = { relational: ['postgres'], keyvalue: ['valkey', 'redis'] }
/** What a certificate may name; the names of some machines have other characters. */
const DNS_NAME = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,10}$/

/** Whether the program of a datastore knows TLS at all. */
export function knowsTls({ kind, version }: DatastoreRow): boolean {
  return (majorOf(version) ?? Infinity) >= KINDS[kind].tlsSince
}

/**
 * A new certificate for a datastore's program, whose container is there and does not run yet, for its name and address inside,
 * and for the host, where its ports are on loopback. Null when it cannot be given one.
 */
export async function certificateFor(
  engine: Engine,
  row: DatastoreRow,
  address: string,
): Promise<ProgramCertificate | null> {
  if (!knowsTls(row)) return null
  const users = await Promise.all(USERS[row.kind].map((user) => idsOf(engine, row.id, user)))
  const owner = users.find((found) => found !== null)
  if (!owner) return null
  const names = [row.name, 'localhost', hostname().toLowerCase()].filter((name) => DNS_NAME.test(name))
  return { ...(await certify({ names, addresses: ['127.0.0.1', '::1', address] })), owner }
}
