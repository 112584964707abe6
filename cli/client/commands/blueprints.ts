import { text } from 'node:stream/consumers'
import type { BlueprintAction, BlueprintResult } from '#server/blueprints/schema.ts'
import type { ConvertResult } from '#server/blueprints/requests.ts'
import type { z } from 'zod'
import type { Call } from '../../call.ts'
import { EXIT } from '../../fault.ts'
import type { Output } from '../../output.ts'
import { ApiFault, type Api, type Query } from '../api.ts'
import { confirm } from '../ask.ts'
import { followDeploys } from '../follow/several.ts'
import { readText } from '../input.ts'
import { environmentOf } from '../target.ts'
import { withApi } from '../with-api.ts'

/** Applying asks registries and remotes, and waits for the engine. */
const LIMIT_MS = 5 * 60_000
const YAML = 'application/yaml'
const JSON_TYPE = 'application/json'
const SIGNS: Record<BlueprintAction['action'], string> = { create: '+', update: '~', unchanged: '=' }

/** Plans what a blueprint changes, applies it once that is confirmed, and follows the deploys. */
export async function apply(call: Call): Promise<number | void> {
  const [file] = call.words as [string]
  const yaml = await readText(file)
  return reportingFaults(call, file, () =>
    withApi(call, async (api) => {
      const plan = await applied(call, api, yaml, true)
      const isNothing = plan.actions.every(({ action }) => action === 'unchanged')
      if (!call.out.isJson) printPlan(call.out, plan)
      if (isNothing || call.has('dry-run')) return void (call.out.isJson && call.out.json(plan))
      await confirm(call, 'Apply this?')
      const result = await applied(call, api, yaml, false)
      if (call.out.isJson) call.out.json(result)
      if (call.has('detach'))
        return call.out.isJson ? undefined : result.deploys.forEach(({ id }) => call.out.line(id))
      return followDeploys(call, api, result.deploys)
    }),
  )
}

function applied(call: Call, api: Api, yaml: string, isDry: boolean): Promise<BlueprintResult> {
  const environment = environmentOf(call, api)
  const repository = call.text('repo')
  const path = '/blueprints/apply'
  const dryRun = isDry || null
  if (repository === null) return posted(api, path, yaml, YAML, { environment, dry_run: dryRun })
  const branch = call.text('branch')
  const body = {
    yaml,
    repo_url: repository,
    ...(isDry ? { dry_run: true } : {}),
    ...(environment === null ? {} : { environment }),
    ...(branch === null ? {} : { branch }),
  }
  return posted(api, path, JSON.stringify(body), JSON_TYPE, {})
}

async function posted<T>(api: Api, path: string, body: string, type: string, query: Query): Promise<T> {
  const headers = { 'content-type': type }
  return (await api.valueOf(
    await api.raw({ method: 'POST', path, query, body, headers, limitMs: LIMIT_MS }),
  )) as T
}

/** Prints a plan; the API leaves out the values of variables. */
function printPlan(out: Output, { actions, warnings }: BlueprintResult): void {
  for (const { resource, name, action, changes } of actions) {
    if (action === 'unchanged') continue
    out.line(out.cleaned(`${SIGNS[action]} ${resource.replace('_', ' ')} ${name}`))
    if (action === 'update') for (const change of changes) out.line(out.cleaned(`    ${change}`))
  }
  const unchanged = actions.filter(({ action }) => action === 'unchanged').length
  if (unchanged > 0) out.line(`${SIGNS.unchanged} ${unchanged} unchanged`)
  for (const warning of warnings) out.line(out.cleaned(`! ${warning}`))
}

/** Prints the faults of a file, each in a line that editors can follow. With `--json` they are one fault. */
async function reportingFaults<T>(call: Call, file: string, work: () => Promise<T>): Promise<T | number> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiFault) || error.details.length === 0 || call.out.isJson) throw error
    for (const { line, column, path, message } of error.details)
      call.out.foreign(`${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`)
    return EXIT.wrongWords
  }
}

/** Prints an environment as a blueprint. */
export async function exportEnvironment(call: Call): Promise<void> {
  const yaml = await withApi(call, async (api) => {
    const query = { environment: environmentOf(call, api), secrets: call.has('secrets') ? 'include' : null }
    const answer = await api.raw({
      method: 'GET',
      path: '/blueprints/export',
      query,
      headers: { accept: YAML },
    })
    if (answer.statusCode !== 200) throw await api.faultOf(answer)
    return text(answer)
  })
  if (call.out.isJson) call.out.json({ yaml })
  else process.stdout.write(yaml)
}

/** Prints the blueprint that a Compose file becomes. */
export async function convert(call: Call): Promise<number | void> {
  const [file] = call.words as [string]
  const { out } = call
  const compose = await readText(file)
  return reportingFaults(call, file, async () => {
    const result = await withApi(call, (api) =>
      posted<z.infer<typeof ConvertResult>>(api, '/blueprints/convert', compose, YAML, {}),
    )
    if (out.isJson) return out.json(result)
    process.stdout.write(result.yaml)
    for (const warning of result.warnings) out.note(out.cleaned(`Note: ${warning}`, process.stderr))
  })
}
