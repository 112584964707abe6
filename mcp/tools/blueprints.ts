import { z } from 'zod'
import { ask, type Call } from '../call.ts'
import { IN_ENVIRONMENT } from '../places.ts'
import { MORE, PlannedAction, StartedDeploy, texts } from '../shapes.ts'
import { defineTool, type Made, type Tool } from '../tool.ts'

const Result = z.looseObject({ actions: z.array(z.looseObject({ action: z.string() })) })

/** The first line says where an editor finds the schema. */
const FOR_EDITORS = /^# yaml-language-server:.*\n/

const PLAN = { actions: z.array(PlannedAction), unchanged: z.int(), warnings: texts }
const YAML = { yaml: z.string().min(1), ...IN_ENVIRONMENT }

export const BLUEPRINT_READERS: Tool[] = [
  defineTool({
    name: 'plan_blueprint',
    title: 'Plan a blueprint',
    description:
      'What applying a blueprint (YAML with services, datastores, env groups; also a render.yaml) would create and update. Changes nothing. A faulty file is answered with line and column of each fault.',
    effect: 'read',
    input: YAML,
    output: { ...PLAN, ...MORE },
    run: ({ yaml, environment }, { call }) => apply(call, { yaml, environment, dry_run: true }),
  }),
  defineTool({
    name: 'export_blueprint',
    title: 'Export a blueprint',
    description:
      'An environment as a blueprint: the settings of its services, datastores and env groups. Values of variables are left out (sync: false), and an apply keeps what they are.',
    effect: 'read',
    input: IN_ENVIRONMENT,
    output: { yaml: z.string(), ...MORE },
    async run({ environment }, { call }) {
      const query = { environment, keys_only: 'true' }
      const text = await ask(call, z.string(), 'GET', '/blueprints/export', { query })
      return { value: { yaml: text.replace(FOR_EDITORS, '') } }
    },
  }),
]

export const BLUEPRINT_WRITERS: Tool[] = [
  defineTool({
    name: 'apply_blueprint',
    title: 'Apply a blueprint',
    description:
      'Creates and updates what a blueprint describes, as a whole or not at all, and queues the deploys. It deletes nothing. See plan_blueprint first.',
    effect: 'change',
    idempotent: true,
    input: YAML,
    output: { ...PLAN, deploys: z.array(StartedDeploy), ...MORE },
    run: ({ yaml, environment }, { call }) => apply(call, { yaml, environment, dry_run: false }),
  }),
]

/** What stays as it is is only counted. */
async function apply(call: Call, body: object): Promise<Made> {
  const { actions, ...rest } = await ask(call, Result, 'POST', '/blueprints/apply', { body })
  const changing = actions.filter(({ action }) => action !== 'unchanged')
  return {
    value: { ...rest, actions: changing, unchanged: actions.length - changing.length },
    cut: { list: 'actions', keep: 'first', next: () => undefined },
  }
}
