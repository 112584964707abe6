import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { client, startClient } from '../client.ts'

const EMPTY_SERVICE = (name: string, port: number) => `services:\n  - name: ${name}\n    port: ${port}\n`

export function blueprintCases(server: () => TestServer): void {
  function fileOf(name: string, content: string): string {
    const file = join(mkdtempSync(join(tmpdir(), 'deployer-blueprint-')), name)
    writeFileSync(file, content)
    return file
  }

  test('an apply prints its plan, and changes something once that is confirmed', async () => {
    const file = fileOf('b.yaml', EMPTY_SERVICE('planned', 8080))
    const plan = '+ service planned\n'
    expect(await client(server(), 'apply', file, '--dry-run')).toEqual({ code: 0, out: plan, error: '' })
    expect(await client(server(), 'apply', file)).toMatchObject({ code: 2, out: plan })
    expect((await server().api('GET', '/services/planned')).status).toBe(404)
    expect(await client(server(), 'apply', file, '--yes')).toEqual({ code: 0, out: plan, error: '' })
    expect(await client(server(), 'apply', file)).toEqual({ code: 0, out: '= 1 unchanged\n', error: '' })

    const other = fileOf('b.yaml', EMPTY_SERVICE('planned', 8081))
    expect(await client(server(), 'apply', other, '--dry-run')).toMatchObject({
      out: '~ service planned\n    port: 8080 -> 8081\n',
    })
    const piped = startClient(server(), ['apply', '-', '--yes', '--json'], {
      input: EMPTY_SERVICE('planned', 8082),
    })
    expect(JSON.parse((await piped.ended).out)).toMatchObject({ dry_run: false, deploys: [] })
    expect((await server().api('GET', '/services/planned')).body.port).toBe(8082)
  })

  test('an environment is one, of the file or of the flag', async () => {
    const file = fileOf('b.yaml', EMPTY_SERVICE('exported', 80))
    await server().api('POST', '/environments', { name: 'blue' })
    expect(await client(server(), 'apply', file, '-e', 'blue', '--yes')).toMatchObject({ code: 0 })
    const variables = { set: { TOKEN: 'not-for-files' } }
    await server().api('PATCH', '/services/exported/env?environment=blue', variables)
    const exported = await client(server(), 'export', '-e', 'blue')
    expect(exported).toMatchObject({ code: 0, out: expect.stringContaining('name: exported') })
    expect(exported.out).not.toContain('not-for-files')
    expect((await client(server(), 'export', '-e', 'blue', '--secrets')).out).toContain('not-for-files')
    expect((await client(server(), 'export', '-e', 'blue', '--json')).out).toMatch(/^\{\n {2}"yaml": /)
    const again = startClient(server(), ['apply', '-'], { input: exported.out })
    expect(await again.ended).toMatchObject({ code: 0, out: expect.stringMatching(/^= \d+ unchanged\n$/) })
  })

  test('each fault of a file is a line with its place', async () => {
    const file = fileOf('bad.yaml', 'services:\n  - name: bad\n    prt: 1\n    port: x\n')
    const applied = await client(server(), 'apply', file, '--yes')
    expect(applied).toMatchObject({ code: 2, out: '' })
    expect(applied.error.split('\n')).toEqual([
      expect.stringMatching(/bad\.yaml:3:5: services\[0\]\.prt: /),
      expect.stringMatching(/bad\.yaml:4:\d+: services\[0\]\.port: /),
      '',
    ])
    expect(applied.error).toContain(`${file}:3:5: `)
    const json = await client(server(), 'apply', file, '--yes', '--json')
    expect(JSON.parse(json.error)).toMatchObject({ error: { code: 'invalid_request', exit_code: 2 } })
    const compose = fileOf('c.yaml', 'services:\n  b: [\n')
    expect(await client(server(), 'convert', compose)).toMatchObject({
      code: 2,
      out: '',
      error: expect.stringMatching(/c\.yaml:\d+:\d+: /),
    })
  })

  test('files that cannot be read, are no text or too long are refused unsent', async () => {
    const long = fileOf('long.yaml', '#'.repeat(2 * 1024 * 1024 + 1))
    const nowhere = { url: 'http://127.0.0.1:1', token: 'dpl_none' }
    expect(await client(nowhere, 'apply', long)).toMatchObject({
      code: 2,
      error: `deployer: ${long} is longer than 2 MiB\n`,
    })
    for (const file of [join(long, '..'), `${long}.none`])
      expect(await client(nowhere, 'convert', file)).toMatchObject({ code: 2, out: '' })
    const bytes = fileOf('bytes.yaml', '')
    writeFileSync(bytes, Buffer.from([0xff, 0xfe]))
    expect(await client(nowhere, 'apply', bytes)).toMatchObject({
      code: 2,
      error: expect.stringContaining('UTF-8'),
    })
  })

  test('a Compose file becomes a blueprint', async () => {
    const compose = fileOf('c.yaml', 'services:\n  a:\n    image: busybox\n    cap_add: [NET_ADMIN]\n')
    const converted = await client(server(), 'convert', compose)
    expect(converted).toMatchObject({ code: 0, out: expect.stringContaining('- name: a\n') })
    expect(converted.error).toMatch(/^Note: .*cap_add/m)
    expect(JSON.parse((await client(server(), 'convert', compose, '--json')).out)).toMatchObject({
      yaml: converted.out,
    })
  })
}
