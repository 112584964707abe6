import { useDatabase } from '../context.ts'

/** A row of `secret_files`. Times are milliseconds. */
export interface SecretFileRow {
  /** The id of the service or the env group. */
  holder: string
  name: string
  path: string
  /** Octal, such as `0400`. */
  mode: string
  /** Sealed. */
  content: Uint8Array
  size_bytes: number
  fingerprint: string
  is_secret: number
  updated_at: number
}

/** What is known of a file without its content, which may be large. */
export type SecretFileFacts = Omit<SecretFileRow, 'content'>

/** The files of a service or an env group itself, by name. */
export function listSecretFiles(holder: string): SecretFileRow[] {
  return useDatabase().all<SecretFileRow>('SELECT * FROM secret_files WHERE holder = ? ORDER BY name', holder)
}

/** Like `listSecretFiles`, without the contents. */
export function secretFileFacts(holder: string): SecretFileFacts[] {
  return useDatabase().all<SecretFileFacts>(
    `SELECT holder, name, path, mode, size_bytes, fingerprint, is_secret, updated_at
     FROM secret_files WHERE holder = ? ORDER BY name`,
    holder,
  )
}

export function getSecretFile(holder: string, name: string): SecretFileRow | undefined {
  return useDatabase().get<SecretFileRow>(
    'SELECT * FROM secret_files WHERE holder = ? AND name = ?',
    holder,
    name,
  )
}

/** Writes a file, in place of one with the same name. */
export function writeSecretFile(row: SecretFileRow): void {
  useDatabase().run(
    'INSERT OR REPLACE INTO secret_files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    row.holder,
    row.name,
    row.path,
    row.mode,
    row.content,
    row.size_bytes,
    row.fingerprint,
    row.is_secret,
    row.updated_at,
  )
}

export function deleteSecretFileRow(holder: string, name: string): void {
  useDatabase().run('DELETE FROM secret_files WHERE holder = ? AND name = ?', holder, name)
}
