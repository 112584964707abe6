import { ledgerOn } from '#server/ledger.ts'
import { logger } from '#server/log.ts'
import type { Engine } from '../engine/index.ts'

const log = logger('nodes')

/**
 * Removes the containers that a machine still has from when it was a node of this server before. Their record went with that
 * node, and what they ran may run elsewhere by now. Volumes stay. Throws `runtime_error`.
 */
export async function removeFormerContainers(
  nodeId: string,
  engine: Pick<Engine, 'strays'> & { containers: Pick<Engine['containers'], 'remove'> },
  signal: AbortSignal,
): Promise<void> {
  for (const { kind, name } of await engine.strays(signal)) {
    if (kind !== 'container') continue
    // Only what is recorded can be removed.
    ledgerOn(nodeId).record('container', name)
    await engine.containers.remove(name)
    log.info('a container was left on a machine from when it was a node before', { container: name })
  }
}
