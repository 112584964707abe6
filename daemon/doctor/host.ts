import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { provideContext } from '#server/context.ts'
import { emptyDatabase, readDatabase, schemaVersion, type Database } from '#server/database/index.ts'
import { SCHEMA_VERSION } from '#server/database/copy.ts'
import type { Finding } from '#server/doctor/schema.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { ledger } from '#server/ledger.ts'
import type { Options } from '#server/options/index.ts'
import { openVault, type Vault } from '#server/secrets.ts'
import { keptId } from '#server/server-id.ts'
import { VERSION } from '#server/version.ts'
import { createEngine } from '../engine/index.ts'
import { examine } from './examine.ts'
import { gatherFacts } from './facts.ts'
import { CHECKS } from './table.ts'

/**
 * Examines the host from outside of a server, in at most 3 s. What needs a running one is skipped, with `serverFault` as the
 * reason. Throws `invalid_request` for an engine on another host. Call it once in a process.
 */
export async function examineHost(options: Options, serverFault: string): Promise<Finding[]> {
  const { database, vault, serverId, fault } = openRecords(options.dataDirectory)
  provideContext({
    options,
    database,
    vault,
    serverId,
    version: VERSION,
    stopping: new AbortController().signal,
  })
  const engine = createEngine({
    ...(options.dockerHost === null ? {} : { dockerHost: options.dockerHost }),
    serverId,
    ledger,
  })
  try {
    return await examine(
      CHECKS,
      gatherFacts({ options, engine, world: null, serverFault, recordsFault: fault }),
    )
  } finally {
    await database.close()
  }
}

/** What a server keeps, to be read alone; with a reason why it cannot be used in place of what is missing. */
interface Records {
  database: Database
  vault: Vault
  serverId: string
  fault: string | null
}

/** Opens the database and the key of a data directory as they are, without a trace. */
function openRecords(dataDirectory: string): Records {
  const [file, keyFile] = [join(dataDirectory, 'deployer.db'), join(dataDirectory, 'secret.key')]
  let database: Database | undefined
  try {
    // Opening the vault would create the key.
    if (!existsSync(file) || !existsSync(keyFile)) throw new Error(`no server has used ${dataDirectory} yet`)
    database = readDatabase(file)
    const version = schemaVersion(database)
    if (version !== SCHEMA_VERSION)
      throw new Error(`the database is at version ${version}, this program's is ${SCHEMA_VERSION}`)
    return { database, vault: openVault(keyFile), serverId: keptId(database), fault: null }
  } catch (error) {
    void database?.close()
    return { database: emptyDatabase(), vault: NO_VAULT, serverId: '', fault: messageOf(error) }
  }
}

/** In place of a key that cannot be used: every check that would use it is skipped. */
const noKey = (): never => {
  throw new AppError('io_error', 'the key of the server cannot be read')
}
const NO_VAULT: Vault = { seal: noKey, open: noKey, openBytes: noKey, fingerprint: noKey }
