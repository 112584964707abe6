import { expect, test } from 'vitest'
import { ECHO_EXITS } from '#agent/protocol.ts'
import { endOf, isEndingAt, certifyNode, pinOf, serverIdentity } from '#daemon/nodes/authority.ts'
import { clockFault, frameFault, portFault } from '#daemon/nodes/checks.ts'
import { clockGap } from '#server/clock.ts'
import { Chores } from '#daemon/nodes/chores.ts'
import { cpuPercentOf, figuresOf } from '#daemon/nodes/figures.ts'
import { judge, type Signs } from '#daemon/nodes/membership.ts'
import { defaultDevice } from '#daemon/nodes/suitability.ts'
import { useContext } from '#server/context.ts'
import { openContext } from '../../support/context.ts'

const DAY_MS = 86_400_000
const LEFT = { name: 'server' }
const RIGHT = { name: 'worker' }
const WELL: Signs = {
  member: { state: 'ready', message: '' },
  fault: null,
  agentFault: null,
  networkFaults: null,
  metadataFault: null,
}
const READY = { status: 'ready', reason: null, joined_at: 1 } as const
const JOINING = { status: 'joining', reason: null, joined_at: null } as const

test.each<[string, Parameters<typeof judge>[0], Partial<Signs>, string, RegExp | null]>([
  ['is well', READY, {}, 'ready', null],
  ['was down before it had joined', JOINING, { networkFaults: null }, 'joining', /looking at the network/],
  ['says too much', READY, { fault: 'x'.repeat(9_999) }, 'unreachable', /^its agent.{10,290}…$/],
  ['is away', READY, { fault: 'timeout' }, 'unreachable', /does not answer the server \(timeout\)/],
  [
    'is gone',
    READY,
    { member: { state: 'down', message: 'heartbeat failure' } },
    'down',
    /heartbeat failure/,
  ],
  ['was removed from the swarm by hand', READY, { member: undefined }, 'down', /no longer in the swarm/],
  ['has not said more yet', JOINING, {}, 'joining', /looking at the network/],
  ['waits for its agent', JOINING, { fault: 'refused' }, 'joining', /waiting for its agent/],
  ['has no image', JOINING, { fault: 'refused', agentFault: 'No such image' }, 'joining', /No such image/],
  [
    'has a closed port',
    JOINING,
    { networkFaults: ['open it', 'and this'] },
    'joining',
    /^open it; and this$/,
  ],
  ['has everything', JOINING, { networkFaults: [] }, 'ready', null],
  ['has rules to come', JOINING, { networkFaults: [], metadataFault: undefined }, 'joining', /looking at/],
  ['lacks a packet filter', JOINING, { networkFaults: [], metadataFault: 'no nft' }, 'ready', /^no nft$/],
  ['lacks one for now', READY, { metadataFault: 'no nft' }, 'ready', /^no nft$/],
  ['lacked one', { ...READY, reason: 'no nft' }, {}, 'ready', null],
  ['may lack one', { ...READY, reason: 'no nft' }, { metadataFault: undefined }, 'ready', /^no nft$/],
  [
    'is back',
    { ...READY, status: 'unreachable', reason: 'away' },
    { metadataFault: undefined },
    'ready',
    null,
  ],
  ['is reached, and once had a fault', READY, { networkFaults: ['open it'] }, 'ready', null],
])('a node that %s', (_what, before, signs, status, reason) => {
  const found = judge(before, { ...WELL, ...signs })
  expect(found.status).toBe(status)
  if (reason === null) expect(found.reason).toBeNull()
  else expect(found.reason).toMatch(reason)
})

test('says in words what is closed', () => {
  expect(portFault('open', 7946, LEFT, RIGHT)).toBeNull()
  expect(portFault('silent', 7946, LEFT, RIGHT)).toBe(
    'worker does not answer server at TCP 7946: open it between the two machines',
  )
  expect(portFault('refused', 7879, LEFT, RIGHT)).toMatch(/^nothing listens at TCP 7879 of worker/)
  expect(frameFault(ECHO_EXITS.fine, LEFT, RIGHT)).toBeNull()
  expect(frameFault(ECHO_EXITS.silent, LEFT, RIGHT)).toMatch(/open UDP 4789 and UDP 7946/)
  expect(frameFault(ECHO_EXITS.fullFramesLost, LEFT, RIGHT)).toMatch(/packets of 1500 bytes/)
  expect(frameFault(1, LEFT, RIGHT)).toMatch(/ended with 1$/)
})

