import { useDatabase } from '../context.ts'
import { removeSetting, writeSetting } from '../database/settings.ts'

const KEY = 'stopped_in_order'

/** Keeps for the next start that this server was told to stop. */
export function recordOrderlyStop(): void {
  writeSetting(useDatabase(), KEY, '1')
}

/** Whether the server was told to stop before this start, and did not crash; asked once a start, as it forgets it. */
export function takeOrderlyStop(): boolean {
  return removeSetting(useDatabase(), KEY)
}
