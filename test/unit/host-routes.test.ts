import { expect, test } from 'vitest'
import { subnetsOf } from '../../daemon/environments/host-routes.ts'

const HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT'

test('the routes of a host are read as subnets, without the default route', () => {
  const table = [
    HEAD,
    'eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'br-1\t0000D00A\t00000000\t0001\t0\t0\t0\t00F0FFFF\t0\t0\t0',
    'wg0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0',
    'eth0\t017AA8C0\t00000000\t0005\t0\t0\t0\tFFFFFFFF\t0\t0\t0',
    '',
  ].join('\n')
  expect(subnetsOf(table)).toEqual(['10.208.0.0/20', '10.0.0.0/8', '192.168.122.1/32'])
})

test('a table with nothing in it names no subnet', () => {
  for (const table of ['', HEAD, `${HEAD}\n`, `${HEAD}\neth0\n`, `${HEAD}\neth0 x y z\n`])
    expect(subnetsOf(table)).toEqual([])
})
