import { expect, test } from 'vitest'
import { listenersIn } from '#daemon/engine/listening-ports.ts'

const HEADING = '  sl  local_address rem_address   st\n'
const LOOPBACK_V4 = `${HEADING}   0: 0100007F:0BB8 00000000:0000 0A\n`
const zeros = (count: number): string => '0'.repeat(count)

test('a port that several sockets share is reported with the address of the first', () => {
  const v6 = `${HEADING}   0: ${zeros(24)}01000000:0BB8 ${zeros(32)}:0000 0A\n`
  expect(listenersIn(LOOPBACK_V4, v6)).toEqual([{ port: 3000, host: '127.0.0.1', isLoopback: true }])
})

test('a port can be reached from outside if one of its sockets can', () => {
  const v6 = `${HEADING}   0: ${zeros(32)}:0BB8 ${zeros(32)}:0000 0A\n`
  expect(listenersIn(LOOPBACK_V4, v6)).toMatchObject([{ port: 3000, isLoopback: false }])
})
