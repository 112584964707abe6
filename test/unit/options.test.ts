import { describe, expect, test } from 'vitest'
import { readOptions } from '#server/options.ts'

/** The options of these flags and variables, in a data directory of any name. */
function read(flags: string[], environment: NodeJS.ProcessEnv = {}) {
  return readOptions(['--data-dir', '/tmp/any', ...flags], environment)
}

test('a flag wins over its variable, and an empty variable is none', () => {
  const environment = { DEPLOYER_HSTS: '60', DEPLOYER_MAX_CONNECTIONS_PER_IP: '' }
  expect(read([], environment)).toMatchObject({ hstsSeconds: 60, maxConnectionsPerIp: 2_000 })
  expect(read(['--hsts', '90'], environment).hstsSeconds).toBe(90)
})

test('browsers are told nothing about TLS unless asked', () => {
  expect(read([]).hstsSeconds).toBe(0)
  expect(read(['--hsts', 'off']).hstsSeconds).toBe(0)
  expect(read(['--hsts', '31536000']).hstsSeconds).toBe(31_536_000)
})

describe('what the data plane would not take is refused by the name of its flag', () => {
  test.each([
    [['--hsts', 'yes'], '--hsts (DEPLOYER_HSTS) must be a number, at least 0, not "yes"'],
    [['--hsts', '1.5'], '--hsts (DEPLOYER_HSTS) must be a whole number, not "1.5"'],
    [
      ['--hsts', '3153600001'],
      '--hsts (DEPLOYER_HSTS) must be a number, at most 3153600000, not "3153600001"',
    ],
    [
      ['--max-connections-per-ip', '1000001'],
      '--max-connections-per-ip (DEPLOYER_MAX_CONNECTIONS_PER_IP) must be a number, at most 1000000, not "1000001"',
    ],
    [
      ['--upstream-timeout', '25h'],
      '--upstream-timeout (DEPLOYER_UPSTREAM_TIMEOUT) must be a duration such as 90s, 30m or 1h, a day at most, not "25h"',
    ],
  ])('%j', (flags, message) => {
    expect(() => read(flags)).toThrow(message)
  })
})
