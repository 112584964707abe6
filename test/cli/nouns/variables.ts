import { existsSync, mkdtempSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { client, linesOf, startClient, type Outcome } from '../client.ts'

const SECRET = 'it\'s #1, {"a": "${HOME}"}\n\tthe second line '

export function variableCases(server: () => TestServer): void {
  const inFolder = (cwd: string, ...words: string[]): Promise<Outcome> =>
    startClient(server(), words, { cwd }).ended
  const valuesOf = async (service: string) =>
    (await server().api('GET', `/services/${service}/env`)).body as { key: string; value: string }[]

  test('are set, read and removed, and shown only when that is asked for', async () => {
    await client(server(), 'create', 'vars')
    const set = await client(server(), 'env', 'set', 'A=1', 'B=two words', 'C=', '-s', 'vars')
    expect(set).toEqual({
      code: 0,
      out: 'A, B, C are set in vars\n',
      error: 'Running instances have the old values until the next deploy, or deployer restart vars.\n',
    })
    expect(await client(server(), 'env', 'list', 'vars')).toMatchObject({
      out: 'A\t••••\nB\t••••\nC\t••••\n',
    })
    expect(await client(server(), 'env', 'list', 'vars', '-q')).toMatchObject({ out: 'A\nB\nC\n' })
    const hidden = JSON.parse((await client(server(), 'env', 'list', 'vars', '--json')).out)
    expect(hidden[1]).toEqual({ key: 'B', value: null })
    const revealed = await client(server(), 'env', 'list', 'vars', '--json', '--reveal')
    expect(JSON.parse(revealed.out)).toEqual(await valuesOf('vars'))
    expect(await client(server(), 'env', 'get', 'B', 'vars')).toMatchObject({ code: 0, out: 'two words\n' })

    expect(await client(server(), 'env', 'unset', 'A', 'AB', '-s', 'vars')).toMatchObject({
      code: 4,
      out: '',
    })
    expect(await valuesOf('vars')).toHaveLength(3)
    expect(await client(server(), 'env', 'unset', 'A', 'C', '-s', 'vars', '--restart')).toEqual({
      code: 0,
      out: 'A, C are removed from vars\n',
      error: '',
    })
    expect(await valuesOf('vars')).toEqual([{ key: 'B', value: 'two words' }])
  })

  test('are read from standard input to its end, without its last line end', async () => {
    await client(server(), 'create', 'piped')
    const set = startClient(server(), ['env', 'set', 'KEY', '-s', 'piped'], { input: `${SECRET}\n` })
    expect(await set.ended).toMatchObject({ code: 0, out: 'KEY is set in piped\n' })
    expect(await valuesOf('piped')).toEqual([{ key: 'KEY', value: SECRET }])
    expect(await client(server(), 'env', 'get', 'KEY', '-s', 'piped')).toMatchObject({ out: `${SECRET}\n` })
    expect(await client(server(), 'env', 'set', 'KEY', 'A=1', '-s', 'piped')).toMatchObject({
      code: 2,
      out: '',
    })
  })

  test('go to a file that node reads and back without a change', async () => {
    await client(server(), 'create', 'filed')
    const variables = [
      { key: 'Z', value: SECRET },
      { key: 'A', value: 'plain' },
      { key: 'QUOTES', value: `'"\`` },
    ]
    await server().api('PUT', '/services/filed/env', { vars: variables })
    const folder = mkdtempSync(join(tmpdir(), 'deployer-vars-'))
    const pulled = await inFolder(folder, 'env', 'pull', '-s', 'filed')
    expect(pulled).toMatchObject({ code: 1, error: expect.stringMatching(/^deployer: QUOTES: .*\n$/) })
    const file = join(folder, '.env')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(Object.entries(parseEnv(readFileSync(file, 'utf8')))).toEqual(
      expect.arrayContaining([
        ['Z', SECRET],
        ['A', 'plain'],
      ]),
    )
    expect(linesOf(readFileSync(file, 'utf8')).at(-1)).toBe('A=plain')

    expect(await inFolder(folder, 'env', 'push', '-s', 'filed')).toMatchObject({ code: 0, out: '' })
    expect(await valuesOf('filed')).toEqual(variables)
    expect(await inFolder(folder, 'env', 'pull', '-s', 'filed')).toMatchObject({
      code: 2,
      error: 'deployer: .env exists; --force replaces it\n',
    })
    symlinkSync('.env', join(folder, 'link'))
    writeFileSync(file, '')
    expect(await inFolder(folder, 'env', 'pull', 'link', '-s', 'filed', '--force')).toMatchObject({ code: 1 })
    expect(readFileSync(file, 'utf8')).toContain('A=plain')
    expect(await inFolder(folder, 'env', 'pull', '/dev/null', '-s', 'filed', '--force')).toMatchObject({
      code: 2,
    })
    expect(await inFolder(folder, 'env', 'pull', '-', '-s', 'filed')).toMatchObject({
      out: readFileSync(file, 'utf8'),
    })
  })

  test('a push tells what it changes, never values, and replaces the whole once that is confirmed', async () => {
    await client(server(), 'create', 'pushed')
    const folder = mkdtempSync(join(tmpdir(), 'deployer-vars-'))
    await client(server(), 'env', 'set', 'OLD=1', 'SAME=2', 'CHANGED=3', '-s', 'pushed')
    writeFileSync(join(folder, 'new.env'), 'SAME=2\nCHANGED=hidden\nNEW=secret\n')
    const pushed = await inFolder(folder, 'env', 'push', 'new.env', '-s', 'pushed')
    expect(pushed).toMatchObject({ code: 0, out: '~ CHANGED\n+ NEW\n' })
    expect((await valuesOf('pushed')).map(({ key }) => key)).toEqual(['OLD', 'SAME', 'CHANGED', 'NEW'])
    const refused = await inFolder(folder, 'env', 'push', 'new.env', '-s', 'pushed', '--replace')
    expect(refused).toMatchObject({ code: 2, out: '' })
    const replaced = await inFolder(folder, 'env', 'push', 'new.env', '-s', 'pushed', '--replace', '--yes')
    expect(replaced).toMatchObject({ code: 0, out: '- OLD\n' })
    expect(await valuesOf('pushed')).toHaveLength(3)

    writeFileSync(join(folder, 'wrong.env'), 'A=1\nnonsense\n')
    expect(await inFolder(folder, 'env', 'push', 'wrong.env', '-s', 'pushed')).toEqual({
      code: 2,
      out: '',
      error: 'deployer: wrong.env:2: must be a comment or KEY=value\n',
    })
    expect(await inFolder(folder, 'env', 'push', 'none.env', '-s', 'pushed')).toMatchObject({
      code: 2,
      out: '',
    })
    expect(existsSync(join(folder, 'none.env'))).toBe(false)
  })

  test('of a file that sets a key twice have the last value, with a warning beside the answer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'deployer-vars-'))
    writeFileSync(join(folder, 'twice.env'), 'COLOUR=first\nSIZE=1\nCOLOUR=second\n')
    const error = 'warning: twice.env:3: COLOUR is also set in line 1: the last one counts\n'
    const create = ['create', 'set-twice', '--env-file', 'twice.env']
    expect(await inFolder(folder, ...create)).toMatchObject({ code: 0, error })
    expect(await valuesOf('set-twice')).toEqual([
      { key: 'COLOUR', value: 'second' },
      { key: 'SIZE', value: '1' },
    ])
    await client(server(), 'env', 'set', 'COLOUR=other', '-s', 'set-twice')
    const pushed = await inFolder(folder, 'env', 'push', 'twice.env', '-s', 'set-twice')
    expect(pushed).toMatchObject({ code: 0, out: '~ COLOUR\n', error: expect.stringContaining(error) })
  })

  test('of a group are those of the services that are linked to it', async () => {
    await client(server(), 'create', 'linked')
    const created = await client(server(), 'groups', 'create', 'shared-one', '--env', 'LOG=info')
    expect(created).toMatchObject({ code: 0 })
    const group = ['--group', 'shared-one']
    expect(await client(server(), 'env', 'set', 'MORE=1', ...group)).toMatchObject({ code: 0 })
    expect(await client(server(), 'env', 'list', ...group, '--reveal')).toMatchObject({
      out: 'LOG\tinfo\nMORE\t1\n',
    })
    expect(await client(server(), 'env', 'list', 'linked', ...group)).toMatchObject({ code: 2 })
    expect(await client(server(), 'groups', 'link', 'shared-one', 'linked')).toMatchObject({ code: 0 })
    expect((await server().api('GET', '/services/linked')).body.env_groups).toEqual(['shared-one'])
    expect((await client(server(), 'groups', 'list')).out).toMatch(/^shared-one\t2\tlinked\t/m)
    expect(await client(server(), 'groups', 'link', 'shared-on', 'linked')).toMatchObject({
      code: 4,
      error: 'deployer: there is no env group shared-on. Did you mean shared-one?\n',
    })
    // A URL takes `..` for the service itself.
    expect(await client(server(), 'groups', 'unlink', '..', 'linked')).toMatchObject({ code: 2 })
    expect(await client(server(), 'groups', 'delete', 'shared-one')).toMatchObject({ code: 5 })
    expect(await client(server(), 'groups', 'unlink', 'shared-one', 'linked')).toMatchObject({ code: 0 })
    expect(await client(server(), 'groups', 'delete', 'shared-one')).toMatchObject({ code: 0 })
  })
}
