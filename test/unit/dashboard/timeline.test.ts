import { describe, expect, test } from 'vitest'
import type { ServiceEvent } from '#server/service-events/schema.ts'
import { pathOf } from '../../../dashboard/src/metrics/path.ts'
import { byDay, eventLink, joined, shownEvents } from '../../../dashboard/src/service/timeline.ts'

const event = (id: string, fields: Partial<ServiceEvent> = {}) =>
  ({
    id,
    type: 'service.scaled',
    deploy_id: null,
    details: {},
    at: '2026-01-02T12:00:00.000Z',
    ...fields,
  }) as ServiceEvent
const ids = (events: readonly ServiceEvent[]) => events.map(({ id }) => id).join('')

describe('the timeline', () => {
  test('shows a deploy once: its start until its end is there', () => {
    const start = event('a', { type: 'deploy.started', deploy_id: 'dep-1' })
    const other = event('b', { type: 'deploy.started', deploy_id: 'dep-2' })
    const end = event('c', { type: 'deploy.failed', deploy_id: 'dep-1' })
    expect(ids(shownEvents([other, start]))).toBe('ba')
    expect(ids(shownEvents([other, end, start]))).toBe('bc')
  })

  test('keeps older events behind the newest page, unless others may be between', () => {
    const page = (letters: string) => [...letters].map((id) => event(id))
    expect(ids(joined(page('gfe'), page('fedcba')))).toBe('gfedcba')
    expect(ids(joined(page('jih'), page('fedcba')))).toBe('jih')
    expect(ids(joined(page('cba'), []))).toBe('cba')
  })

  test('is divided into days of the reader', () => {
    const at = (days: number) => new Date(2026, 0, 20 - days, 12).toISOString()
    const days = byDay(
      [event('a', { at: at(0) }), event('b', { at: at(1) }), event('c', { at: at(8) })],
      Date.parse(at(0)),
    )
    expect(days.map(({ name, events }) => `${name} ${ids(events)}`)).toEqual([
      'Today a',
      'Yesterday b',
      'Monday, Jan 12 c',
    ])
  })

  test('leads to the log around trouble, and to what it is about', () => {
    const service = { name: 'web', environment: 'staging' }
    expect(eventLink(service, event('a', { type: 'service.crashed', deploy_id: 'dep-1' }))).toEqual({
      to: {
        path: '/services/web.staging/logs',
        query: { since: '2026-01-02T11:59:00.000Z', until: '2026-01-02T12:00:10.000Z' },
      },
      label: 'Log',
    })
    expect(eventLink(service, event('a', { type: 'deploy.failed', deploy_id: 'dep-1' }))?.to).toBe(
      '/services/web.staging/deploys/dep-1',
    )
    expect(eventLink(service, event('a', { type: 'job.failed', details: { job_id: 'job-1' } }))?.to).toBe(
      '/services/web.staging/runs/job-1',
    )
    expect(eventLink(service, event('a'))).toBe(null)
  })
})

test('the line of a small chart has gaps where nothing was measured', () => {
  const box = { width: 30, height: 10, most: 10 }
  expect(pathOf([0, 10, null, 5], box)).toBe('M0,10L10,0M30,5h1')
  expect(pathOf([null], box)).toBe('')
  expect(pathOf([4], { ...box, most: 0 })).toBe('M0,10h1')
})
