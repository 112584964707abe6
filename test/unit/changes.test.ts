import { describe, expect, it } from 'vitest'
import { followChanges, announceService, type Change } from '#server/changes.ts'

const RESYNC = { kind: 'all', id: '*', service_id: null, action: 'resync' }

async function take(changes: AsyncIterator<Change>, count: number): Promise<string[]> {
  const ids: string[] = []
  while (ids.length < count) ids.push(((await changes.next()).value as Change).id)
  return ids
}

function follow(): { changes: AsyncIterator<Change>; stop: AbortController } {
  const stop = new AbortController()
  return { changes: followChanges(stop.signal)[Symbol.asyncIterator](), stop }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}`)

describe('changes', () => {
  it('reach everyone in order and once, from the moment at which they are followed', async () => {
    announceService('before')
    const [one, other] = [follow(), follow()]
    for (const id of numbers(0, 1_024)) announceService(id)
    expect(await take(one.changes, 1_024)).toEqual(numbers(0, 1_024))
    expect(await take(other.changes, 1_024)).toEqual(numbers(0, 1_024))
    one.stop.abort()
    other.stop.abort()
  })

  it('become a resync if more than 1,024 wait for a follower, and later ones arrive as usual', async () => {
    const { changes, stop } = follow()
    for (const id of numbers(0, 1_025)) announceService(id)
    expect((await changes.next()).value).toEqual(RESYNC)
    announceService('later')
    expect(await take(changes, 1)).toEqual(['later'])
    stop.abort()
  })

  it('are not kept for followers that have left', async () => {
    const { changes, stop } = follow()
    announceService('first')
    stop.abort()
    announceService('second')
    expect(await take(changes, 1)).toEqual(['first'])
    expect(await changes.next()).toEqual({ done: true, value: undefined })
  })
})
