import { timestamp } from '../clock.ts'
import { useContext } from '../context.ts'
import { sha256 } from '../secrets.ts'
import type { SecretFile, SecretFileContent } from './schema.ts'
import { listSecretFiles, type SecretFileRow } from './store.ts'

/** The secret files of a service or an env group itself as the API returns them, by name. */
export function viewSecretFiles(holder: string): SecretFile[] {
  return listSecretFiles(holder).map(viewSecretFile)
}

/** A secret file as the API returns it, without its content. */
export function viewSecretFile(row: SecretFileRow): SecretFile {
  return view(row, useContext().vault.openBytes(row.content))
}

/** A secret file as the API returns it, with its content. */
export function viewSecretFileContent(row: SecretFileRow): SecretFileContent {
  const content = useContext().vault.openBytes(row.content)
  return { ...view(row, content), content_base64: content.toString('base64') }
}

function view({ name, path, mode, is_secret, updated_at }: SecretFileRow, content: Buffer): SecretFile {
  return {
    name,
    path,
    mode,
    size_bytes: content.length,
    sha256: sha256(content),
    secret: is_secret === 1,
    updated_at: timestamp(updated_at),
  }
}
