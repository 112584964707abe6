import { expect, test } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { client } from '../client.ts'
import { onTerminal } from '../terminal.ts'

export function terminalCases(server: () => TestServer): void {
  test('a list has headings and fits the width; names are never cut', async () => {
    await server().api('POST', '/environments', { name: 'shown' })
    const name = `long-${'name-'.repeat(6)}end`
    await client(server(), 'create', `${name}.shown`)
    const { code, shown } = await onTerminal(server(), { columns: 100 }, 'services', '-e', 'shown')
    const [headings, row, ...rest] = shown.trimEnd().split('\n')
    expect([code, rest]).toEqual([0, []])
    expect(headings).toMatch(/^NAME +ENVIRONMENT +TYPE +STATE +URL +DEPLOYED$/)
    expect(row).toMatch(new RegExp(`^${name} +shown +web_serv.*…`))
    expect(Math.max(headings!.length, row!.length)).toBeLessThanOrEqual(100)
  })

  test('an empty list says how to make one', async () => {
    expect(await onTerminal(server(), {}, 'git', 'list')).toMatchObject({
      code: 0,
      shown: expect.stringContaining('There are no git connections.'),
    })
  })

  test('a question is answered; no answer but yes changes anything', async () => {
    await server().api('POST', '/environments', { name: 'doomed' })
    const words = ['environments', 'delete', 'doomed']
    expect(await onTerminal(server(), { answer: 'n' }, ...words)).toMatchObject({ code: 2 })
    expect(await onTerminal(server(), { answer: 'y' }, ...words)).toMatchObject({
      code: 0,
      shown: expect.stringMatching(/Delete the environment doomed\? \[y\/N\][^]*doomed is deleted\n$/),
    })
  })

  test('the name of a datastore is typed before it is deleted', async () => {
    await server().api('POST', '/datastores', { name: 'typed-store', kind: 'keyvalue' })
    const words = ['db', 'delete', 'typed-store']
    const refused = await onTerminal(server(), { answer: 'y' }, ...words)
    expect(refused).toMatchObject({ code: 2, shown: expect.stringContaining('nothing was changed') })
    expect((await server().api('GET', '/datastores/typed-store')).body.status).not.toBe('deleting')
  })

  test('a value is asked for without being shown', async () => {
    await client(server(), 'create', 'asking')
    const words = ['env', 'set', 'KEY', '-s', 'asking']
    const { code, shown } = await onTerminal(server(), { answer: ' hidden value' }, ...words)
    expect([code, shown]).toEqual([0, expect.not.stringContaining('hidden')])
    expect((await server().api('GET', '/services/asking/env')).body).toEqual([
      { key: 'KEY', value: ' hidden value' },
    ])
  })
}
