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

/** Creates a certificate, signed by another one or by itself. */
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
  sign(name, issuer, `${name}.crt`)
}

/** Signs the request of a certificate, a second time if it already has one. */
function sign(name: string, issuer: string | null, out: string): void {
  const signer = issuer
    ? ['-CA', `${issuer}.crt`, '-CAkey', `${issuer}.key`, '-CAcreateserial']
    : ['-signkey', `${name}.key`]
  openssl(
    ...['x509', '-req', '-in', `${name}.csr`, ...signer, '-days', '9', '-extfile', 'extensions'],
    ...['-out', out],
  )
}

/** The names in a chain, in its order. */
function subjectsOf(chain: string): string[] {
  const texts = chain.match(/-----BEGIN[^]+?-----END CERTIFICATE-----/g)!
  return texts.map((text) => new X509Certificate(text).subject.replace(/^CN=(.+)\.example$/, '$1'))
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-chain-'))
  writeFileSync(at('extensions'), 'subjectAltName=DNS:leaf.example\nbasicConstraints=CA:TRUE\n')
  certificate('root', null)
  certificate('old-root', null)
  certificate('leaf', 'root')
})
afterAll(() => rmSync(folder, { recursive: true }))

test("a certificate outside the chain is left out of an authority's answer, and refused in an upload", () => {
  const given = ['old-root', 'leaf', 'root'].map((name) => read(`${name}.crt`)).join('')
  const { chain } = assembleChain(given, read('leaf.key'), 'left out')
  expect(subjectsOf(chain)).toEqual(['leaf', 'root'])
  expect(() => assembleChain(given, read('leaf.key'))).toThrow('the chain is broken')
})

test('an authority that two others have signed is in a chain twice, with what is behind each', () => {
  certificate('middle', 'root')
  sign('middle', 'old-root', 'other-middle.crt')
  certificate('site', 'middle')
  const files = ['root', 'other-middle', 'old-root', 'middle', 'site'].map((name) => `${name}.crt`)
  for (const given of [files, files.toReversed()])
    for (const strangers of ['refused', 'left out'] as const) {
      const { chain } = assembleChain(given.map(read).join(''), read('site.key'), strangers)
      const [first, ...others] = subjectsOf(chain)
      expect([first, ...others.slice(0, 2)]).toEqual(['site', 'middle', 'middle'])
      expect(others.slice(2).toSorted()).toEqual(['old-root', 'root'])
    }
  const alone = [...files.slice(1, 2), ...files.slice(3)].map(read).join('')
  expect(subjectsOf(assembleChain(alone, read('site.key')).chain)).toEqual(['site', 'middle', 'middle'])
})
