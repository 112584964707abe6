import { announceNode } from '../changes.ts'

/** Why nodes do not serve requests as entries, by their id. Found again after each start. */
const faults = new Map<string, string>()
/** Another machine may say anything. */
const MAX_CHARACTERS = 300

/** Notes why an entry does not serve as it should; null when it does. */
export function noteEntryFault(nodeId: string, said: string | null): void {
  const fault = said && shortened(said)
  if (entryFault(nodeId) === fault) return
  if (fault === null) faults.delete(nodeId)
  else faults.set(nodeId, fault)
  announceNode(nodeId)
}

/** Why a node does not serve requests as an entry; null when it does, or is none. */
export function entryFault(nodeId: string): string | null {
  return faults.get(nodeId) ?? null
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length <= MAX_CHARACTERS ? line : `${line.slice(0, MAX_CHARACTERS - 1)}…`
}
