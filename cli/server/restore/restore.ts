import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '#server/errors.ts'
import { writePrivateFile } from '#server/files.ts'
import { SETTINGS_FILE } from '#server/options/saved-settings.ts'
import { shownManifest, type Manifest } from '#server/server-backups/manifest.ts'
import { checkServerBackup } from '#server/server-backups/verify.ts'
import type { Call } from '../../call.ts'
import {
  keepSettings as saveSettings,
  knownSettings,
  parseSettings,
  withSettings,
} from '../install/settings.ts'
import { optionsOf } from '../own-flags.ts'
import { askPassphrase, givenPassphrase } from '../passphrase.ts'
import { RestorePlace } from './place.ts'
import { confirm, showRestore } from './progress.ts'
import {
  backupsIn,
  bucketSource,
  fileSource,
  isSealedSource,
  withTemporaryFolder,
  type BackupSource,
} from './source.ts'
import { unpack, type Unpacked } from './unpack.ts'

/** Settings that a backup had, when this user may not put them where `deployer install` saves them. */
const LEFT_SETTINGS = 'settings-of-backup.env'

/** `deployer restore`: brings a server back from a backup, or says how that goes. */
export async function restore(call: Call): Promise<number | void> {
  const { dataDirectory, backupBucket } = optionsOf(call)
  if (call.has('status')) return showRestore(call, dataDirectory)
  if (call.has('confirm')) return confirm(call, dataDirectory)
  const [word = null] = call.words
  const isFromBucket = call.has('from-bucket')
  if (call.has('list')) {
    for (const name of await backupsIn(backupBucket)) call.out.line(name)
    return
  }
  if (word === null && !isFromBucket)
    throw new AppError('invalid_request', 'name the file of a backup, or use --from-bucket')
  const source = isFromBucket ? await bucketSource(backupBucket, word) : await fileSource(word!)
  const passphrase = (await isSealedSource(source))
    ? (givenPassphrase(call) ?? (await askPassphrase(call)))
    : null
  if (call.has('dry-run')) return dryRun(call, source, passphrase)
  await restoreInto(call, dataDirectory, source, passphrase)
}

/** Reads a backup to its end, and says what would come back and what would not. */
async function dryRun(call: Call, source: BackupSource, passphrase: string | null): Promise<void> {
  const manifest = await withTemporaryFolder(async (folder) =>
    checkServerBackup(await source.open(), passphrase, join(folder, 'deployer.db')),
  )
  if (call.out.isJson) return call.out.json(shownManifest(manifest))
  call.out.line(`${source.title} is sound: ${titleOf(manifest)}`)
  for (const line of missingFrom(manifest)) call.out.line(`would not come back: ${line}`)
}

async function restoreInto(
  call: Call,
  dataDirectory: string,
  source: BackupSource,
  passphrase: string | null,
): Promise<void> {
  const place = await RestorePlace.open(dataDirectory, { force: call.has('force') })
  try {
    await place.begin()
    let unpacked: Unpacked
    try {
      unpacked = await unpack(await source.open(), passphrase, place.folder)
    } catch (error) {
      await place.abandon()
      throw error
    }
    const before = await finish(place)
    const settings = keepSettings(unpacked, dataDirectory)
    const { out } = call
    out.done(`restored ${titleOf(unpacked.manifest)} to ${dataDirectory}`, shownManifest(unpacked.manifest))
    if (before !== null) out.note(`What was there before is in ${before}.`)
    for (const line of missingFrom(unpacked.manifest)) out.note(`It does not bring back ${line}.`)
    out.note(settings)
    if (unpacked.managers.length > 0)
      out.note(
        `It had managers on ${unpacked.managers.join(' and ')}. If they remain, let the engine of this machine join their swarm before you confirm, or all nodes are lost: docker swarm join-token manager, run there, prints how.`,
      )
    out.note(
      'The server starts fenced: it only looks until you confirm with deployer restore --confirm that the old server is gone.',
    )
  } finally {
    place.close()
  }
}

async function finish(place: RestorePlace): Promise<string | null> {
  try {
    return await place.finish()
  } catch (error) {
    await place.abandon()
    throw error
  }
}

/**
 * Puts settings where `deployer install` reads them, unless there are some: those that the server knows, since the unit takes
 * all that is there into its environment. Returns what to do next.
 */
function keepSettings({ manifest, savedSettings }: Unpacked, dataDirectory: string): string {
  const saved = savedSettings === null ? null : knownSettings(parseSettings(savedSettings))
  if (saved !== null && process.getuid?.() === 0 && !existsSync(SETTINGS_FILE)) {
    saveSettings({ ...saved, DEPLOYER_DATA_DIR: dataDirectory })
    return 'Its settings are in place: start it with deployer install.'
  }
  const text = withSettings('', saved ?? knownSettings(manifest.settings))
  if (Object.keys(saved ?? manifest.settings).length === 0)
    return 'Start it with deployer serve, or deployer install.'
  writePrivateFile(join(dataDirectory, LEFT_SETTINGS), text)
  return `The settings that it was started with are in ${LEFT_SETTINGS} of its data directory: start it with them.`
}

function titleOf({ host, created_at, version }: Manifest): string {
  return `${host} as of ${created_at}, version ${version}`
}

/** What a backup does not hold, one line for each. */
function missingFrom({ includes, datastores, disks, settings }: Manifest): string[] {
  const without = datastores.filter(({ backup_id }) => backup_id === null).map(({ name }) => name)
  const files = Object.entries(settings)
    .filter(([name, path]) => name.endsWith('_FILE') && !existsSync(path))
    .map(([name, path]) => `the file ${path} of ${name}`)
  return [
    ...without.map((name) => `the contents of datastore ${name}, unless the bucket has a backup of it`),
    ...disks
      .filter(({ backup_id }) => backup_id === null)
      .map(
        ({ name, disk }) =>
          `what is on the disk ${disk} of service ${name}, unless the bucket has a backup of it`,
      ),
    ...(includes.logs ? [] : ['the logs of deploys and jobs']),
    ...files,
    'images: services whose image the engine lacks are deployed again',
  ]
}
