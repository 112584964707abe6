import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { useContext } from '../context.ts'
import { writePrivateFile } from '../files.ts'

const CHAIN = 'fullchain.pem'
const KEY = 'privkey.pem'
/** The key of an order under way: a certificate for it may come after a restart. */
const NEXT_KEY = 'next.privkey.pem'
/** The one that serves and the one before, which a worker that retires may still read. */
const KEPT_VERSIONS = 2
const VERSION_BYTES = 4

/** Where a certificate and its key are. */
export interface PemFiles {
  certificate: string
  key: string
}

/**
 * The folder of a name's certificate. Names are checked before they get here: of letters, digits, hyphens and dots, with
 * an asterisk first at most, which stands as an underscore that no name has.
 */
function certificateFolder(name: string): string {
  return join(useContext().options.dataDirectory, 'certificates', name.replace('*', '_'))
}

/** The files of one version, which never change: the data plane reads them when the first client comes. */
export function versionFiles(name: string, version: string): PemFiles {
  const folder = certificateFolder(name)
  return { certificate: join(folder, `${version}.${CHAIN}`), key: join(folder, `${version}.${KEY}`) }
}

/**
 * Writes a new version and then `fullchain.pem` and `privkey.pem`, which are for people and other programs. Answers the
 * version. Throws what the file system says; what served before is whole then.
 */
export function writeVersion(name: string, chain: string, key: string): string {
  const version = randomBytes(VERSION_BYTES).toString('hex')
  const files = versionFiles(name, version)
  writePrivateFile(files.key, key)
  writePrivateFile(files.certificate, chain)
  const folder = certificateFolder(name)
  writePrivateFile(join(folder, KEY), key)
  writePrivateFile(join(folder, CHAIN), chain)
  return version
}

/** Removes all that nothing shows any more: older versions, the key of an order that has ended, what a kill left half-written. */
export function removeOldVersions(name: string, current: string): void {
  const folder = certificateFolder(name)
  const files = readdirSync(folder)
  const former = files
    .filter((file) => file.endsWith(`.${CHAIN}`) && !file.startsWith(`${current}.`))
    .map((file) => ({ file, written: statSync(join(folder, file)).mtimeMs }))
    .toSorted((left, right) => right.written - left.written)
    .map(({ file }) => file.slice(0, -CHAIN.length - 1))
  const kept = new Set([CHAIN, KEY])
  for (const version of [current, ...former].slice(0, KEPT_VERSIONS))
    for (const file of [CHAIN, KEY]) kept.add(`${version}.${file}`)
  for (const file of files) if (!kept.has(file)) rmSync(join(folder, file), { force: true })
}

/** The key of the order under way; `make` makes it when there is none. */
export async function nextKey(name: string, make: () => Promise<string>): Promise<string> {
  const file = join(certificateFolder(name), NEXT_KEY)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const key = await make()
  writePrivateFile(file, key)
  return key
}

/** Whether the key of an order under way is kept. */
export function hasNextKey(name: string): boolean {
  return existsSync(join(certificateFolder(name), NEXT_KEY))
}

/** Removes everything of a name. */
export function removeCertificateFiles(name: string): void {
  rmSync(certificateFolder(name), { recursive: true, force: true })
}

/** The files of an uploaded certificate; no name has an underscore, so the folder is nobody's. */
export function uploadedFiles(id: string): PemFiles {
  const folder = certificateFolder(join('_uploaded', id))
  return { certificate: join(folder, CHAIN), key: join(folder, KEY) }
}

export function writeUploaded(id: string, chain: string, key: string): void {
  const files = uploadedFiles(id)
  writePrivateFile(files.key, key)
  writePrivateFile(files.certificate, chain)
}

export function removeUploaded(id: string): void {
  removeCertificateFiles(join('_uploaded', id))
}

/** Writes a certificate that proves something for a moment. */
export function writeChallenge(chain: string, key: string): PemFiles & { remove: () => void } {
  const folder = join(challengeFolder(), randomBytes(VERSION_BYTES).toString('hex'))
  const files = { certificate: join(folder, CHAIN), key: join(folder, KEY) }
  writePrivateFile(files.key, key)
  writePrivateFile(files.certificate, chain)
  return { ...files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Removes what orders left that were cut off. */
export function removeChallenges(): void {
  rmSync(challengeFolder(), { recursive: true, force: true })
}

function challengeFolder(): string {
  return certificateFolder('_challenges')
}

/**
 * Where the key of the account at an authority is: apart from the certificates, which the data plane reads. With it new
 * ones can be had for every name that leads here.
 */
export function accountKeyFile(directory: string): string {
  const { host, pathname } = new URL(directory)
  const place = `${host}${pathname}`.replaceAll(/[^a-z0-9.-]+/gi, '_')
  return join(accountFolder(), place, KEY)
}

/** Takes the accounts of earlier versions out of the folder that the data plane reads. */
export function moveAccountKeys(): void {
  const former = certificateFolder('_accounts')
  if (!existsSync(former)) return
  if (existsSync(accountFolder())) rmSync(former, { recursive: true })
  else renameSync(former, accountFolder())
}

function accountFolder(): string {
  return join(useContext().options.dataDirectory, 'acme-accounts')
}
