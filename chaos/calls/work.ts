import { addDeploy, restartTexts, sourceTexts, textsOf, type ServiceRecord } from '../model.ts'
import { about, pickService, type CallKind } from './call.ts'
import { archiveOf } from './programs.ts'

/** The server refuses a rollback, a job or a cancellation when it is too early or too late for it. */
const TOO_EARLY_OR_LATE = [409]

function isOn({ settings }: ServiceRecord): boolean {
  return !settings.suspended
}

function hasBeenLive({ deploys }: ServiceRecord): boolean {
  return deploys.some(({ wasLive }) => wasLive)
}

/** Calls that have something done: deploys, jobs and backups. */
export const WORK_CALLS: readonly CallKind[] = [
  {
    name: 'upload',
    weight: 6,
    async draw(scene) {
      const found = pickService(
        scene,
        (record) => isOn(record) && (record.kind === 'upload' || record.kind === 'site'),
      )
      if (!found) return null
      const { round, text } = scene
      const body = await archiveOf(text, found.record.kind === 'upload')
      return about(found.place, { method: 'POST', below: '/deploys/upload', body }, round, (record, answer) =>
        addDeploy(record, { id: answer?.id ?? null, round, trigger: 'upload', texts: [text] }),
      )
    },
  },
  {
    name: 'deploy',
    weight: 5,
    draw(scene) {
      const hasSource = ({ kind, deploys }: ServiceRecord): boolean =>
        kind === 'image' ||
        kind === 'worker' ||
        kind === 'cron' ||
        deploys.some(({ trigger }) => trigger === 'upload')
      const found = pickService(scene, (record) => isOn(record) && hasSource(record))
      if (!found) return null
      const { round } = scene
      return about(found.place, { method: 'POST', below: '/deploys', body: {} }, round, (record, answer) =>
        addDeploy(record, {
          id: answer?.id ?? null,
          round,
          trigger: 'manual',
          texts: sourceTexts(record),
        }),
      )
    },
  },
  {
    name: 'restart',
    weight: 4,
    draw(scene) {
      const found = pickService(scene, (record) => isOn(record) && hasBeenLive(record))
      if (!found) return null
      const { round } = scene
      return about(found.place, { method: 'POST', below: '/restart' }, round, (record, answer) =>
        addDeploy(record, {
          id: answer?.id ?? null,
          round,
          trigger: 'restart',
          texts: restartTexts(record),
        }),
      )
    },
  },
  {
    name: 'roll back',
    weight: 3,
    draw(scene) {
      const found = pickService(scene, (record) => isOn(record) && hasBeenLive(record))
      if (!found) return null
      const { round } = scene
      const target = scene.draw.pick(found.record.deploys.filter(({ wasLive }) => wasLive))
      const texts = textsOf(found.record, target)
      const call = { method: 'POST' as const, below: '/rollback', body: { deploy_id: target.id } }
      return about(found.place, { ...call, refusals: TOO_EARLY_OR_LATE }, round, (record, answer) =>
        addDeploy(record, { id: answer?.id ?? null, round, trigger: 'rollback', texts }),
      )
    },
  },
  {
    name: 'cancel a deploy',
    weight: 3,
    draw(scene) {
      const found = pickService(scene, ({ deploys }) => deploys.at(-1)?.cancel === 'no')
      if (!found) return null
      const { id } = found.record.deploys.at(-1)!
      return {
        method: 'POST',
        path: `/deploys/${id}/cancel`,
        subjects: [found.place],
        refusals: TOO_EARLY_OR_LATE,
        apply(model, answer) {
          const deploy = model.services[found.place]?.deploys.find((each) => each.id === id)
          if (deploy) deploy.cancel = answer === null ? 'asked' : 'done'
        },
      }
    },
  },
  {
    name: 'run a command',
    weight: 4,
    draw(scene) {
      const found = pickService(
        scene,
        (record) => isOn(record) && hasBeenLive(record) && record.kind !== 'site',
      )
      if (!found) return null
      const { round, draw } = scene
      const isOwn = found.record.kind === 'cron' && draw.chance(0.5)
      const body = isOwn ? {} : { command: `sleep ${draw.pick(['0', '0.5', '2'])}; echo done` }
      const call = { method: 'POST' as const, below: '/jobs', body, refusals: TOO_EARLY_OR_LATE }
      return about(found.place, call, round, ({ jobs }, answer) => {
        if (answer?.id !== undefined)
          jobs.push({ id: answer.id, round, mayBeCanceled: false, isJudged: false })
      })
    },
  },
  {
    name: 'cancel a job',
    weight: 1,
    draw(scene) {
      const found = pickService(scene, ({ jobs }) => jobs.length > 0)
      if (!found) return null
      const { id } = found.record.jobs.at(-1)!
      return {
        method: 'POST',
        path: `/jobs/${id}/cancel`,
        subjects: [found.place],
        refusals: TOO_EARLY_OR_LATE,
        apply(model) {
          const job = model.services[found.place]?.jobs.find((each) => each.id === id)
          if (job) job.mayBeCanceled = true
        },
      }
    },
  },
  {
    name: 'back up a disk',
    weight: 1,
    draw(scene) {
      const found = pickService(
        scene,
        (record) => record.settings.disk_mount_path !== null && hasBeenLive(record),
      )
      if (!found) return null
      const call = { method: 'POST' as const, below: '/disk/backups', body: {}, refusals: TOO_EARLY_OR_LATE }
      return about(found.place, call, scene.round, ({ diskBackups }, answer) => {
        if (answer?.id !== undefined) diskBackups.push(answer.id)
      })
    },
  },
  {
    name: 'back up the server',
    weight: 1,
    draw: () => ({
      method: 'POST',
      path: '/server/backups',
      body: { datastores: false },
      subjects: ['the server'],
      refusals: TOO_EARLY_OR_LATE,
      apply({ serverBackups }, answer) {
        if (answer?.id !== undefined) serverBackups.push(answer.id)
      },
    }),
  },
]
