import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  assertNewer,
  assertSigned,
  assertSum,
  readKey,
  releaseNameOf,
  sumIn,
} from '../../cli/server/upgrade/verify.ts'
import { sectionOf } from '../../scripts/lib/release/notes.mjs'
import { publicKeyOf, sign } from '../../scripts/lib/release/sums.mjs'

const SUM = 'a'.repeat(64)
const SUMS = `${SUM}  deployer-1.2.0-linux-x64.tar.gz\n${'b'.repeat(64)}  deployer-1.2.0.cdx.json\n`
const { privateKey } = generateKeyPairSync('ed25519')

describe('the name of a release', () => {
  test('has its version and what machines it is for', () => {
    expect(releaseNameOf('deployer-1.2.0-rc.1-linux-arm64.tar.gz', 'arm64')).toEqual({
      file: 'deployer-1.2.0-rc.1-linux-arm64.tar.gz',
      title: 'deployer-1.2.0-rc.1-linux-arm64',
      version: '1.2.0-rc.1',
    })
  })

  test.each([
    ['deployer-1.2.0-linux-arm64.tar.gz', /is for arm64, and this host is x64/],
    ['deployer-1.2-linux-x64.tar.gz', /is not the name of a release/],
    ['deployer-01.2.0-linux-x64.tar.gz', /is not the name of a release/],
    ['../deployer-1.2.0-linux-x64.tar.gz', /is not the name of a release/],
    ['deployer-1.2.0-linux-x64.tar', /is not the name of a release/],
  ])('%s is refused', (file, says) => {
    expect(() => releaseNameOf(file, 'x64')).toThrow(says)
  })
})

test.each([
  ['1.2.0', '1.1.9', true],
  ['1.10.0', '1.9.0', true],
  ['1.2.0', '1.2.0-rc.1', true],
  ['1.2.0', '1.2.0', false],
  ['1.2.0-rc.1', '1.2.0', false],
  ['1.9.0', '1.10.0', false],
])('version %s over %s: %s', (version, running, isNewer) => {
  const check = () => assertNewer(version, running)
  if (isNewer) expect(check).not.toThrow()
  else expect(check).toThrow(/nothing was changed/)
})

describe('the signature of the sums', () => {
  const key = createPublicKey(privateKey)

  test('is accepted as npm run release makes it', () => {
    expect(() =>
      assertSigned(SUMS, sign(SUMS, privateKey), readKey(publicKeyOf(privateKey), 'key')),
    ).not.toThrow()
  })

  test.each([
    ['another text', SUMS.replace('a', 'c'), sign(SUMS, privateKey)],
    ['another key', SUMS, sign(SUMS, generateKeyPairSync('ed25519').privateKey)],
    ['nothing', SUMS, ''],
    ['something else', SUMS, 'not base64 at all ***'],
    ['a part', SUMS, sign(SUMS, privateKey).slice(0, 40)],
  ])('is refused for %s', (_, sums, signature) => {
    expect(() => assertSigned(sums, signature, key)).toThrow(/not by the key/)
  })

  test('needs a key of its kind', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    expect(() => readKey(pem, 'key.pem')).toThrow(/key\.pem has no Ed25519 public key.*a key of ec/)
    expect(() => readKey('hello', 'key.pem')).toThrow(/key\.pem has no Ed25519 public key/)
  })
})

test('finds the sum of exactly the named file', () => {
  expect(sumIn(SUMS, 'deployer-1.2.0-linux-x64.tar.gz')).toBe(SUM)
  expect(sumIn(SUMS.replace('  ', ' *'), 'deployer-1.2.0-linux-x64.tar.gz')).toBe(SUM)
  expect(() => sumIn(SUMS, '1.2.0-linux-x64.tar.gz')).toThrow(/has no sum of/)
  expect(() => assertSum('a', SUM, 'b'.repeat(64))).toThrow(/damaged or cut short/)
})

test("takes a version's section of the changelog as its notes", () => {
  const changelog =
    '# Changelog\n\n## [Unreleased]\n\n- soon\n\n## [1.2.0] - 2026-11-29\n\n- new\n\n## [1.1.0] - 2026-01-01\n'
  expect(sectionOf(changelog, '1.2.0')).toEqual({ date: '2026-11-29', text: '# Deployer 1.2.0\n\n- new\n' })
  expect(() => sectionOf(changelog, '1.3.0')).toThrow(/has no section "## \[1\.3\.0\]/)
})
