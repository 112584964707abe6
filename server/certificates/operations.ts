import { AppError, messageOf } from '../errors.ts'
import { newId } from '../ids.ts'
import { removeUploaded, writeUploaded } from './files.ts'
import { assertShown } from './handshake.ts'
import { routedHosts, tellCertified } from './hosts.ts'
import { assembleChain, type CertificateFacts, type KeyedChain } from './pem.ts'
import type { CertificateUpload } from './schema.ts'
import { deleteUploadedRow, getUploaded, insertUploaded, type UploadedRow } from './store.ts'

/** Takes a certificate of the user's, which serves each host that it names before any from an authority. Throws `invalid_request`. */
export async function uploadCertificate({
  certificate,
  private_key,
}: CertificateUpload): Promise<UploadedRow> {
  let keyed: KeyedChain
  try {
    keyed = assembleChain(certificate, private_key)
    assertBegun(keyed.facts)
    await assertShown(keyed)
  } catch (cause) {
    throw new AppError('invalid_request', messageOf(cause), { cause })
  }
  const { hosts, issuer, notBefore, notAfter } = keyed.facts
  const id = newId('certificate')
  writeUploaded(id, keyed.chain, keyed.key)
  const row: UploadedRow = {
    id,
    hosts: JSON.stringify(hosts),
    issuer,
    not_before: notBefore,
    not_after: notAfter,
    created_at: Date.now(),
  }
  insertUploaded(row)
  tellCovered(hosts)
  return row
}

/** The uploaded certificate with this id. Throws `not_found`. */
export function findUploaded(id: string): UploadedRow {
  const found = getUploaded(id)
  if (!found) throw new AppError('not_found', `there is no uploaded certificate ${id}`)
  return found
}

/** Forgets an uploaded certificate; its files go when the data plane shows it no more. */
export function deleteUploaded({ id, hosts }: UploadedRow): () => void {
  deleteUploadedRow(id)
  tellCovered(JSON.parse(hosts) as string[])
  return () => removeUploaded(id)
}

/** It would take the place of one that serves now. Throws `Error` for one that no browser takes yet. */
function assertBegun({ notBefore }: CertificateFacts): void {
  const now = Date.now()
  if (notBefore <= now) return
  throw new Error(
    `certificate: it begins at ${new Date(notBefore).toISOString()}, and now is ${new Date(now).toISOString()}: upload it then`,
  )
}

function tellCovered(hosts: readonly string[]): void {
  tellCertified(
    routedHosts().filter(
      ({ host }) => hosts.includes(host) || hosts.includes(`*${host.slice(host.indexOf('.'))}`),
    ),
  )
}
