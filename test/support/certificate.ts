import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestServer } from './server.ts'

/** Uploads a self-signed certificate for a host. */
export async function uploadSelfSigned(server: TestServer, host: string, days: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-certificate-'))
  const at = (name: string) => join(folder, name)
  try {
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-days', String(days)],
      ...['-keyout', at('key'), '-out', at('certificate')],
    ])
    const { status, body } = await server.api('POST', '/certificates/uploaded', {
      certificate: readFileSync(at('certificate'), 'utf8'),
      private_key: readFileSync(at('key'), 'utf8'),
    })
    if (status !== 201) throw new Error(`the certificate was refused: ${JSON.stringify(body)}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
