import { EventEmitter, once } from 'node:events'
import { Readable } from 'node:stream'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Gathered } from '#server/http/gathered.ts'
import { ByteBudget } from '#server/http/byte-budget.ts'
import { encodingFor } from '#server/http/compression.ts'
import { Connections } from '#server/http/connections.ts'
import { findKeyFault } from '#server/http/json-keys.ts'
import { Pace } from '#server/http/pace.ts'
import { readOptions } from '#server/options/index.ts'

describe('the choice of an encoding', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=0.8, br;q=0.5', 'gzip'],
    ['gzip;q=1.0, br;q=1.0', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['*', 'br'],
    ['*;q=0, gzip', 'gzip'],
    ['identity;q=1, *;q=0', null],
    ['gzip;q=nonsense', null],
    [';;,,q=', null],
  ])('of %j is %j', (accepted, encoding) => {
    expect(encodingFor(accepted)).toBe(encoding)
  })
})

describe('bytes that many share', () => {
  it('go first to the client that holds least, as soon as some are free', async () => {
    const budget = new ByteBudget(100, 10_000)
    const [holder, large, small] = [budget.open(), budget.open(), budget.open()]
    expect(large.tryTake(40)).toBe(true)
    expect(holder.tryTake(60)).toBe(true)
    expect(small.tryTake(1)).toBe(false)
    const order: string[] = []
    const waiting = [
      large.wait(30).then(() => order.push('large')),
      small.wait(50).then(() => order.push('small')),
    ]
    holder.release()
    await waiting[1]
    expect(order).toEqual(['small'])
    small.release()
    await waiting[0]
    expect(order).toEqual(['small', 'large'])
  })

  it('are refused to clients that wait too long, and nothing is lost by it', async () => {
    const budget = new ByteBudget(100, 10)
    const [holder, late] = [budget.open(), budget.open()]
    expect(holder.tryTake(100)).toBe(true)
    await expect(late.wait(1)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 })
    late.release()
    holder.release()
    holder.release()
    expect(budget.open().tryTake(100)).toBe(true)
    expect(budget.open().tryTake(1)).toBe(false)
  })
})

describe('the clock of a body', () => {
  it('allows a silence, a rate after a while, and a total time', () => {
    expect(new Pace(500).start().patienceMs(0)).toBe(500)
    const slow = new Pace(10_000, 1_000, 2_000, 60_000).start()
    expect(slow.patienceMs(0)).toBeLessThanOrEqual(2_000)
    expect(slow.patienceMs(5_000)).toBeGreaterThan(2_000)
    expect(slow.patienceMs(1_000_000)).toBe(10_000)
    expect(new Pace(10_000, 0, 0, 100).start().patienceMs(1_000_000)).toBeLessThanOrEqual(100)
  })

  it('leaves out the time in which the server waited', () => {
    const clock = new Pace(10_000, 1_000, 2_000).start()
    clock.forgive(1_000)
    expect(clock.patienceMs(0)).toBeGreaterThan(2_000)
  })
})

