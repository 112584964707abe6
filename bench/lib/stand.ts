import { builtServer } from '../../test/support/build.ts'
import { startServer, type TestServer } from '../../test/support/server.ts'
import { startStand } from '../../test/stand/index.ts'

/** A server on the test stand's engine, for a measurement; everything is stopped when `measure` is done. */
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

/** The middle of some figures. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The figure below which this share of them lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Memory of a process alone and its share of what it shares, in MiB (PSS, proc(5) smaps_rollup). */
export function formatMib(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
