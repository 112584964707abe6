import type { Deploy } from '#server/deploys/schema.ts'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { wrong } from '../../fault.ts'
import type { Api } from '../api.ts'
import { fieldsOf, readFields } from '../fields.ts'
import { awaitDeploy, failureOf, followDeploy, timeoutOf, untilLeft } from '../follow/deploy.ts'
import { pathTo, qualifiedName, targetOf, type Target } from '../target.ts'
import { givenVariables } from '../variables.ts'
import { withApi } from '../with-api.ts'

const PATH = '/services'
/** Flags that are fields of the API under a shorter name. */
const FLAG_FIELDS = { repo: 'repo_url', branch: 'branch', image: 'image', type: 'type' } as const

/** Creates a service and follows its first deploy. */
export async function create(call: Call): Promise<number | void> {
  timeoutOf(call)
  return withApi(call, async (api) => {
    const target = targetOf(call, api, call.words[0]!)
    const service = await api.send<Service>('POST', PATH, await bodyOf(call, api, target))
    const { latest_deploy: deploy } = service
    if (deploy === null) return call.out.done(withoutDeploy(service), service)
    return call.out.isJson ? printEnd(call, api, service, deploy) : followDeploy(call, api, deploy)
  })
}

function withoutDeploy(service: Service): string {
  const name = qualifiedName(service)
  return `${name} is created; deployer deploy --service ${name} deploys it`
}

/** Prints the service once its deploy has ended; with `--detach` at once. */
async function printEnd(call: Call, api: Api, service: Service, deploy: Deploy): Promise<void> {
  if (call.has('detach')) return call.out.json(service)
  const ended = await untilLeft(call, deploy, (signal) => awaitDeploy(api, call.out, deploy.id, { signal }))
  call.out.json(await api.get<Service>(pathTo('services', { name: service.id })))
  const failure = failureOf(ended)
  if (failure) throw failure
}

/** The fields of the words and the flags. Throws Fault for one that is given twice. */
async function bodyOf(call: Call, api: Api, { name, environment }: Target): Promise<Record<string, unknown>> {
  const env = await givenVariables(call)
  const groups = call.texts('group')
  const byFlags: Record<string, unknown> = {
    name,
    ...Object.fromEntries(
      Object.entries(FLAG_FIELDS).flatMap(([flag, field]) =>
        call.has(flag) ? [[field, call.text(flag)]] : [],
      ),
    ),
    ...(env.length === 0 ? {} : { env }),
    ...(groups.length === 0 ? {} : { env_groups: groups }),
    ...(call.has('no-deploy') ? { deploy: false } : {}),
  }
  const pairs = call.words.slice(1)
  if (pairs.length === 0) return { ...(environment === null ? {} : { environment }), ...byFlags }
  const byWords = readFields(pairs, await fieldsOf(api, 'POST', `/api/v1${PATH}`))
  const twice = Object.keys(byWords).find((field) => Object.hasOwn(byFlags, field))
  if (twice !== undefined) throw wrong(`${twice} is given twice`)
  return { ...(environment === null ? {} : { environment }), ...byFlags, ...byWords }
}
