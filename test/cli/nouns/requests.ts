import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { client, startClient } from '../client.ts'

export function requestCases(server: () => TestServer): void {
  test('--debug names each request, without its token', async () => {
    const { error } = await client(server(), 'services', '--debug', '-q')
    expect(error).toMatch(/^GET \/api\/v1\/services\S* 200 \d+ ms [0-9a-f]{32}$/m)
    expect(error).not.toContain(server().token)
  })

  test('have their fields in the query or the body, by the method', async () => {
    const made = await client(server(), 'api', 'post', 'services', 'name=asked', 'deploy=false', 'port=80')
    expect(JSON.parse(made.out)).toMatchObject({ name: 'asked', port: 80 })
    const { body } = await server().api('GET', '/services/asked')
    const read = await client(server(), 'api', 'GET', '/services/asked', 'environment=production')
    expect(read).toEqual({ code: 0, out: JSON.stringify(body), error: '' })
    expect(await client(server(), 'api', 'GET', '/api/v1/services/asked')).toMatchObject({ out: read.out })
    const words = ['api', 'PATCH', '/services/asked', '--input', '-']
    const patched = startClient(server(), words, { input: '{"instances": 2}' })
    expect(JSON.parse((await patched.ended).out)).toMatchObject({ instances: 2 })
    expect(await client(server(), 'api', 'PATCH', '/services/asked', 'instnces=2')).toMatchObject({
      code: 2,
      error: 'deployer: there is no field instnces. Did you mean instances?\n',
    })
  })

  test('say in one line that the disk is full', async () => {
    const full = openSync('/dev/full', 'w')
    const asked = await startClient(server(), ['api', 'GET', '/info'], { output: full }).ended
    closeSync(full)
    expect(asked).toMatchObject({
      code: 1,
      error: expect.stringMatching(/^deployer: cannot write [^\n]+\n$/),
    })
  })

  test('fail with the code of their status', async () => {
    expect(await client(server(), 'api', 'GET', '/nothing')).toMatchObject({ code: 4, out: '' })
    expect(await client(server(), 'api', 'GET', '/services', 'x=1')).toMatchObject({ code: 2, out: '' })
    const stranger = { url: server().url, token: `dpl_${'0'.repeat(40)}` }
    expect(await client(stranger, 'api', 'GET', '/services')).toMatchObject({ code: 3, out: '' })
  })

  test('go to the API of the server alone', async () => {
    let asked = 0
    const other = createServer((_, answer) => {
      asked++
      answer.end()
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const host = `127.0.0.1:${(other.address() as AddressInfo).port}`
    for (const path of [
      `http://${host}/`,
      `//${host}/`,
      `/api/..//${host}/`,
      '/../../healthz',
      `/\\${host}/`,
    ])
      expect((await client(server(), 'api', 'GET', path)).code).not.toBe(0)
    expect(await client(server(), 'api', 'FETCH', '/services')).toMatchObject({ code: 2 })
    other.close()
    expect(asked).toBe(0)
  })
}
