import { useContext } from '#server/context.ts'
import type { Finding } from '#server/doctor/schema.ts'
import type { World } from '../world.ts'
import { examine } from './examine.ts'
import { gatherFacts } from './facts.ts'
import { CHECKS } from './table.ts'

let running: Promise<Finding[]> | null = null

/** Examines the running server, in at most 3 s. Calls that come meanwhile share the examination. */
export function examineServer(world: World): Promise<Finding[]> {
  const { options } = useContext()
  running ??= examine(
    CHECKS,
    gatherFacts({ options, engine: world.engine, world, serverFault: '', recordsFault: null }),
  ).finally(() => (running = null))
  return running
}
