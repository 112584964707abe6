import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readHosts, writeHosts } from '../../../cli/client/hosts.ts'
import { findLink } from '../../../cli/client/link.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'deployer-home-'))
  vi.stubEnv('XDG_CONFIG_HOME', join(home, 'config'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

const HOST = {
  url: 'https://dashboard.example.com',
  token: 'dpl_1',
  token_hint: 'pl_1',
  ca_file: null,
  environment: null,
  saved_at: '2026-01-02T03:04:05.678Z',
}

describe('the saved servers', () => {
  test('are none before the first, and read as they were written, by this user alone', () => {
    expect(readHosts()).toEqual({ version: 1, default: null, hosts: {} })
    const hosts = { version: 1, default: 'prod', hosts: { prod: HOST } } as const
    writeHosts(hosts)
    expect(readHosts()).toEqual(hosts)
    const file = join(home, 'config/deployer/hosts.json')
    expect([statSync(file).mode & 0o777, statSync(join(file, '..')).mode & 0o777]).toEqual([0o600, 0o700])
  })

  test('are closed to others, which is reported in one line', () => {
    writeHosts({ version: 1, default: null, hosts: {} })
    const file = join(home, 'config/deployer/hosts.json')
    chmodSync(file, 0o644)
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    readHosts()
    expect(write.mock.calls).toEqual([[expect.stringContaining(file)]])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    write.mockRestore()
  })

  test.each([
    '{',
    '[]',
    '{"version": 2, "hosts": {}}',
    '{"version": 1}',
    '{"version": 1, "hosts": {"a": {}}}',
  ])('are left as they are when the file is %s', (text) => {
    const file = join(home, 'config/deployer/hosts.json')
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text, { mode: 0o600 })
    expect(() => readHosts()).toThrow(
      expect.objectContaining({ exitCode: 1, message: expect.stringContaining(file) }),
    )
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
})

describe('the link of a folder', () => {
  test('is looked for in the folder and above, up to the repository', () => {
    const inner = join(home, 'repository/app/src')
    mkdirSync(inner, { recursive: true })
    writeFileSync(join(home, '.deployer.json'), '{"service": "outside"}')
    expect(findLink(inner)).toMatchObject({ service: 'outside' })
    mkdirSync(join(home, 'repository/.git'))
    expect(findLink(inner)).toBeNull()
    writeFileSync(join(home, 'repository/.deployer.json'), '{"service": "web", "environment": "staging"}')
    expect(findLink(inner)).toMatchObject({
      service: 'web',
      environment: 'staging',
      host: null,
      folder: join(home, 'repository'),
    })
  })

  test.each([
    ['{"service": "web", "token": "x"}', 'unknown field "token"'],
    ['{"service": 5}', 'service must be a text'],
    ['{"environment": "staging"}', 'names no service'],
    ['[]', 'is not a JSON object'],
    ['{', 'is not a JSON object'],
    [`{"service": "web"${' '.repeat(70_000)}}`, 'longer than 64 KiB'],
  ])('%.40s is refused with its path', (text, reason) => {
    writeFileSync(join(home, '.deployer.json'), text)
    expect(() => findLink(home)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(reason) }),
    )
  })
})
