import { expect, test } from 'vitest'
import { nameFault, pathFault } from '#server/secret-files/rules.ts'

test('the names of secret files are single names of files', () => {
  for (const name of ['a', '.env', 'key.p12', '...', 'A_b-C', 'x'.repeat(128)])
    expect(nameFault(name)).toBe(null)
  for (const name of ['', '.', '..', 'a/b', '/a', 'a b', 'a\n', 'a\0', 'é', 'x'.repeat(129)])
    expect([name, nameFault(name)]).toEqual([name, expect.any(String)])
})

test('no spelling of a path hides a file of the system', () => {
  const around = [
    '/etc/passwd',
    '/etc/./passwd',
    '//etc//passwd',
    '/usr/lib/a/b',
    '/lib64/ld.so',
    '/sbin/init',
  ]
  for (const path of [...around, '/proc/1/environ', '/./dev/null', '/app/../etc/passwd'])
    expect([path, pathFault(path)]).toEqual([path, expect.any(String)])
})
