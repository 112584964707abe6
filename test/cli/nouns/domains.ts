import { expect, test } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { client, linesOf } from '../client.ts'

export function domainCases(server: () => TestServer): void {
  test('domains of a service are added, listed with their certificates, checked and removed', async () => {
    await client(server(), 'create', 'served')
    expect(await client(server(), 'domains', 'served')).toEqual({ code: 0, out: '', error: '' })
    const added = await client(server(), 'domains', 'add', 'www.served.internal', 'served')
    expect(added).toMatchObject({ code: 0, out: 'www.served.internal is added to served\n' })
    const [row] = linesOf((await client(server(), 'domains', 'served')).out)
    expect(row!.split('\t')).toEqual([
      'www.served.internal',
      expect.stringMatching(/^(local|disabled)$/),
      '',
      '',
    ])
    const listed = JSON.parse((await client(server(), 'domains', 'served', '--json')).out)
    const certificates = (await server().api('GET', '/certificates')).body as { host: string }[]
    expect(listed).toEqual(certificates.filter(({ host }) => host === 'www.served.internal'))
    expect((await client(server(), 'certs', '-q')).out).toContain('www.served.internal\n')
    expect(await client(server(), 'domains', 'verify', 'www.served.internal', 'served')).toMatchObject({
      code: 0,
      out: expect.stringContaining('leads to the server'),
    })

    expect(await client(server(), 'domains', 'remove', 'www.served.internal', 'served')).toMatchObject({
      code: 2,
    })
    expect(await client(server(), 'domains', 'remove', '..', 'served', '-y')).toMatchObject({ code: 2 })
    const removed = await client(
      server(),
      'domains',
      'remove',
      'www.served.internal',
      'served',
      '-y',
      '--json',
    )
    expect(removed).toMatchObject({ code: 0, out: '[]\n' })
    expect(await client(server(), 'domains')).toMatchObject({ code: 2, out: '' })
  })

  test("the server's own domains are listed, connected and disconnected", async () => {
    const connected = await client(server(), 'domains', 'add', 'apps.localhost', '--server')
    expect(connected).toMatchObject({ code: 0, out: 'apps.localhost is connected; it is active\n' })
    expect((await client(server(), 'domains', '--server')).out).toMatch(/^apps\.localhost\tactive\t\thttp/m)
    expect(await client(server(), 'domains', 'web', '--server')).toMatchObject({ code: 2 })
    expect(await client(server(), 'domains', 'remove', 'apps.localhost', '--server', '-y')).toMatchObject({
      code: 0,
    })
  })

  test('environments are created, listed and deleted once that is confirmed', async () => {
    const created = await client(server(), 'environments', 'create', 'trial')
    expect(created).toMatchObject({ code: 0, out: expect.stringContaining('<service>.trial.') })
    expect((await client(server(), 'environments', 'list', '-q')).out).toMatch(/^production\n(.*\n)*trial\n/)
    expect(await client(server(), 'services', '-e', 'trail')).toMatchObject({
      code: 4,
      error: 'deployer: there is no environment trail. Did you mean trial?\n',
    })
    expect(await client(server(), 'environments', 'delete', 'trial')).toMatchObject({ code: 2 })
    expect(await client(server(), 'environments', 'delete', 'production', '-y')).toMatchObject({ code: 5 })
    expect(await client(server(), 'environments', 'delete', 'trial', '-y')).toMatchObject({
      code: 0,
      out: 'trial is deleted\n',
    })
  })

  test('what git providers have is nothing without an account', async () => {
    for (const words of [['list'], ['repositories'], ['deliveries']])
      expect(await client(server(), 'git', ...words)).toEqual({ code: 0, out: '', error: '' })
    expect(await client(server(), 'git', 'list', '--json')).toMatchObject({ out: '[]\n' })
    expect(await client(server(), 'git', 'branches', 'nowhere')).toMatchObject({ code: 2, out: '' })
    expect(await client(server(), 'git', 'deliveries', '--limit', 'x')).toMatchObject({ code: 2, out: '' })
  })
}
