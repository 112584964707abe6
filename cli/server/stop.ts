import { setTimeout as delay } from 'node:timers/promises'
import { findProxy } from '#daemon/proxy/find.ts'
import type { Call } from '../call.ts'
import { optionsOf } from './own-flags.ts'
import { findServer } from './running.ts'

/** The server ends within 10 s. */
const WAIT_MS = 15_000
const POLL_EVERY_MS = 50

/** Stops the server of a data directory; with `--all` also its data plane. Containers keep running in both cases. */
export function stop(call: Call): Promise<number> {
  return stopServer(optionsOf(call).dataDirectory, { withDataPlane: call.has('all') })
}

/** Does what `stop` does; returns its exit code. */
export async function stopServer(
  dataDirectory: string,
  { withDataPlane }: { withDataPlane: boolean },
): Promise<number> {
  const server = findServer(dataDirectory)
  if (server) {
    process.kill(server.pid, 'SIGTERM')
    const began = performance.now()
    while (findServer(dataDirectory)) {
      if (performance.now() - began > WAIT_MS) {
        process.stderr.write(`the server (process ${server.pid}) did not end within ${WAIT_MS / 1000} s\n`)
        return 1
      }
      await delay(POLL_EVERY_MS)
    }
    process.stdout.write('the server has ended\n')
  } else process.stdout.write('no server runs on this data directory\n')
  if (!withDataPlane) return 0
  const proxy = await findProxy(dataDirectory)
  await proxy?.stop()
  process.stdout.write(proxy ? 'the data plane has ended\n' : 'no data plane runs on this data directory\n')
  return 0
}
