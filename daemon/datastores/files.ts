import { Readable } from 'node:stream'
import { pack } from 'tar-stream'
import type { Keyed } from '#server/datastores/authority.ts'
import { KINDS, type DatastoreKind } from '#server/datastores/kinds.ts'

/** Every image has this folder, and the user of its program can read there. */
const PARENT = '/etc'
const FOLDER = 'deployer'
const CONFIG = `${FOLDER}/datastore.conf`
const CERTIFICATE = `${FOLDER}/tls.crt`
const KEY = `${FOLDER}/tls.key`

/** The path of the settings file of a datastore's program. */
export const CONFIG_FILE = `${PARENT}/${CONFIG}`

/** A certificate, and the one user that may read its key: PostgreSQL refuses a key that others can read. */
export interface ProgramCertificate extends Keyed {
  owner: { uid: number; gid: number }
}

/** Returns a folder of a datastore's container and the archive to unpack there before it starts. */
export function datastoreFiles(
  config: string,
  certificate: ProgramCertificate | null,
): { folder: string; tar: Readable } {
  const archive = pack()
  archive.entry({ name: FOLDER, type: 'directory', mode: 0o755 })
  // World-readable: the program's user reads it, and there is no other user in the container.
  archive.entry({ name: CONFIG, mode: 0o644 }, config)
  if (certificate) {
    archive.entry({ name: CERTIFICATE, mode: 0o644 }, certificate.certificate)
    archive.entry({ name: KEY, mode: 0o600, ...certificate.owner }, certificate.key)
  }
  archive.finalize()
  return { folder: PARENT, tar: Readable.from(archive as AsyncIterable<Buffer>, { objectMode: false }) }
}

/** The settings that enable TLS in a program. */
export const TLS_SETTINGS: Record<DatastoreKind, Record<string, string>> = {
  relational: {
    ssl: 'on',
    ssl_cert_file: `'${PARENT}/${CERTIFICATE}'`,
    ssl_key_file: `'${PARENT}/${KEY}'`,
  },
  keyvalue: {
    'tls-port': String(KINDS.keyvalue.tlsPort),
    'tls-cert-file': `${PARENT}/${CERTIFICATE}`,
    'tls-key-file': `${PARENT}/${KEY}`,
    // Clients have a password instead of a certificate.
    'tls-auth-clients': 'no',
  },
}
