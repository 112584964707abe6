import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkDatabase } from '#server/database/copy.ts'
import { failed, passed, skipped, warning, type Check } from '../check.ts'

const RESTORE =
  'Stop the server and copy the data directory aside. Then restore the newest backup with deployer restore.'

export const database: Check = {
  id: 'database',
  title: 'Database',
  fix: RESTORE,
  async look({ options, recordsFault }) {
    const file = join(options.dataDirectory, 'deployer.db')
    if (!existsSync(file)) return skipped(`there is no ${file}: no server has used the data directory yet`)
    const { fault } = await checkDatabase(file)
    if (fault !== null) return failed(`${file} is damaged: ${fault}`, RESTORE)
    return recordsFault === null
      ? passed(`${file} is sound`)
      : warning(`${file} is sound, but cannot be used: ${recordsFault}`, 'Start the server.')
  },
}
