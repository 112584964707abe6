import { builtServer } from '../../test/support/build.ts'
import { startServer, type TestServer } from '../../test/support/server.ts'
import { startStand } from '../../test/stand/index.ts'

export { formatMib, median, percentile } from './figures.ts'

/** Runs `measure` with a server on the test stand's engine; everything is stopped afterwards. */
export async function withServer(
  measure: (server: TestServer, dockerHost: string) => Promise<void>,
  flags: string[] = [],
): Promise<void> {
  await builtServer()
  const stand = await startStand()
  process.env.DEPLOYER_TEST_DOCKER_HOST = stand.dockerHost
  const server = await startServer({ engine: true, flags })
  try {
    await measure(server, stand.dockerHost)
  } finally {
    await server.stop()
    await stand.stop()
  }
}
