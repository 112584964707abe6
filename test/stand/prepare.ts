import { keepStand, stopStand } from './index.ts'
import { say } from './run.ts'

/** `node test/stand/prepare.ts` prepares the stand and leaves it running; `... stop` stops it. */
async function main(): Promise<void> {
  if (process.argv[2] === 'stop') {
    await stopStand()
    say('stopped')
    return
  }
  const started = performance.now()
  const stand = await keepStand()
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  say(`ready in ${seconds} s: DOCKER_HOST=${stand.dockerHost} registry=${stand.registry}`)
}

main().catch((error: unknown) => {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
})
