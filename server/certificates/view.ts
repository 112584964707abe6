import { readFileSync } from 'node:fs'
import { timestamp } from '../clock.ts'
import { useContext } from '../context.ts'
import { isLocalName } from '../domains/names.ts'
import { CertificateNames, routedHosts, UploadedBook, type RoutedHost } from './hosts.ts'
import { uploadedFiles } from './files.ts'
import { browserWarning } from './pem.ts'
import type { CertificateEntry, CertificateState, UploadedCertificate } from './schema.ts'
import { certificatesByName, type CertificateRow, type UploadedRow } from './store.ts'

/** The state of each routed hostname's certificate, the dashboard's first. */
export function viewCertificates(): CertificateEntry[] {
  const off = useContext().options.tls === 'off'
  const uploaded = new UploadedBook()
  const names = new CertificateNames()
  const rows = certificatesByName()
  return routedHosts().map((routed) => {
    const { host } = routed
    if (off) return without(routed, 'disabled')
    const own = uploaded.find(host)
    if (own) return viewOwn(routed, own)
    if (isLocalName(host)) return without(routed, 'local')
    const row = rows.get(names.nameOf(routed))
    const waitsFor = names.waitsFor(routed)
    if (row && (waitsFor === null || row.version !== null)) return viewIssued(routed, row)
    const error = waitsFor && `${waitsFor} does not lead to this server yet`
    return { ...without(routed, 'pending'), error }
  })
}

/** An uploaded certificate as the API returns it. */
export function viewUploaded(row: UploadedRow): UploadedCertificate {
  return {
    id: row.id,
    hosts: JSON.parse(row.hosts) as string[],
    issuer: row.issuer,
    not_before: timestamp(row.not_before),
    expires_at: timestamp(row.not_after),
    created_at: timestamp(row.created_at),
    warning: warningOf(row),
  }
}

function warningOf({ id }: UploadedRow): string | null {
  try {
    return browserWarning(readFileSync(uploadedFiles(id).certificate, 'utf8'))
  } catch {
    // Without its files it is not used, and the data plane reports that.
    return null
  }
}

function without({ host, service, redirectsTo }: RoutedHost, state: CertificateState): CertificateEntry {
  return {
    host,
    service,
    redirects_to: redirectsTo,
    state,
    expires_at: null,
    error: null,
    retry_at: null,
    issuer: null,
    source: null,
    not_before: null,
  }
}

function viewOwn(routed: RoutedHost, { issuer, not_before, not_after }: UploadedRow): CertificateEntry {
  return {
    ...without(routed, 'issued'),
    source: 'uploaded',
    issuer,
    not_before: timestamp(not_before),
    expires_at: timestamp(not_after),
  }
}

function viewIssued(routed: RoutedHost, row: CertificateRow): CertificateEntry {
  return {
    ...without(routed, row.status),
    error: row.error,
    retry_at: timestamp(row.retry_at),
    source: row.version === null ? null : 'acme',
    issuer: row.issuer,
    not_before: timestamp(row.not_before),
    expires_at: timestamp(row.not_after),
  }
}
