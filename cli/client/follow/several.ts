import type { Deploy } from '#server/deploys/schema.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault } from '../../fault.ts'
import { onInterrupt } from '../../interrupts.ts'
import type { Api } from '../api.ts'
import { pathTo, qualifiedName } from '../target.ts'
import { awaitDeploy, failureOf } from './deploy.ts'

/**
 * Follows deploys of several services at once, with the name of the service before each line, and says of each how it ended.
 * Throws Fault if one fails, or if following ends before.
 */
export async function followDeploys(call: Call, api: Api, deploys: readonly Deploy[]): Promise<void> {
  const leaving = new AbortController()
  const forget = onInterrupt(() =>
    leaving.abort(
      new Fault(EXIT.interrupted, 'the deploys go on; deployer services tells their state', {
        code: 'interrupted',
      }),
    ),
  )
  try {
    const ends = await Promise.all(deploys.map((deploy) => followed(call, api, deploy, leaving.signal)))
    const failures = ends.filter((end) => end !== null)
    if (failures.length > 0) throw new Fault(EXIT.failed, failures.join('; '))
  } catch (error) {
    throw leaving.signal.aborted ? leaving.signal.reason : error
  } finally {
    forget()
  }
}

/** What is wrong with a deploy that has ended; null if it is live. */
async function followed(
  { out }: Call,
  api: Api,
  deploy: Deploy,
  signal: AbortSignal,
): Promise<string | null> {
  const path = pathTo('services', { name: deploy.service_id })
  const name = qualifiedName(await api.get<Service>(path))
  const isSilent = out.isJson || out.isQuiet
  const ended = await awaitDeploy(api, out, deploy.id, {
    signal,
    log: {
      line: ({ line }) => void (isSilent || out.foreign(`${name}: ${line}`)),
      flush: async () => {},
    },
  })
  const failure = failureOf(ended)
  if (failure) return `${name}: ${failure.message}`
  const { url } = await api.get<Service>(path)
  if (!out.isJson) out.line(url === null ? `${name} is live` : `${name} is live at ${url}`)
  return null
}
