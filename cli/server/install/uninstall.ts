import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { removeEverything } from '#daemon/cleanup/everything.ts'
import { createEngine, type Engine, type Ledger } from '#daemon/engine/index.ts'
import { removeRules } from '#daemon/packet-filter/index.ts'
import { unfilterWay } from '#daemon/packet-filter/way.ts'
import { keptServerId } from '#daemon/proxy/launch.ts'
import { openDatabase, type Database } from '#server/database/index.ts'
import { AppError } from '#server/errors.ts'
import { ledgerOf } from '#server/ledger.ts'
import { hasOtherNodesIn } from '#server/nodes/store.ts'
import { readOptions, type Options } from '#server/options/index.ts'
import { openVault, type Vault } from '#server/secrets.ts'
import { serverIdOf } from '#server/server-id.ts'
import type { Call } from '../../call.ts'
import { stopServer } from '../stop.ts'
import {
  COMMAND_FILE,
  CONTROL_UNIT,
  DATA_UNIT,
  PROGRAM_FOLDER,
  SETTINGS_FILE,
  SETTINGS_FOLDER,
  UNIT_FOLDER,
} from './layout.ts'
import { keptSettings } from './settings.ts'
import { requireSystemd, systemctl, unitState } from './systemd.ts'

const OTHER_NODES =
  'other machines run containers of this server, which would be left there: remove them first (deployer node ls, deployer node rm)'

/**
 * `deployer uninstall`: stops and removes the units, the program and the packet filter rules. Containers keep running, and
 * the data directory and the settings stay for another install, unless `--data` is given.
 */
export async function uninstall(call: Call): Promise<number> {
  requireSystemd('uninstall')
  const data = call.has('data')
  const options = readOptions([], keptSettings())
  if (data && !call.has('yes') && !(await isConfirmed(options))) return 1
  // Checked before anything is removed: what an unreachable engine or another node still has would otherwise be forgotten.
  if (data)
    await withEngine(options, async ({ engine, database }) => {
      if (hasOtherNodesIn(database)) throw new AppError('conflict', OTHER_NODES)
      await engine.info()
    })
  const removed: string[] = []
  for (const unit of [CONTROL_UNIT, DATA_UNIT]) {
    if ((await unitState(unit)).loaded) await systemctl('disable', '--now', '--quiet', unit)
    removed.push(...remove(join(UNIT_FOLDER, unit)))
  }
  await systemctl('daemon-reload')
  const serverId = keptServerId(options.dataDirectory)
  if (serverId !== null) {
    removed.push(...(await removeRules(serverId)))
    await unfilterWay(serverId)
  }
  if (data) removed.push(...(await removeData(options)))
  removed.push(...remove(COMMAND_FILE), ...remove(PROGRAM_FOLDER))
  for (const line of removed) process.stdout.write(`removed ${line}\n`)
  if (removed.length === 0) process.stdout.write('nothing is installed\n')
  if (!data)
    process.stdout.write(
      `${options.dataDirectory}, ${SETTINGS_FILE} and the containers stay; deployer uninstall --data removes them too\n`,
    )
  return 0
}

/** Prints what would be deleted permanently, and asks for confirmation. */
async function isConfirmed({ dataDirectory }: Options): Promise<boolean> {
  process.stdout.write(
    [
      'This permanently deletes:',
      `  ${dataDirectory}: the database, secrets, certificates, sites, logs, and backups`,
      '  every container, network, volume and image that the server created, with the data of datastores and disks',
      `  ${SETTINGS_FOLDER}\n`,
    ].join('\n'),
  )
  if (!process.stdin.isTTY)
    throw new AppError(
      'invalid_request',
      'cannot ask for confirmation, since standard input is not a terminal: pass --data --yes',
    )
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await terminal.question(`Type ${dataDirectory} to continue: `)).trim() === dataDirectory
  } finally {
    terminal.close()
  }
}

async function removeData(options: Options): Promise<string[]> {
  const { dataDirectory } = options
  if (existsSync(dataDirectory)) await stopServer(dataDirectory, { withDataPlane: true })
  const counts = await withEngine(options, async ({ engine, ledger }) => {
    const lines = (['container', 'network', 'volume', 'image'] as const).map(
      (kind) => `${kind}s: ${ledger.list(kind).length}`,
    )
    await removeEverything(engine, ledger)
    return lines.join(', ')
  })
  return [...(counts === null ? [] : [counts]), ...removeContent(dataDirectory), ...remove(SETTINGS_FOLDER)]
}

/** Runs `act` on the engine as the data directory's database knows it; null without a database. */
async function withEngine<T>(
  { dataDirectory, dockerHost }: Options,
  act: (of: { engine: Engine; ledger: Ledger; database: Database }) => Promise<T>,
): Promise<T | null> {
  const file = join(dataDirectory, 'deployer.db')
  if (!existsSync(file)) return null
  const database = await openDatabase(file)
  try {
    const ledger = ledgerOf(
      () => database,
      () => existingVault(dataDirectory),
    )
    const serverId = serverIdOf(database)
    return await act({
      engine: createEngine({ ...(dockerHost === null ? {} : { dockerHost }), serverId, ledger }),
      ledger,
      database,
    })
  } finally {
    await database.close()
  }
}

/** Opens the existing key. Throws `io_error` if there is none: none is created for data that is about to be removed. */
function existingVault(dataDirectory: string): Vault {
  const file = join(dataDirectory, 'secret.key')
  if (!existsSync(file)) throw new AppError('io_error', `${file} is missing`)
  return openVault(file)
}

/** Removes a directory and its content. If it is a mount point, the directory itself stays. */
function removeContent(directory: string): string[] {
  if (!existsSync(directory)) return []
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true })
  try {
    rmSync(directory, { recursive: true })
    return [directory]
  } catch {
    return [`the content of ${directory}`]
  }
}

function remove(path: string): string[] {
  if (!existsSync(path)) return []
  rmSync(path, { recursive: true, force: true })
  return [path]
}
