import { readFileSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { takeLock } from '#server/data-directory.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { readUpgrade, type Start } from '#server/upgrade/record.ts'
import type { Call } from '../../call.ts'
import { PROGRAM_FOLDER } from '../install/layout.ts'
import { removeOldReleases } from '../install/release.ts'
import { optionsOf } from '../own-flags.ts'
import { findServer, type RunningServer } from '../running.ts'
import { backUpFirst, untilNoDeploy } from './before.ts'
import { download, sourceOf, type ReleaseSource } from './source.ts'
import { folderOf, startOf, withProgram } from './start.ts'
import { takeBack, switchTo } from './switch.ts'
import { unpackRelease } from './unpack.ts'
import { assertNewer, assertSigned, assertSum, readKey, releaseNameOf, sumIn } from './verify.ts'

/** The public key that a release carries, in its folder. */
const KEY_FILE = 'release-key.pem'
/** A program that does not say its version by then does not run here. */
const VERSION_MS = 60_000

/**
 * `deployer upgrade`: replaces the running server with a newer release, and brings the former one back when the new one is no
 * good. Nothing is changed before the release was found to be whole, signed and newer.
 */
export async function upgrade(call: Call): Promise<void> {
  const { dataDirectory } = optionsOf(call)
  const lock = takeLock(join(dataDirectory, 'upgrade.lock'))
  if (!lock) throw new AppError('conflict', 'another deployer upgrade runs: wait until it has ended')
  try {
    if (readUpgrade(dataDirectory) !== null) {
      call.out.note('an earlier upgrade was interrupted: bringing the former version back first')
      await takeBack(dataDirectory)
    }
    const server = findServer(dataDirectory)
    if (!server)
      throw new AppError(
        'conflict',
        `no server runs on ${dataDirectory}: start it first, so that it can be seen whether the new version is as good`,
      )
    await upgradeServer(call, dataDirectory, server)
  } finally {
    lock.release()
  }
}

async function upgradeServer(call: Call, dataDirectory: string, server: RunningServer): Promise<void> {
  const source = sourceOf(call.words[0]!)
  const name = releaseNameOf(source.file)
  const start = await startOf(server)
  const running = await versionOf(start)
  assertNewer(name.version, running)
  const sums = await signedSums(source, keyOf(call, start))
  const signed = sumIn(sums, name.file)
  // Beside the running program, so that the new one is moved into place in one step.
  const beside = start.by === 'systemd' ? PROGRAM_FOLDER : dirname(folderOf(start))
  const work = await mkdtemp(join(beside, '.upgrade-')).catch((cause: unknown) => {
    throw new AppError('io_error', `cannot write to ${beside}: ${messageOf(cause)}`, { cause })
  })
  try {
    const tarball = join(work, 'release.tar.gz')
    assertSum(name.file, await download(source, tarball), signed)
    await unpackRelease(tarball, name.title, work).catch((cause: unknown) => {
      throw new AppError(
        'io_error',
        `${name.file} cannot be unpacked: ${messageOf(cause)}; nothing was changed`,
        { cause },
      )
    })
    await rm(tarball)
    let folder = join(work, name.title)
    const found = await versionOf(withProgram(start, folder))
    if (found !== name.version)
      throw new AppError('io_error', `${name.file} contains version ${found}; nothing was changed`)
    call.out.note(`${name.file} is whole, signed and newer than ${running}`)
    await backUpFirst(call, dataDirectory, server)
    await untilNoDeploy(call, dataDirectory)
    if (start.by === 'hand') folder = await keepBeside(folder, join(beside, name.title))
    const next = withProgram(start, folder)
    await switchTo(call, { dataDirectory, server, former: start, next, from: running, to: name.version })
    await removeUnused(dataDirectory, start)
    const how = start.by === 'systemd' ? '' : `; from now on start ${join(folder, 'deployer')}`
    call.out.done(`version ${name.version} runs${how}`, { version: name.version, former_version: running })
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Removes the installed releases other than the new one and the one before it. */
async function removeUnused(dataDirectory: string, former: Start): Promise<void> {
  const server = findServer(dataDirectory)
  const now = server && (await startOf(server))
  if (now?.by === 'systemd' && former.by === 'systemd') removeOldReleases(now, former)
}

async function keepBeside(folder: string, place: string): Promise<string> {
  await rm(place, { recursive: true, force: true })
  await rename(folder, place)
  return place
}

/** The sums beside a release, after their signature was checked. */
async function signedSums(source: ReleaseSource, key: ReturnType<typeof readKey>): Promise<string> {
  const sums = await source.text('SHA256SUMS')
  assertSigned(sums, await source.text('SHA256SUMS.sig'), key)
  return sums
}

/** The key of `--key`, else the one that the running release carries. Throws `invalid_request` without either. */
function keyOf(call: Call, start: Start): ReturnType<typeof readKey> {
  const given = call.text('key')
  const file = given ?? join(folderOf(start), KEY_FILE)
  try {
    return readKey(readFileSync(file, 'utf8'), file)
  } catch (cause) {
    if (cause instanceof AppError || given !== null)
      throw cause instanceof AppError
        ? cause
        : new AppError('invalid_request', `--key ${file}: ${messageOf(cause)}`, { cause })
    throw new AppError(
      'invalid_request',
      'the running program carries no key of its maker: pass the public key of the release with --key',
      { cause },
    )
  }
}

async function versionOf(start: Start): Promise<string> {
  const [node, entry] =
    start.by === 'systemd'
      ? [start.node, start.entry]
      : [start.command[0]!, join(folderOf(start), 'server/index.mjs')]
  try {
    const { stdout } = await promisify(execFile)(node, [entry, 'version'], { timeout: VERSION_MS })
    return stdout.trim()
  } catch (cause) {
    throw new AppError('io_error', `${entry} does not run here: ${messageOf(cause)}`, { cause })
  }
}
