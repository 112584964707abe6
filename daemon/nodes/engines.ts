import { listNodes } from '#server/nodes/store.ts'
import type { Engine } from '../engine/index.ts'
import { isAnswering, type Ways } from './presence.ts'

export interface NodeEngine {
  nodeId: string
  engine: Engine
}

/** The nodes whose engines answer, the server's own first, with their engines. */
export function answeringEngines(machines: Ways): NodeEngine[] {
  return listNodes()
    .filter((node) => isAnswering(machines, node))
    .map(({ id }) => ({ nodeId: id, engine: machines.engineOf(id) }))
}
