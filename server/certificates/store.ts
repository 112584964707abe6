import { useDatabase } from '../context.ts'
import type { CertificateStatus } from './states.ts'

/** A row of `certificates`: the certificate that an authority issued, or is to issue, for a name. Times are milliseconds. */
export interface CertificateRow {
  /** The name that it covers: a host, or `*.` and a domain. */
  id: string
  status: CertificateStatus
  /** The address of the authority's ACME directory. */
  directory: string
  error: string | null
  retry_at: number | null
  /** Failed attempts in a row. */
  failures: number
  /** The order in progress, so that a restart continues it. */
  order_url: string | null
  /** Names the files of the certificate in use; null before the first. */
  version: string | null
  issuer: string | null
  not_before: number | null
  not_after: number | null
  renew_at: number | null
  /** When to ask the authority again when to renew (RFC 9773); null if it was never asked. */
  advised_until: number | null
  created_at: number
  updated_at: number
}

/** Every certificate by the name that it covers. */
export function certificatesByName(): Map<string, CertificateRow> {
  const rows = useDatabase().all<CertificateRow>('SELECT * FROM certificates')
  return new Map(rows.map((row) => [row.id, row]))
}

/** The version in use of each name that has one. */
export function servingVersions(): Map<string, string> {
  const rows = useDatabase().all<{ id: string; version: string }>(
    'SELECT id, version FROM certificates WHERE version IS NOT NULL',
  )
  return new Map(rows.map(({ id, version }) => [id, version]))
}

export function getCertificate(name: string): CertificateRow | undefined {
  return useDatabase().get<CertificateRow>('SELECT * FROM certificates WHERE id = ?', name)
}

/** Adds a name that is to be certified. */
export function insertCertificate(name: string, directory: string): CertificateRow {
  const now = Date.now()
  useDatabase().run(
    "INSERT INTO certificates (id, status, directory, created_at, updated_at) VALUES (?, 'pending', ?, ?, ?)",
    name,
    directory,
    now,
    now,
  )
  return getCertificate(name)!
}

/** Stores the address of the order in progress. */
export function setOrder(name: string, url: string | null): void {
  useDatabase().run('UPDATE certificates SET order_url = ? WHERE id = ?', url, name)
}

/** Stores when to renew, as the authority advises, and when to ask it again. */
export function setAdvice(name: string, renewAt: number, advisedUntil: number): void {
  useDatabase().run(
    'UPDATE certificates SET renew_at = ?, advised_until = ? WHERE id = ?',
    renewAt,
    advisedUntil,
    name,
  )
}

export function deleteCertificate(name: string): void {
  useDatabase().run('DELETE FROM certificates WHERE id = ?', name)
}

/** A row of `uploaded_certificates`. */
export interface UploadedRow {
  id: string
  /** A JSON array. */
  hosts: string
  issuer: string
  not_before: number
  not_after: number
  created_at: number
}

/** The uploaded certificates, the newest first. */
export function listUploaded(): UploadedRow[] {
  return useDatabase().all<UploadedRow>('SELECT * FROM uploaded_certificates ORDER BY created_at DESC, id')
}

export function getUploaded(id: string): UploadedRow | undefined {
  return useDatabase().get<UploadedRow>('SELECT * FROM uploaded_certificates WHERE id = ?', id)
}

export function insertUploaded(row: UploadedRow): void {
  useDatabase().run(
    'INSERT INTO uploaded_certificates (id, hosts, issuer, not_before, not_after, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    row.id,
    row.hosts,
    row.issuer,
    row.not_before,
    row.not_after,
    row.created_at,
  )
}

export function deleteUploadedRow(id: string): void {
  useDatabase().run('DELETE FROM uploaded_certificates WHERE id = ?', id)
}
