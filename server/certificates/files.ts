import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { useContext } from '../context.ts'
import { writePrivateFile } from '../files.ts'

const CHAIN = 'fullchain.pem'
const KEY = 'privkey.pem'
/** The key of an order in progress: its certificate may arrive after a restart. */
const NEXT_KEY = 'next.privkey.pem'
/** The current one and the one before, which a worker that is shutting down may still read. */
const KEPT_VERSIONS = 2
const VERSION_BYTES = 4

/** The files of a certificate and its key. */
export interface PemFiles {
  certificate: string
  key: string
}

/**
 * The folder of a name's certificate. Names are validated before they get here: letters, digits, hyphens and dots, with at
 * most a leading asterisk, which is replaced by an underscore, since no name has one.
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
 * Writes a new version and then `fullchain.pem` and `privkey.pem`, which are for people and other programs. Returns the
 * version. Throws the file system's errors; the previous version is intact then.
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

/** Removes what is no longer used: older versions, the key of a finished order, files left half-written by a kill. */
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

/** Returns the key of the order in progress; `make` creates it when there is none. */
export async function nextKey(name: string, make: () => Promise<string>): Promise<string> {
  const file = join(certificateFolder(name), NEXT_KEY)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  const key = await make()
  writePrivateFile(file, key)
  return key
}

/** Whether the key of an order in progress is stored. */
export function hasNextKey(name: string): boolean {
  return existsSync(join(certificateFolder(name), NEXT_KEY))
}

/** Removes all files of a name. */
export function removeCertificateFiles(name: string): void {
  rmSync(certificateFolder(name), { recursive: true, force: true })
}

/** The files of an uploaded certificate. No name has an underscore, so the folder cannot collide with one. */
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

/** Writes a certificate that is needed only to answer a challenge. */
export function writeChallenge(chain: string, key: string): PemFiles & { remove: () => void } {
  const folder = join(challengeFolder(), randomBytes(VERSION_BYTES).toString('hex'))
  const files = { certificate: join(folder, CHAIN), key: join(folder, KEY) }
  writePrivateFile(files.key, key)
  writePrivateFile(files.certificate, chain)
  return { ...files, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Removes what interrupted orders left. */
export function removeChallenges(): void {
  rmSync(challengeFolder(), { recursive: true, force: true })
}

function challengeFolder(): string {
  return certificateFolder('_challenges')
}

/**
 * The file with the key of the account at an authority. It is kept apart from the certificates, which the data plane reads,
 * because with it anyone could get certificates for every name that leads here.
 */
export function accountKeyFile(directory: string): string {
  const { host, pathname } = new URL(directory)
  const place = `${host}${pathname}`.replaceAll(/[^a-z0-9.-]+/gi, '_')
  return join(accountFolder(), place, KEY)
}

/** Moves the account keys of earlier versions out of the folder that the data plane reads. */
export function moveAccountKeys(): void {
  const former = certificateFolder('_accounts')
  if (!existsSync(former)) return
  if (existsSync(accountFolder())) rmSync(former, { recursive: true })
  else renameSync(former, accountFolder())
}

function accountFolder(): string {
  return join(useContext().options.dataDirectory, 'acme-accounts')
}
