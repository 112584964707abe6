import { formatMib } from '../lib/figures.ts'
import {
  compressed,
  file,
  http2,
  keptAlive,
  keptAliveBridged,
  keptAliveSecure,
  largeBodies,
  newConnections,
  twoWorkers,
  uploads,
} from './loads.ts'
import { memory } from './memory.ts'
import { SECURE_FILES_HOST, SECURE_HOST, type OurProgram } from './ours.ts'
import type { Contender } from './programs.ts'
import type { Measure, Row, Target } from './row.ts'
import { measureSlowReader } from './slow-reader.ts'
import { measureTableSwap } from './table-swap.ts'

const ALL: Contender[] = ['ours', 'nginx', 'haproxy', 'caddy']
/** HAProxy serves no files. */
const FILE_SERVERS: Contender[] = ['ours', 'nginx', 'caddy']

/** All measurements, in the order of the table, with their targets. */
export const rows: Row[] = [
  {
    name: 'http1',
    work: '1 KiB bodies, 64 kept-alive connections',
    contenders: ALL,
    run: keptAlive,
    measures: [
      rate([
        { against: 'nginx', atLeast: 0.75, after: 1 },
        { against: 'caddy', atLeast: 2.3, after: 3.2 },
      ]),
      cpu('request'),
      // At most twice nginx's p99, so half as good.
      { ...milliseconds('p99', 'p99'), targets: [{ against: 'nginx', atLeast: 0.5 }] },
    ],
  },
  {
    name: 'http1-bridged',
    work: 'the same from an application behind a bridge',
    contenders: ['ours', 'nginx'],
    run: keptAliveBridged,
    measures: [rate([{ against: 'nginx', atLeast: 0.95, after: 1.1 }]), cpu('request')],
  },
  {
    name: 'compressed',
    work: 'pages of 16 KiB compressed by gzip',
    contenders: ['ours', 'nginx'],
    run: compressed,
    measures: [rate(), cpu('request')],
  },
  {
    name: 'tls',
    work: 'the same over TLS 1.3',
    contenders: ALL,
    run: keptAliveSecure,
    measures: [
      rate([
        { against: 'nginx', atLeast: 0.75, after: 1 },
        { against: 'caddy', atLeast: 2.2 },
      ]),
      cpu('request'),
    ],
  },
  {
    name: 'handshakes',
    work: 'new TLS connections, full handshake, one request each',
    contenders: ALL,
    run: newConnections,
    measures: [
      cpu('connection', [{ against: 'nginx', atLeast: 0.6, after: 0.85 }]),
      {
        key: 'resumed',
        label: 'session resumed',
        better: 'more',
        format: (value) => (value === 1 ? 'yes' : 'no'),
        uncompared: true,
        targets: [{ against: null, atLeast: 1 }],
      },
    ],
  },
  {
    name: 'http2',
    work: 'HTTP/2, 8 connections of 8 streams',
    contenders: ALL,
    run: http2(SECURE_HOST, '/'),
    measures: [
      rate([
        { against: 'nginx', atLeast: 0.9, after: 1.2 },
        { against: 'caddy', atLeast: 4 },
        { against: 'haproxy', after: 1 },
      ]),
      cpu('request'),
      { ...milliseconds('p99', 'p99'), targets: [{ against: 'nginx', atLeast: 1 / 1.2 }] },
    ],
  },
  {
    name: 'http2-large',
    work: 'HTTP/2, 10 MiB bodies',
    contenders: [...ALL, 'nginxLargeBuffers'],
    run: http2(SECURE_HOST, '/large'),
    measures: [
      cpu('body', [{ against: 'nginx', atLeast: 1.2 }]),
      {
        ...cpu('body', [{ against: 'nginxLargeBuffers', after: 1 }]),
        label: 'CPU per body, nginx with 64 KiB buffers',
        nginx: 'nginxLargeBuffers',
      },
    ],
  },
  {
    name: 'http2-uploads',
    work: 'HTTP/2, uploads of 10 MiB, 8 connections',
    contenders: ALL,
    run: uploads,
    measures: [cpu('body', [{ against: 'nginx', atLeast: 0.8, after: 1 }]), rate()],
  },
  {
    name: 'http2-slow-reader',
    work: 'HTTP/2, 100 streams of one connection, one of them unread',
    contenders: ALL,
    run: async ({ programs }, contender) => ({ slower: await measureSlowReader(programs.get(contender)!) }),
    measures: [
      {
        key: 'slower',
        label: 'time of the others, compared to without',
        better: 'less',
        format: (value) => value.toFixed(2),
        uncompared: true,
        targets: [{ against: null, atLeast: 1.2 }],
      },
    ],
  },
  {
    name: 'http2-small-file',
    work: 'HTTP/2, a file of 1 KiB',
    contenders: FILE_SERVERS,
    run: http2(SECURE_FILES_HOST, '/small.html'),
    measures: [rate([{ against: 'nginx', atLeast: 1.2, after: 2 }]), cpu('request')],
  },
  {
    name: 'http2-large-file',
    work: 'HTTP/2, a file of 1 MiB',
    contenders: FILE_SERVERS,
    run: http2(SECURE_FILES_HOST, '/large.bin'),
    measures: [rate([{ against: 'nginx', atLeast: 0.8, after: 1 }]), cpu('request')],
  },
  {
    name: 'large',
    work: '10 MiB bodies, 8 connections',
    contenders: [...ALL, 'nginxLargeBuffers'],
    run: largeBodies,
    measures: [
      cpu('body', [{ against: 'nginx', atLeast: 1.4 }]),
      {
        ...cpu('body', [{ against: 'nginxLargeBuffers', after: 1 }]),
        label: 'CPU per body, nginx with 64 KiB buffers',
        nginx: 'nginxLargeBuffers',
      },
      rate(),
    ],
  },
  {
    name: 'small-file',
    work: 'a file of 1 KiB',
    contenders: FILE_SERVERS,
    run: file('small.html'),
    measures: [rate([{ against: 'nginx', atLeast: 0.5, after: 0.8 }]), cpu('request')],
  },
  {
    name: 'large-file',
    work: 'a file of 1 MiB',
    contenders: FILE_SERVERS,
    run: file('large.bin'),
    measures: [rate([{ against: 'nginx', atLeast: 0.6, after: 0.8 }]), cpu('request')],
  },
  {
    name: 'memory',
    work: 'memory',
    contenders: ALL,
    once: true,
    run: memory,
    measures: [
      kibibytes('plainKib', 'an idle connection (of 2,000)', { atLeast: 16, after: 8 }),
      kibibytes('secureKib', 'an idle TLS connection (of 1,000)', { atLeast: 64, after: 35 }),
      kibibytes('http2Kib', 'an idle HTTP/2 connection (of 1,000)', { atLeast: 64, after: 40 }),
      kibibytes('stalledKib', 'an unread stream of 10 MiB (of 2,000)', { atLeast: 128 }),
      mebibytes('workerRss', 'an idle worker, RSS', { atLeast: 50, after: 35 }),
      mebibytes('workerPss', 'an idle worker, PSS', { atLeast: 50, after: 35 }),
    ],
  },
  {
    name: 'workers',
    work: 'two workers, on both cores with the load',
    contenders: ALL,
    run: twoWorkers,
    measures: [
      {
        key: 'change',
        label: 'CPU per request, compared to one worker',
        better: 'less',
        format: (value) => value.toFixed(2),
        uncompared: true,
        targets: [{ against: null, atLeast: 1.1 }],
      },
    ],
  },
  {
    name: 'swap',
    work: 'a swap of a table of 10,000 hosts, every upstream changed',
    contenders: ['ours'],
    once: true,
    run: async ({ stand, programs }) => ({
      ...(await measureTableSwap(programs.get('ours') as OurProgram, stand.upstreamPort)),
    }),
    measures: [
      { ...milliseconds('swapMs', 'duration'), targets: [{ against: null, atLeast: 100 }] },
      milliseconds('heldMs', 'longest wait of a request meanwhile'),
      milliseconds('calmMs', 'longest wait in an equal time before'),
      {
        ...milliseconds('beyondMs', 'additional wait'),
        targets: [{ against: null, atLeast: 5 }],
      },
    ],
  },
]

function rate(targets: Target[] = []): Measure {
  const format = (value: number) => Math.round(value).toLocaleString('en-US')
  return { key: 'perSecond', label: 'answers per second', better: 'more', format, targets }
}

function cpu(unit: string, targets: Target[] = []): Measure {
  const format = (value: number) =>
    value < 1000 ? `${value.toFixed(1)} µs` : `${(value / 1000).toFixed(2)} ms`
  return { key: 'cpu', label: `CPU per ${unit}`, better: 'less', format, targets }
}

function milliseconds(key: string, label: string): Measure {
  return { key, label, better: 'less', format: (value) => `${value.toFixed(2)} ms`, targets: [] }
}

function kibibytes(key: string, label: string, bounds: Omit<Target, 'against'>): Measure {
  const targets = [{ against: null, ...bounds }]
  return { key, label, better: 'less', format: (value) => `${value.toFixed(1)} KiB`, targets }
}

function mebibytes(
  key: string,
  label: string,
  { atLeast = NaN, after = NaN }: Omit<Target, 'against'>,
): Measure {
  const targets = [{ against: null, atLeast: atLeast * 1024 * 1024, after: after * 1024 * 1024 }]
  return { key, label, better: 'less', format: formatMib, targets }
}
