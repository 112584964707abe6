import { log, messageOf } from './log.ts'
import type { SupervisorSettings } from './protocol.ts'
import { startSupervisor, type WorkerSettings } from './spawn.ts'
import { runSupervisor } from './supervisor/supervisor.ts'
import { runWorker } from './worker/worker.ts'

/** The data plane's program: `supervisor`, `starter` or `worker`, then its settings as JSON. */
const [, , role, settings = '{}'] = process.argv

// Everything that it creates (sockets, table, log) belongs to its owner alone.
process.umask(0o077)
process.on('unhandledRejection', (error) => log('error', 'unhandled rejection', { error: messageOf(error) }))

run().catch((error: unknown) => {
  log('error', `${role} ends`, { error: messageOf(error) })
  process.exit(1)
})

async function run(): Promise<void> {
  const given = JSON.parse(settings) as SupervisorSettings & WorkerSettings
  process.title = `deployer-proxy ${role} ${given.data_directory}`
  if (role === 'supervisor') await runSupervisor(given)
  else if (role === 'starter') startSupervisor(given)
  else if (role === 'worker') await runWorker(given)
  else throw new Error('the first argument must be supervisor, starter or worker')
}
