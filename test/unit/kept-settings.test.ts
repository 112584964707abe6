import { describe, expect, test } from 'vitest'
import { givenSettings, parseSettings, withSettings } from '../../cli/server/install/settings.ts'

describe('the settings of a service', () => {
  test('are read as systemd reads an environment file', () => {
    const text = [
      '# a comment',
      '; another',
      '',
      'A=plain',
      'B="two words"',
      "C='single $x'",
      'D="q\\"\\\\\\$"',
      ' E = e ',
      'F=',
    ].join('\n')
    expect(parseSettings(text)).toEqual({
      A: 'plain',
      B: 'two words',
      C: 'single $x',
      D: 'q"\\$',
      E: 'e',
      F: '',
    })
  })

  test.each(['no assignment', 'A="without an end', '1A=x'])('name a broken line: %s', (line) => {
    expect(() => parseSettings(`OK=1\n${line}`)).toThrow(/line 2/)
  })

  test('are stored next to what the administrator wrote, each in its place', () => {
    const text = '# mine\nDEPLOYER_LISTEN="127.0.0.1:1"\nHTTPS_PROXY=http://proxy:3128\n'
    expect(withSettings(text, { DEPLOYER_LISTEN: '127.0.0.1:2', DEPLOYER_HSTS: '60' })).toBe(
      '# mine\nDEPLOYER_LISTEN="127.0.0.1:2"\nHTTPS_PROXY=http://proxy:3128\nDEPLOYER_HSTS="60"\n',
    )
    expect(withSettings(text, { DEPLOYER_LISTEN: '127.0.0.1:1' })).toBe(text)
    expect(withSettings(text, { DEPLOYER_LISTEN: '' })).toBe('# mine\nHTTPS_PROXY=http://proxy:3128\n')
  })

  test('come back as they were given, whatever is in them', () => {
    const value = `a "b" \\ $c \`d\` 'e' # f`
    expect(parseSettings(withSettings('', { DEPLOYER_API_TOKEN: value })).DEPLOYER_API_TOKEN).toBe(value)
    expect(() => withSettings('', { DEPLOYER_API_TOKEN: 'a\nb' })).toThrow(/line break/)
  })

  test('consist of flags, which win, and known variables, with files named from the root', () => {
    const environment = {
      DEPLOYER_LISTEN: '127.0.0.1:1',
      DEPLOYER_ACME_DNS_TOKEN: 't',
      HOME: '/root',
      DEPLOYER_DATA_PLANE: 'wait',
    }
    const given = givenSettings(['--listen', '127.0.0.1:2', '--data-dir', 'here'], environment)
    expect(given).toEqual({
      DEPLOYER_LISTEN: '127.0.0.1:2',
      DEPLOYER_ACME_DNS_TOKEN: 't',
      DEPLOYER_DATA_DIR: `${process.cwd()}/here`,
    })
  })

  test.each(['--bogus', 'more', '--listen'])(
    'are not other words, for which there is the help: %s',
    (word) => {
      expect(() => givenSettings([word], {})).toThrow(/\. See deployer help install\.$/)
    },
  )
})