test('a clock is compared with when it was asked', () => {
  expect(clockGap(150, 100, 200)).toBe(0)
  expect(clockGap(90, 100, 200)).toBe(-10)
  expect(clockGap(260, 100, 200)).toBe(60)
  expect(clockFault(-2_000, LEFT, RIGHT)).toBeNull()
  expect(clockFault(-90_000, LEFT, RIGHT)).toMatch(/^the clock of server is 90 s behind that of worker/)
  expect(clockFault(3_000, LEFT, RIGHT)).toMatch(/3 s ahead of/)
})

test('the figures of a host', () => {
  const before = { now: 0, cpuCount: 2, cpuSeconds: { user: 10, idle: 90 }, memory: null, disk: null }
  const after = { ...before, cpuSeconds: { user: 13, idle: 91 } }
  expect(cpuPercentOf(before, after)).toBe(75)
  expect(cpuPercentOf(before, before)).toBeNull()
  expect(cpuPercentOf(before, { ...after, cpuSeconds: null })).toBeNull()
  const full = {
    ...after,
    memory: { totalBytes: 8, availableBytes: 3 },
    disk: { totalBytes: 9, freeBytes: 2 },
  }
  expect(figuresOf(full, 75)).toEqual({
    ...{ cpu_percent: 75, memory_used_bytes: 5, memory_total_bytes: 8 },
    ...{ disk_used_bytes: 7, disk_total_bytes: 9 },
  })
})

test('the default route with the lowest metric gives the address', () => {
  const head = 'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT'
  const route = (device: string, to: string, metric: number, mask: string) =>
    `${device}\t${to}\t00000000\t0003\t0\t0\t${metric}\t${mask}\t0\t0\t0`
  const none = route('docker0', '000011AC', 0, '0000FFFF')
  expect(defaultDevice([head, none].join('\n'))).toBeNull()
  const both = [
    head,
    none,
    route('wlan0', '00000000', 600, '00000000'),
    route('eth0', '00000000', 100, '00000000'),
  ]
  expect(defaultDevice(both.join('\n'))).toBe('eth0')
})

test('a chore runs once at a time, and again when it is old or was forgotten', async () => {
  const chores = new Chores<number>()
  let runs = 0
  let end = (): void => {}
  const work = () => new Promise<number>((resolve) => (end = () => resolve(++runs)))
  expect(chores.ask('a', () => 1_000, work)).toBeUndefined()
  const first = end
  expect(chores.ask('a', () => 1_000, work)).toBeUndefined()
  expect(end).toBe(first)
  end()
  await expect.poll(() => chores.ask('a', () => 1_000, work)).toBe(1)
  expect(end).toBe(first)
  expect(chores.ask('a', () => 0, work)).toBe(1)
  expect(end).not.toBe(first)
  end()
  await expect.poll(() => chores.ask('a', () => 1_000, work)).toBe(2)
  chores.forget('a')
  expect(chores.ask('a', () => 1_000, work)).toBeUndefined()
})

test('the server keeps its certificate across restarts, and renews it in time', async () => {
  const { close } = await openContext()
  try {
    const folder = `${useContext().options.dataDirectory}/nodes`
    const first = await serverIdentity(folder)
    expect(await serverIdentity(folder)).toEqual(first)
    expect(pinOf(first.certificate)).toMatch(/^sha256\/\/[A-Za-z0-9+/]{43}=$/)
    const endsAt = endOf(first.certificate)
    expect((endsAt - Date.now()) / DAY_MS).toBeCloseTo(90, 1)
    expect(isEndingAt(endsAt)).toBe(false)
    expect(isEndingAt(endsAt, endsAt - 29 * DAY_MS)).toBe(true)
    expect(isEndingAt(Number.NaN)).toBe(true)
    expect((await certifyNode('nod-00000000000000000001')).authority).toBe(first.authority)
  } finally {
    await close()
  }
})
