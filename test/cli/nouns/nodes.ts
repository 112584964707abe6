import { expect, test } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { client } from '../client.ts'

export function nodeCases(server: () => TestServer): void {
  test('the node of the server is listed, shown, renamed and labeled', async () => {
    const [name] = (await client(server(), 'node', 'ls', '-q')).out.split('\n')
    const [row, ...more] = (await client(server(), 'node', 'ls')).out.trimEnd().split('\n')
    expect([row!.split('\t').slice(0, 3), more]).toEqual([[name, 'ready', 'server, entry'], []])
    expect(await client(server(), 'node', 'rename', name!, 'first')).toMatchObject({
      ...{ code: 0, out: `${name} is first now\n` },
    })
    expect(await client(server(), 'node', 'label', 'first', 'disk=ssd', 'zone=a')).toMatchObject({
      ...{ code: 0, out: 'first has disk=ssd, zone=a\n' },
    })
    expect(await client(server(), 'node', 'label', 'first', 'zone=')).toMatchObject({
      ...{ code: 0, out: 'first has disk=ssd\n' },
    })
    const shown = (await client(server(), 'node', 'show', 'first')).out
    expect(shown).toMatch(/^name\tfirst\nid\tnod-.*\nstatus\tready\nroles\tserver, entry\nlabels\tdisk=ssd\n/)
    expect(await client(server(), 'node', 'show', 'fist')).toMatchObject({
      ...{ code: 4, error: 'deployer: there is no node fist. Did you mean first?\n' },
    })
  })

  test('what a server of one node cannot do is refused', async () => {
    const [name] = (await client(server(), 'node', 'ls', '-q')).out.split('\n')
    expect(await client(server(), 'node', 'activate', name!)).toMatchObject({
      code: 0,
      out: `${name} is ready\n`,
    })
    expect(await client(server(), 'node', 'drain', name!)).toMatchObject({
      ...{ code: 5, error: expect.stringContaining('is the last node that is ready and active') },
    })
    expect(await client(server(), 'node', 'rm', name!)).toMatchObject({ code: 2 })
    expect(await client(server(), 'node', 'rm', name!, '--yes')).toMatchObject({
      ...{ code: 5, error: expect.stringContaining('the server itself runs on') },
    })
    expect(await client(server(), 'node', 'entry', name!)).toMatchObject({
      ...{ code: 0, out: `${name} is an entry\n` },
    })
    expect(await client(server(), 'node', 'entry', name!, '--off')).toMatchObject({
      ...{ code: 5, error: expect.stringContaining('always serves requests') },
    })
    expect(await client(server(), 'node', 'entry', name!, '--address', '203.0.113.8')).toMatchObject({
      ...{ code: 5, error: expect.stringContaining('are set with --public-ip') },
    })
    expect(await client(server(), 'node', 'label', name!, 'disk')).toMatchObject({
      ...{ code: 2, error: expect.stringContaining('disk: say label=value') },
    })
  })
}
