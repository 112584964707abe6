import { expect, test } from 'vitest'
import { AddressSet, plainAddress } from '../../../proxy/edge/addresses.ts'

test.each([
  [
    ['10.0.0.0/8'],
    ['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3'],
    ['9.255.255.255', '11.0.0.0', '::a01:203'],
  ],
  [['10.1.2.3'], ['10.1.2.3'], ['10.1.2.2', '10.1.2.4']],
  [['10.1.2.3/24'], ['10.1.2.0', '10.1.2.255'], ['10.1.3.0']],
  [['0.0.0.0/0'], ['0.0.0.0', '255.255.255.255'], ['::', '2001:db8::1']],
  [['::/0'], ['::', 'ffff::', '::1.2.3.4'], ['10.0.0.1', '::ffff:10.0.0.1']],
  [['::ffff:10.0.0.0/104'], ['10.9.9.9'], ['11.0.0.0', '::a09:909']],
  [['2001:db8::/33'], ['2001:DB8:7fff:ffff:ffff:ffff:ffff:ffff'], ['2001:db8:8000::', '2001:db7:ffff::']],
  [['fe80::/10'], ['fe80::1%eth0', 'febf::'], ['fec0::']],
  [
    ['10.0.0.0/8', '10.1.0.0/16', '9.0.0.0/8', '10.2.3.4'],
    ['9.1.1.1', '10.1.1.1', '10.200.0.0'],
    ['8.0.0.0', '11.0.0.0'],
  ],
  [[], [], ['10.0.0.1', '::1']],
  [
    ['0.0.0.0/0', '::/0'],
    ['10.0.0.1', '::1'],
    ['', 'nonsense', '10.0.0', '10.0.0.1:80', '[::1]', '010.0.0.1'],
  ],
])('%j has %j and not %j', (networks, inside, outside) => {
  const set = new AddressSet(networks)
  expect(inside.filter((address) => !set.has(address))).toEqual([])
  expect(outside.filter((address) => set.has(address))).toEqual([])
})

test('an IPv4 address inside IPv6 is written as itself, and anything else as it was', () => {
  expect(['::ffff:192.0.2.7', '::FFFF:c000:207', '0:0:0:0:0:ffff:192.0.2.7'].map(plainAddress)).toEqual(
    Array(3).fill('192.0.2.7'),
  )
  expect(['192.0.2.7', '2001:DB8::1', 'a:b', ''].map(plainAddress)).toEqual([
    '192.0.2.7',
    '2001:DB8::1',
    'a:b',
    '',
  ])
})
