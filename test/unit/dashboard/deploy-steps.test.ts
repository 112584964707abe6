import { expect, test } from 'vitest'
import type { Deploy } from '../../../dashboard/src/api/types.ts'
import { stepsOf } from '../../../dashboard/src/deploys/steps.ts'

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second)).toISOString()

function deploy(change: Partial<Deploy>): Deploy {
  return {
    id: 'dep-4f1d0c9a7b3e5d2f6a80',
    service_id: 'srv-4f1d0c9a7b3e5d2f6a80',
    status: 'queued',
    trigger: 'manual',
    source: { kind: 'git', repo_url: 'https://git.example.com/a.git', branch: null, commit: null },
    commit_sha: null,
    commit_message: null,
    commit_author: null,
    image: null,
    port: null,
    error: null,
    waiting: null,
    created_at: at(0),
    started_at: null,
    finished_at: null,
    ...change,
  }
}

const read = (value: Deploy, rolloutAt: string | null, now: string, hasInstances = true) =>
  stepsOf(value, rolloutAt, Date.parse(now), hasInstances).map(({ label, state, milliseconds }) => [
    label,
    state,
    milliseconds,
  ])

test('a running build counts on, and later steps wait', () => {
  expect(read(deploy({ status: 'building', started_at: at(2) }), null, at(9))).toEqual([
    ['Queued', 'done', 2_000],
    ['Build', 'running', 7_000],
    ['Start and health', 'waiting', null],
    ['Live', 'waiting', null],
  ])
})

test('a live deploy has the time of each step', () => {
  const live = deploy({ status: 'live', started_at: at(1), finished_at: at(20) })
  expect(read(live, at(15), at(50))).toEqual([
    ['Queued', 'done', 1_000],
    ['Build', 'done', 14_000],
    ['Start and health', 'done', 5_000],
    ['Live', 'done', null],
  ])
})

test('a failed build is the failing step, and later ones were not reached', () => {
  const failed = deploy({ status: 'build_failed', started_at: at(1), finished_at: at(4) })
  expect(read(failed, null, at(50)).map(([label, state]) => [label, state])).toEqual([
    ['Queued', 'done'],
    ['Build', 'failed'],
    ['Start and health', 'skipped'],
    ['Live', 'skipped'],
  ])
})

test('a rollback has no build', () => {
  const labels = read(deploy({ trigger: 'rollback' }), null, at(1)).map(([label]) => label)
  expect(labels).toEqual(['Queued', 'Start and health', 'Live'])
})

test('a service without instances goes live from its build', () => {
  const live = deploy({ status: 'live', started_at: at(1), finished_at: at(9) })
  expect(read(live, null, at(50), false)).toEqual([
    ['Queued', 'done', 1_000],
    ['Build', 'done', 8_000],
    ['Live', 'done', null],
  ])
  const failed = deploy({ status: 'deploy_failed', started_at: at(1), finished_at: at(9) })
  expect(read(failed, null, at(50), false).at(-1)).toEqual(['Live', 'failed', null])
})

test('a deploy that was canceled while it waited ended in the queue', () => {
  expect(read(deploy({ status: 'canceled', finished_at: at(3) }), null, at(9))[0]).toEqual([
    'Queued',
    'failed',
    3_000,
  ])
})
