import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { provideContext, type Context } from '#server/context.ts'
import { openDatabase } from '#server/database/index.ts'
import { ensureBaseDomain } from '#server/domains/operations.ts'
import { ensureProduction } from '#server/environments/store.ts'
import { ensureOwnNode } from '#server/nodes/own.ts'
import { readOptions } from '#server/options/index.ts'
import { openVault } from '#server/secrets.ts'

/** A server's context in this process, on a separate database. */
export async function openContext(): Promise<{ context: Context; close: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'deployer-context-'))
  const context: Context = {
    options: readOptions(['--data-dir', directory, '--http-listen', '127.0.0.1:80'], {}),
    database: await openDatabase(join(directory, 'deployer.db')),
    vault: openVault(join(directory, 'key')),
    serverId: 'test',
    version: '0.0.0',
    stopping: new AbortController().signal,
  }
  provideContext(context)
  ensureProduction()
  ensureOwnNode()
  ensureBaseDomain()
  return {
    context,
    close: async () => {
      await context.database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