describe('too many connections', () => {
  const PIECE = Buffer.alloc(1024 * 1024)
  const socket = () =>
    Object.assign(new EventEmitter(), {
      destroyed: false,
      destroy(this: EventEmitter & { destroyed: boolean }) {
        this.destroyed = true
        this.emit('close')
      },
    }) as unknown as Socket
  const response = (complete = true) => {
    const req = Object.assign(new Readable({ read() {} }), { complete })
    return Object.assign(new EventEmitter(), { req, headersSent: true }) as never as ServerResponse
  }

  it('close the one that was idle longest, and a busy one only if all are busy', () => {
    const connections = new Connections(3)
    const [first, second, third, fourth, fifth, sixth] = Array.from({ length: 6 }, socket)
    for (const one of [first!, second!, third!]) connections.opened(one)
    const answer = response()
    connections.take(first!, answer, () => {})
    connections.opened(fourth!)
    expect([first, second, third].map((one) => one!.destroyed)).toEqual([false, true, false])
    // Its answer has ended, so that it is idle from now: the third has been idle longer.
    answer.emit('close')
    connections.opened(fifth!)
    expect([first!.destroyed, third!.destroyed]).toEqual([false, true])
    for (const one of [fifth!, first!, fourth!]) connections.take(one, response(), () => {})
    connections.opened(sixth!)
    expect([fifth!.destroyed, first!.destroyed, fourth!.destroyed]).toEqual([true, false, false])
  })

  it('have one request under way, and the next when its answer has been sent', () => {
    const connections = new Connections()
    const [patient, hasty, leaving] = Array.from({ length: 3 }, socket)
    const handled: string[] = []
    const ask = (one: Socket, name: string) => {
      const answer = response()
      connections.take(one, answer, () => handled.push(name))
      return answer
    }
    for (const one of [patient!, hasty!, leaving!]) connections.opened(one)
    const answers = ['a', 'b', 'c'].map((name) => ask(patient!, name))
    expect(handled).toEqual(['a'])
    answers[0]!.emit('close')
    expect(handled).toEqual(['a', 'b'])
    answers[1]!.emit('close')
    answers[2]!.emit('close')
    ask(patient!, 'd')
    expect(handled).toEqual(['a', 'b', 'c', 'd'])
    for (let count = 0; count < 18; count++) ask(hasty!, `hasty ${count}`)
    expect([patient!.destroyed, hasty!.destroyed]).toEqual([false, true])
    const left = ask(leaving!, 'e')
    ask(leaving!, 'f')
    leaving!.destroy()
    left.emit('close')
    ask(leaving!, 'g')
    expect(handled).toEqual(['a', 'b', 'c', 'd', 'hasty 0', 'e'])
  })

  it('handle nothing behind an answer that was their last', () => {
    const connections = new Connections()
    const ended = socket()
    const handled: string[] = []
    connections.opened(ended)
    const last = response()
    connections.take(ended, last, () => handled.push('last'))
    connections.take(ended, response(), () => handled.push('behind it'))
    Object.assign(ended, { writableEnded: true })
    last.emit('close')
    expect(handled).toEqual(['last'])
  })

  it('refuse an invalid request once everything before it is answered, and handle nothing behind it', () => {
    const connections = new Connections()
    const spoiled = socket()
    const done: string[] = []
    connections.opened(spoiled)
    const first = response()
    connections.take(spoiled, first, () => done.push('handled'))
    connections.onInvalid(spoiled, () => done.push('refused'))
    // A head that took too long may still arrive completely.
    connections.take(spoiled, response(), () => done.push('handled although refused'))
    connections.onInvalid(spoiled, () => done.push('refused again'))
    first.emit('close')
    connections.take(spoiled, response(), () => done.push('handled behind the refusal'))
    expect(done).toEqual(['handled', 'refused'])
  })

  it('read no more if an idle one was refused', () => {
    const connections = new Connections()
    const refused = socket()
    const done: string[] = []
    connections.opened(refused)
    connections.onInvalid(refused, () => Object.assign(refused, { writableEnded: true }))
    connections.take(refused, response(), () => done.push('handled although refused'))
    expect(done).toEqual([])
  })

  it('read up to 64 MiB of a body that its answer left', async () => {
    const connections = new Connections()
    const [large, larger] = [64, 65].map((pieces) => {
      const answer = response(false)
      connections.take(socket(), answer, () => {})
      answer.emit('finish')
      for (let count = 0; count < pieces; count++) answer.req.push(PIECE)
      return answer.req
    })
    await vi.waitFor(() => expect(larger!.destroyed).toBe(true))
    expect(large!.destroyed).toBe(false)
  })

  it('do not read a body that its answer left forever', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const connections = new Connections()
    const [endless, ending] = [socket(), socket()]
    const handled: string[] = []
    for (const one of [endless, ending]) {
      connections.opened(one)
      const answer = response(false)
      connections.take(one, answer, () => {})
      answer.emit('finish')
      answer.emit('close')
      if (one === endless) continue
      Object.assign(answer.req, { complete: true }).push(null)
      await once(answer.req, 'end')
    }
    vi.advanceTimersByTime(5_000)
    for (const one of [endless, ending]) connections.take(one, response(), () => handled.push('the next'))
    expect([endless.destroyed, ending.destroyed, handled]).toEqual([true, false, ['the next']])
  })
})

describe('pieces gathered', () => {
  it('are one whole, however many they were', () => {
    const gathered = new Gathered()
    expect(gathered.bytes).toHaveLength(0)
    for (let count = 0; count < 50_000; count++) gathered.add(Buffer.from([count % 256]))
    expect(gathered.bytes).toHaveLength(50_000)
    expect(gathered.bytes.every((byte, at) => byte === at % 256)).toBe(true)
  })
})

describe('duplicate keys in a body', () => {
  it('are the same however they are written', () => {
    expect(findKeyFault('{"a":1,"\\u0061":2}')).toContain('a: occurs twice')
    expect(findKeyFault('{"\\u005f_proto__":1}')).toContain('__proto__')
    expect(findKeyFault('{"a":{"a":1},"b":["a","a"]}')).toBeNull()
  })
})

describe('--allowed-hosts', () => {
  it('accepts names, separated by commas', () => {
    const hosts = (value: string) => readOptions(['--allowed-hosts', value], {}).allowedHosts
    expect(hosts('A.Example.com, b ,')).toEqual(['a.example.com', 'b'])
    for (const bad of ['*', 'a b', 'http://x', 'x:80']) expect(() => hosts(bad)).toThrow('--allowed-hosts')
  })
})
