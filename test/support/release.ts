import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ReleaseNode } from '../../scripts/lib/release/node.mjs'
import { packRelease } from '../../scripts/lib/release/pack.mjs'
import { publicKeyOf, sign, sumsOf } from '../../scripts/lib/release/sums.mjs'
import { VERSION } from '../../server/version.ts'
import { builtServer } from './build.ts'

const RUNNABLE = 0o755

/** A key that signs releases. */
export const releaseKey: KeyObject = generateKeyPairSync('ed25519').privateKey

export interface TestRelease {
  /** The tarball; its sums and their signature are beside it. */
  file: string
  version: string
  /** The file of the public key. */
  key: string
}

/**
 * Makes a signed release of the server under test in a folder, with another version. `change` edits the program before. Unless
 * it has a node of its own, its node starts the one of this process, which would take most of the time to pack.
 */
export async function makeRelease(
  folder: string,
  version: string,
  { change, node = 'this' }: { change?: (program: string) => void; node?: 'own' | 'this' } = {},
): Promise<TestRelease> {
  const built = join(folder, `built-${version}`)
  const from = dirname(dirname(await builtServer()))
  for (const part of ['server', 'public'])
    cpSync(join(from, part), join(built, part), { recursive: true, verbatimSymlinks: true })
  const versionFile = join(built, 'server/chunks/_/version.mjs')
  writeFileSync(versionFile, readFileSync(versionFile, 'utf8').replaceAll(VERSION, version))
  change?.(built)
  const publicKey = publicKeyOf(releaseKey)
  const release = {
    built,
    node: testNode(folder, node),
    version,
    arch: process.arch,
    publicKey,
    time: 0,
    folder,
    level: 1,
  }
  const file = await packRelease(release)
  const sums = await sumsOf(folder, [basename(file)])
  writeFileSync(join(folder, 'SHA256SUMS'), sums)
  writeFileSync(join(folder, 'SHA256SUMS.sig'), sign(sums, releaseKey))
  writeFileSync(join(folder, 'key.pem'), publicKey)
  return { file, version, key: join(folder, 'key.pem') }
}

/** Has the server of a program write into its database as a newer version would, and end, once it is ready. */
export function endOnceReady(program: string, dataDirectory: string): void {
  const file = join(program, 'server/index.mjs')
  const code = `if (process.argv[2] === 'serve') {
    const { readFileSync } = process.getBuiltinModule('node:fs')
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
    setInterval(() => {
      try {
        if (JSON.parse(readFileSync('${dataDirectory}/server.json', 'utf8')).pid !== process.pid) return
      } catch { return }
      new DatabaseSync('${dataDirectory}/deployer.db').exec('CREATE TABLE IF NOT EXISTS newer (a); PRAGMA user_version = 999')
      setTimeout(() => process.exit(7), 2000)
    }, 300)
  }\n`
  writeFileSync(file, code + readFileSync(file, 'utf8'))
}

function testNode(folder: string, which: 'own' | 'this'): ReleaseNode {
  mkdirSync(folder, { recursive: true })
  const program = join(folder, 'node')
  if (which === 'own') copyFileSync(process.execPath, program)
  else writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: RUNNABLE })
  const license = join(folder, 'node.LICENSE')
  writeFileSync(license, 'MIT\n')
  return { program, license, libraries: [], warnings: [] }
}
