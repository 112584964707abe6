import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { assembleChain } from '#server/certificates/pem.ts'

let folder: string
const at = (name: string) => join(folder, name)
const read = (name: string) => readFileSync(at(name), 'utf8')
const openssl = (...options: string[]) => execFileSync('openssl', options, { cwd: folder, stdio: 'pipe' })

/** Makes a certificate, signed by another one or by itself. */
function certificate(name: string, issuer: string | null): void {
  openssl(
    ...[
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-keyout',
      `${name}.key`,
    ],
    ...['-subj', `/CN=${name}.example`, '-out', `${name}.csr`],
  )
  const signer = issuer
    ? ['-CA', `${issuer}.crt`, '-CAkey', `${issuer}.key`, '-CAcreateserial']
    : ['-signkey', `${name}.key`]
  openssl(
    ...['x509', '-req', '-in', `${name}.csr`, ...signer, '-days', '9', '-extfile', 'extensions'],
    ...['-out', `${name}.crt`],
  )
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-chain-'))
  writeFileSync(at('extensions'), 'subjectAltName=DNS:leaf.example\nbasicConstraints=CA:TRUE\n')
  certificate('root', null)
  certificate('old-root', null)
  certificate('leaf', 'root')
})
afterAll(() => rmSync(folder, { recursive: true }))

test('a certificate that does not belong to a chain is left out of what an authority gave, and refused in an upload', () => {
  const given = ['old-root', 'leaf', 'root'].map((name) => read(`${name}.crt`)).join('')
  const { chain } = assembleChain(given, read('leaf.key'), 'left out')
  const names = chain.match(/-----BEGIN[^]+?-----END CERTIFICATE-----/g)!
  expect(names.map((text) => new X509Certificate(text).subject)).toEqual([
    'CN=leaf.example',
    'CN=root.example',
  ])
  expect(() => assembleChain(given, read('leaf.key'))).toThrow('the chain is broken')
})
