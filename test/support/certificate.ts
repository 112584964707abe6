import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestServer } from './server.ts'

/** Makes a self-signed certificate for a host, and returns the files of it and its key in a folder. */
export async function makeSelfSigned(
  folder: string,
  host: string,
  days = 1,
): Promise<{ certificate: string; key: string }> {
  const certificate = join(folder, 'certificate.pem')
  const key = join(folder, 'key.pem')
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-days', String(days)],
    ...['-keyout', key, '-out', certificate],
  ])
  return { certificate, key }
}

/** Uploads a self-signed certificate for a host. */
export async function uploadSelfSigned(server: TestServer, host: string, days: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-certificate-'))
  try {
    const { certificate, key } = await makeSelfSigned(folder, host, days)
    const { status, body } = await server.api('POST', '/certificates/uploaded', {
      certificate: readFileSync(certificate, 'utf8'),
      private_key: readFileSync(key, 'utf8'),
    })
    if (status !== 201) throw new Error(`the certificate was refused: ${JSON.stringify(body)}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
