import { useDatabase } from '../context.ts'
import { removeSetting, writeSetting } from '../database/settings.ts'

const KEY = 'stopped_in_order'

/** Records for the next start that this server was stopped in an orderly way. */
export function recordOrderlyStop(): void {
  writeSetting(useDatabase(), KEY, '1')
}

/**
 * Whether the previous run was stopped in an orderly way, and did not crash. Can be asked once per start, because it clears
 * the record.
 */
export function takeOrderlyStop(): boolean {
  return removeSetting(useDatabase(), KEY)
}
