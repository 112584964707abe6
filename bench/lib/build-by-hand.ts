import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Max bytes of a build's progress: the first build of Next prints much. */
const MAX_PROGRESS_BYTES = 64 * 1024 * 1024

const run = promisify(execFile)

/**
 * Builds a packed context with the engine's BuildKit, without the client's buildx plugin, which may be missing. Throws if
 * the build fails.
 */
export async function buildByHand(dockerHost: string, context: string, image: string): Promise<void> {
  const { stdout } = await run(
    'curl',
    [
      '-sf',
      '--unix-socket',
      dockerHost.slice('unix://'.length),
      '-H',
      'content-type: application/x-tar',
      '--data-binary',
      `@${context}`,
      `http://engine/build?version=2&t=${image}`,
    ],
    { maxBuffer: MAX_PROGRESS_BYTES },
  )
  // A failed build has the same status as a successful one.
  const fault = /"error":"[^"]*/.exec(stdout)
  if (fault) throw new Error(`the build by hand failed: ${fault[0]}`)
}
