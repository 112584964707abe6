import { z } from 'zod'
import { openStepsOf } from '../logs/files.ts'
import { DeployStep } from '../logs/steps.ts'
import { idSchema } from '../schema.ts'
import { comparableDeploy, type DeployRow } from './store.ts'

const Duration = z.int().nullable()

export const DeploySteps = z
  .object({
    duration_ms: Duration.meta({
      description: 'From its start to its end, without the time in the queue; null until it has ended',
      examples: [48210],
    }),
    previous: z
      .object({
        deploy_id: idSchema('deploy'),
        duration_ms: Duration.meta({ examples: [44100] }),
      })
      .nullable()
      .meta({
        description:
          'The last deploy of the service before this one that went live; for a restart or a rollback, the last one of those',
      }),
    steps: z.array(
      DeployStep.extend({
        previous: z
          .object({
            duration_ms: Duration.meta({ examples: [8020] }),
            cached: z.boolean().meta({ examples: [false] }),
          })
          .nullable()
          .meta({
            description:
              'The same step of the previous deploy: found by its name, without its place among the instructions',
          }),
      }).meta({ id: 'ComparedStep' }),
    ),
  })
  .meta({ id: 'DeploySteps', description: 'The steps of a deploy, in the order in which they began' })
export type DeploySteps = z.infer<typeof DeploySteps>

/** The steps of a deploy, as far as they are known, with those of the deploy that it is compared with. */
export function viewSteps(deploy: DeployRow): DeploySteps {
  const open = openStepsOf(deploy.id)
  const steps = open.length > 0 ? open : stepsOf(deploy)
  const before = comparableDeploy(deploy)
  const known = new Map((before ? inPlaces(stepsOf(before)) : []).map(({ place, step }) => [place, step]))
  return {
    duration_ms: durationOf(deploy),
    previous: before ? { deploy_id: before.id, duration_ms: durationOf(before) } : null,
    steps: inPlaces(steps).map(({ place, step }) => {
      const former = known.get(place)
      return {
        ...step,
        previous: former ? { duration_ms: former.duration_ms, cached: former.cached } : null,
      }
    }),
  }
}

function stepsOf({ steps }: Pick<DeployRow, 'steps'>): DeployStep[] {
  return steps === null ? [] : (JSON.parse(steps) as DeployStep[])
}

function durationOf({
  started_at,
  finished_at,
}: Pick<DeployRow, 'started_at' | 'finished_at'>): number | null {
  return started_at === null || finished_at === null ? null : Math.max(0, finished_at - started_at)
}

/** `[build 3/7]`: the number changes with every instruction that is added. */
const PLACE_IN_STAGE = /^\[(?:(\S+) )?\d+\/\d+\]/

/** The steps, each with what it is known by in another deploy: its name, and how many of that name come before it. */
function inPlaces(steps: readonly DeployStep[]): { place: string; step: DeployStep }[] {
  const counts = new Map<string, number>()
  return steps.map((step) => {
    const name = step.name.replace(PLACE_IN_STAGE, (_, stage: string | undefined) => `[${stage ?? ''}]`)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return { place: `${count} ${name}`, step }
  })
}
