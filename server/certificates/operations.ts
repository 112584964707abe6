import { AppError, messageOf } from '../errors.ts'
import { newId } from '../ids.ts'
import { removeUploaded, writeUploaded } from './files.ts'
import { assertUsableForTls } from './handshake.ts'
import { routedHosts, announceCertified } from './hosts.ts'
import { assembleChain, type CertificateFacts, type KeyedChain } from './pem.ts'
import type { CertificateUpload } from './schema.ts'
import { deleteUploadedRow, getUploaded, insertUploaded, type UploadedRow } from './store.ts'

/** Stores a user's certificate; hosts that it names use it rather than one from an authority. Throws `invalid_request`. */
export async function uploadCertificate({
  certificate,
  private_key,
}: CertificateUpload): Promise<UploadedRow> {
  let keyed: KeyedChain
  try {
    keyed = assembleChain(certificate, private_key)
    assertAlreadyValid(keyed.facts)
    await assertUsableForTls(keyed)
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
  announceCovered(hosts)
  return row
}

/** The uploaded certificate with this id. Throws `not_found`. */
export function findUploaded(id: string): UploadedRow {
  const found = getUploaded(id)
  if (!found) throw new AppError('not_found', `there is no uploaded certificate ${id}`)
  return found
}

/** Deletes an uploaded certificate. Call the returned function to remove its files once the data plane no longer uses it. */
export function deleteUploaded({ id, hosts }: UploadedRow): () => void {
  deleteUploadedRow(id)
  announceCovered(JSON.parse(hosts) as string[])
  return () => removeUploaded(id)
}

/** Throws an `Error` if a certificate is not valid yet: it would replace one that works now. */
function assertAlreadyValid({ notBefore }: CertificateFacts): void {
  const now = Date.now()
  if (notBefore <= now) return
  throw new Error(
    `certificate: is only valid from ${new Date(notBefore).toISOString()} (it is now ${new Date(now).toISOString()}): upload it then`,
  )
}

function announceCovered(hosts: readonly string[]): void {
  announceCertified(
    routedHosts().filter(
      ({ host }) => hosts.includes(host) || hosts.includes(`*${host.slice(host.indexOf('.'))}`),
    ),
  )
}
