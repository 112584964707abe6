import { api } from '../api/client.ts'
import type { SecretFile, SecretFileInput } from '../api/types.ts'

/** Whose files they are: a service's, or an env group's. */
export interface Holder {
  kind: 'services' | 'env-groups'
  id: string
}

export function listFiles({ kind, id }: Holder, signal: AbortSignal): Promise<SecretFile[]> {
  return kind === 'services'
    ? api('GET /services/{id}/secret-files', { id, signal })
    : api('GET /env-groups/{id}/secret-files', { id, signal })
}

/** The content of a file. */
export async function readFile({ kind, id }: Holder, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const { content_base64 } = await (kind === 'services'
    ? api('GET /services/{id}/secret-files/{name}', { id, name })
    : api('GET /env-groups/{id}/secret-files/{name}', { id, name }))
  return Uint8Array.from(atob(content_base64), (character) => character.charCodeAt(0))
}

/** Writes a file, in place of one with the same name. */
export async function putFile(
  { kind, id }: Holder,
  name: string,
  body: SecretFileInput,
  restart: boolean,
): Promise<void> {
  const input = { id, name, body, query: { restart } }
  if (kind === 'services') await api('PUT /services/{id}/secret-files/{name}', input)
  else await api('PUT /env-groups/{id}/secret-files/{name}', input)
}

export async function deleteFile({ kind, id }: Holder, name: string, restart: boolean): Promise<void> {
  const input = { id, name, query: { restart } }
  if (kind === 'services') await api('DELETE /services/{id}/secret-files/{name}', input)
  else await api('DELETE /env-groups/{id}/secret-files/{name}', input)
}

/** Where a file is without a path of its own. */
export function defaultPath(name: string): string {
  return `/etc/secrets/${name}`
}

/** The text in a file; null if a text field would not keep it as it is. */
export function textIn(content: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
    return /[\0\r]/.test(text) ? null : text
  } catch {
    return null
  }
}

/** The bytes of a file on this computer, in base64. */
export function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    // After the comma of a data URL.
    reader.addEventListener('load', () => resolve((reader.result as string).split(',')[1] ?? ''))
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)))
    reader.readAsDataURL(file)
  })
}

/** The closest name that a secret file may have. */
export function nameFor(fileName: string): string {
  return fileName.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(-128)
}
