import { startStand } from '../stand/index.ts'

/** The variable with which the set-up tells its workers where the test stand's engine is. */
const VARIABLE = 'DEPLOYER_TEST_DOCKER_HOST'

/** The address of the test stand's engine. Throws in a suite without the set-up below. */
export function standEngine(): string {
  const host = process.env[VARIABLE]
  if (!host)
    throw new Error('this suite has no container engine: add test/support/stand-setup.ts to its globalSetup')
  return host
}

/** Vitest's global set-up of the suites that need a container engine: the stand runs as long as they do. */
export default async function setup(): Promise<() => Promise<void>> {
  const stand = await startStand()
  process.env[VARIABLE] = stand.dockerHost
  return () => stand.stop()
}
