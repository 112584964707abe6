import { z } from 'zod'
import { ask, segment, ToolFault } from '../call.ts'
import { CURSOR, paged } from '../paging.ts'
import { OF_SERVICE, placeOf } from '../places.ts'
import { Deploy, MORE, StartedDeploy } from '../shapes.ts'
import { defineTool, type Tool } from '../tool.ts'
import { WAIT } from '../waiting.ts'
import { DEPLOY_ANSWER, deployAnswer, LOG_LINES, STARTED_ANSWER } from './deploy-answers.ts'

/** As many as the API lists. */
const MAX_LISTED = 500
const Listed = z.array(z.looseObject({ id: z.string(), status: z.string() }))

const DEPLOY_ID = { deploy_id: z.string().min(1) }

export const DEPLOY_READERS: Tool[] = [
  defineTool({
    name: 'list_deploys',
    title: 'List deploys',
    description:
      'The deploys of a service, newest first: status, commit, what triggered each, and why it failed. Statuses: queued, building, deploying, live, build_failed, deploy_failed, canceled, deactivated (was live).',
    effect: 'read',
    input: { ...OF_SERVICE, limit: z.int().min(1).max(100).default(10), ...CURSOR },
    output: { deploys: z.array(Deploy), ...MORE },
    async run({ service, environment, limit, cursor }, { call }) {
      const { path, query } = placeOf('services', service, environment)
      const wanted = cursor === undefined ? limit + 1 : MAX_LISTED
      const items = await ask(call, Listed, 'GET', `${path}/deploys`, { query: { ...query, limit: wanted } })
      return paged({ list: 'deploys', items, keyOf: ({ id }) => id, cursor, limit })
    },
  }),
  defineTool({
    name: 'get_deploy',
    title: 'Get a deploy',
    description:
      'One deploy with its error and the last lines of its build and deploy log: 50 when it failed, else none unless log_lines asks for them.',
    effect: 'read',
    input: { ...DEPLOY_ID, ...LOG_LINES },
    output: DEPLOY_ANSWER,
    async run({ deploy_id, log_lines }, context) {
      const deploy = await ask(context.call, z.unknown(), 'GET', `/deploys/${segment(deploy_id)}`)
      return deployAnswer(deploy, 0, context, log_lines)
    },
  }),
]

export const DEPLOY_WRITERS: Tool[] = [
  defineTool({
    name: 'deploy_service',
    title: 'Deploy a service',
    description:
      'Builds and deploys the head of the branch, a commit, or another image (which becomes the setting). The running version serves until the new one is healthy. With wait_seconds it answers with the end: the URL, or the error and the last log lines.',
    effect: 'write',
    openWorld: true,
    input: {
      ...OF_SERVICE,
      commit: z.string().optional(),
      image: z.string().optional(),
      clear_cache: z.boolean().optional(),
      ...WAIT,
    },
    output: STARTED_ANSWER,
    async run({ service, environment, commit, image, clear_cache, wait_seconds }, context) {
      const { call } = context
      const { path, query } = placeOf('services', service, environment)
      if (image !== undefined) await ask(call, z.unknown(), 'PATCH', path, { query, body: { image } })
      const body = { commit, clear_cache }
      const deploy = await ask(call, z.unknown(), 'POST', `${path}/deploys`, { query, body })
      return deployAnswer(deploy, wait_seconds, context)
    },
  }),
  defineTool({
    name: 'restart_service',
    title: 'Restart a service',
    description:
      'Starts new instances of the live version with the current settings and variables, without a build, then stops the old ones.',
    effect: 'write',
    input: { ...OF_SERVICE, ...WAIT },
    output: STARTED_ANSWER,
    async run({ service, environment, wait_seconds }, context) {
      const { path, query } = placeOf('services', service, environment)
      const deploy = await ask(context.call, z.unknown(), 'POST', `${path}/restart`, { query })
      return deployAnswer(deploy, wait_seconds, context)
    },
  }),
  defineTool({
    name: 'rollback_service',
    title: 'Roll a service back',
    description:
      'Returns to an earlier deploy without a build, with the settings and variables that it had: the one named by deploy_id, else the newest that was live before the current one.',
    effect: 'write',
    input: { ...OF_SERVICE, deploy_id: z.string().optional(), ...WAIT },
    output: STARTED_ANSWER,
    async run({ service, environment, deploy_id, wait_seconds }, context) {
      const { call } = context
      const { path, query } = placeOf('services', service, environment)
      const given = { query: { ...query, limit: MAX_LISTED } }
      const target = deploy_id ?? earlierOf(await ask(call, Listed, 'GET', `${path}/deploys`, given), service)
      const deploy = await ask(call, z.unknown(), 'POST', `${path}/rollback`, {
        query,
        body: { deploy_id: target },
      })
      return deployAnswer(deploy, wait_seconds, context)
    },
  }),
  defineTool({
    name: 'cancel_deploy',
    title: 'Cancel a deploy',
    description: 'Ends a deploy that is queued or in progress. What is live keeps serving.',
    effect: 'write',
    idempotent: true,
    input: DEPLOY_ID,
    output: { deploy: StartedDeploy },
    async run({ deploy_id }, { call }) {
      const path = `/deploys/${segment(deploy_id)}/cancel`
      return { value: { deploy: await ask(call, z.unknown(), 'POST', path) } }
    },
  }),
]

/** The newest deploy that was live before the one that is. */
function earlierOf(newestFirst: z.output<typeof Listed>, service: string): string {
  const live = newestFirst.findIndex(({ status }) => status === 'live')
  const earlier = newestFirst.slice(live + 1).find(({ status }) => status === 'deactivated')
  if (earlier) return earlier.id
  throw new ToolFault('conflict', `${service} has no earlier deploy that was live`)
}
