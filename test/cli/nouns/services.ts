import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { databaseOf } from '../../support/database.ts'
import type { TestServer } from '../../support/server.ts'
import { client, linesOf, startClient } from '../client.ts'

export function serviceCases(server: () => TestServer): void {
  test('a service is created with flags and fields, shown, changed and listed', async () => {
    const flags = ['--image', 'busybox:1', '--env', 'A=1', '--env', 'B=x y', '--type', 'private_service']
    const made = await client(server(), 'create', 'plain', 'port=8080', ...flags, '--no-deploy')
    expect(made).toMatchObject({
      code: 0,
      out: 'plain is created; deployer deploy --service plain deploys it\n',
    })

    const fields = [
      'port=',
      'memory_limit_mb=64',
      'apt_packages=["jq"]',
      'auto_deploy=false',
      'cpu_limit=0.5',
    ]
    const updated = await client(server(), 'update', 'plain', ...fields, '--json')
    expect(JSON.parse(updated.out)).toMatchObject({
      ...{ name: 'plain', port: null, memory_limit_mb: 64, cpu_limit: 0.5 },
      ...{ apt_packages: ['jq'], auto_deploy: false, type: 'private_service' },
    })

    const shown = await client(server(), 'show', 'plain')
    expect(linesOf(shown.out)).toEqual(
      expect.arrayContaining([
        'name\tplain',
        'image\tbusybox:1',
        'memory limit\t64 MiB',
        'latest deploy\tnone',
      ]),
    )
    const whole = JSON.parse((await client(server(), 'show', 'plain', '--json')).out)
    const { body } = await server().api('GET', '/services/plain')
    expect(whole).toEqual({ ...body, status: { state: 'not_deployed', live_deploy_id: null, instances: [] } })

    const listed = linesOf((await client(server(), 'ls')).out).find((line) => line.startsWith('plain\t'))
    expect(listed?.split('\t')).toEqual(['plain', 'production', 'private_service', 'not_deployed', '', ''])
    expect(await client(server(), 'env', 'list', 'plain', '--reveal')).toMatchObject({
      out: 'A\t1\nB\tx y\n',
    })
  })

  test('services of every environment are listed, and named by name.environment', async () => {
    await server().api('POST', '/environments', { name: 'listed' })
    expect(await client(server(), 'create', 'far.listed')).toMatchObject({ code: 0 })
    expect(await client(server(), 'create', 'near')).toMatchObject({ code: 0 })
    const all = linesOf((await client(server(), 'services', '-e', 'all', '-q')).out)
    expect(all).toEqual(expect.arrayContaining(['near', 'far.listed']))
    expect(await client(server(), 'services', '-e', 'listed', '-q')).toMatchObject({ code: 0, out: 'far\n' })
    const json = JSON.parse((await client(server(), 'services', '-e', 'all', '--json')).out)
    expect(json).toContainEqual((await server().api('GET', '/services/far?environment=listed')).body)
    expect(await client(server(), 'show', 'far.listed', '-q')).toMatchObject({ out: 'far\n' })
    expect(await client(server(), 'show', 'far', '-e', 'listed', '-q')).toMatchObject({ out: 'far\n' })
    expect(await client(server(), 'show', 'far.listed', '-e', 'production')).toMatchObject({
      code: 2,
      out: '',
    })
  })

  test('fields are taken by their types, and refused in one line before anything is sent', async () => {
    await client(server(), 'create', 'typed')
    const before = (await server().api('GET', '/services/typed')).body
    for (const [word, message] of [
      ['prt=1', 'there is no field prt. Did you mean port?'],
      ['port=abc', 'port must be a number'],
      ['auto_deploy=maybe', 'auto_deploy must be true or false'],
      ['watch_paths=src', 'watch_paths must be JSON, such as \'["a", "b"]\''],
      ['instances=', 'instances cannot be cleared; give it a value'],
      ['=1', "'=1' is not written K=V"],
    ])
      expect(await client(server(), 'update', 'typed', word!, 'branch=main')).toEqual({
        code: 2,
        out: '',
        error: `deployer: ${message}\n`,
      })
    for (const words of [
      ['update', 'typed'],
      ['update', 'typed', 'port=1', 'port=2'],
    ])
      expect(await client(server(), ...words)).toMatchObject({ code: 2, out: '' })
    expect((await server().api('GET', '/services/typed')).body).toEqual(before)
    const twice = await client(server(), 'create', 'twice', '--branch', 'main', 'branch=other')
    expect(twice).toMatchObject({ code: 2, error: 'deployer: branch is given twice\n' })
    expect(await client(server(), 'show', 'twice')).toMatchObject({ code: 4 })
  })

  test('names that do not exist come with the nearest, and with code 4', async () => {
    await client(server(), 'create', 'similar')
    expect(await client(server(), 'show', 'simlar')).toEqual({
      code: 4,
      out: '',
      error: 'deployer: there is no service simlar in production. Did you mean similar?\n',
    })
    const fault = await client(server(), 'delete', 'simlar', '--yes', '--json')
    expect(JSON.parse(fault.error)).toMatchObject({ error: { code: 'not_found', exit_code: 4 } })
    const token = `dpl_${'0'.repeat(40)}`
    expect((await client(server(), 'show', token)).error).not.toContain(token)
    for (const name of ['', '.', '..', '.production', token])
      expect(await client(server(), 'delete', name, '--yes')).toMatchObject({ code: 2, out: '' })
    expect((await server().api('GET', '/services/similar')).status).toBe(200)
  })

  test('a folder is linked to a service, which may be a new one of its name', async () => {
    await server().api('POST', '/environments', { name: 'linking' })
    const folder = join(mkdtempSync(join(tmpdir(), 'deployer-link-')), 'My Shop')
    mkdirSync(folder)
    const init = (...words: string[]) => startClient(server(), ['init', ...words], { cwd: folder }).ended
    const link = () => JSON.parse(readFileSync(join(folder, '.deployer.json'), 'utf8'))
    expect(await init()).toMatchObject({ code: 2, out: '' })
    expect(await init('nothing-yet')).toMatchObject({ code: 4, out: '' })
    expect(existsSync(join(folder, '.deployer.json'))).toBe(false)
    expect(await init('--create')).toEqual({
      code: 0,
      out: '.deployer.json links this folder to my-shop\n',
      error: '',
    })
    expect(link()).toEqual({ service: 'my-shop' })
    expect(await init('--create', '-e', 'linking')).toMatchObject({ code: 2, out: '' })
    expect(await init('--create', '-e', 'linking', '-s', 'named', '--yes')).toMatchObject({ code: 0 })
    expect(link()).toEqual({ service: 'named', environment: 'linking' })
    const { id } = (await server().api('GET', '/services/named?environment=linking')).body
    expect(await init(id, '--yes')).toMatchObject({ code: 0 })
    expect(link()).toEqual({ service: 'named', environment: 'linking' })
    const shown = startClient(server(), ['show', '-q'], { cwd: folder })
    expect(await shown.ended).toMatchObject({ code: 0, out: 'named\n' })
  })

  test('what is saved and not live is shown, compared and put back', async () => {
    await client(server(), 'create', 'changed', '--image', 'busybox:1', '--detach')
    expect(await client(server(), 'changes', 'changed')).toEqual({
      ...{ code: 0, out: '', error: 'Nothing of changed is live yet.\n' },
    })
    const { latest_deploy } = (await server().api('GET', '/services/changed')).body
    // Without an engine nothing goes live by itself.
    const database = databaseOf(server().dataDirectory)
    database.prepare("UPDATE deploys SET status = 'live', was_live = 1 WHERE id = ?").run(latest_deploy.id)
    database.prepare("UPDATE services SET live_deploy_id = ? WHERE name = 'changed'").run(latest_deploy.id)
    database.close()
    await client(server(), 'update', 'changed', 'image=busybox:2')
    const shown = await client(server(), 'changes', 'changed')
    expect(shown.out).toBe('image: busybox:1 -> busybox:2\n')
    expect(shown.error).toContain('one of the two did not record it: runtime, ')
    const json = JSON.parse((await client(server(), 'changes', 'changed', '--json')).out)
    expect(json).toEqual((await server().api('GET', '/services/changed/changes')).body)
    const { id } = (await server().api('POST', '/services/changed/deploys')).body
    const compared = await client(server(), 'compare', id)
    expect(compared).toMatchObject({ code: 0, out: 'image: busybox:1 -> busybox:2\n' })
    expect(await client(server(), 'compare', latest_deploy.id, id)).toMatchObject({
      out: 'image: busybox:2 -> busybox:1\n',
    })
    expect(await client(server(), 'changes', 'discard', 'changed')).toMatchObject({ code: 2, out: '' })
    expect(await client(server(), 'changes', 'discard', 'changed', '--yes')).toMatchObject({
      ...{ code: 0, out: 'image: busybox:2 -> busybox:1\n' },
    })
    expect((await server().api('GET', '/services/changed')).body.image).toBe('busybox:1')
  })

  test('a deletion that cannot be asked is refused', async () => {
    await client(server(), 'create', 'kept')
    expect(await client(server(), 'delete', 'kept')).toMatchObject({
      code: 2,
      out: '',
      error: expect.stringContaining('--yes'),
    })
    expect(await client(server(), 'delete', 'kept', '--no-input')).toMatchObject({ code: 2 })
    expect((await server().api('GET', '/services/kept')).status).toBe(200)
  })

  test('addresses are printed where there is no terminal to open them from', async () => {
    await client(server(), 'create', 'opened')
    const { url } = (await server().api('GET', '/services/opened')).body
    expect(await client(server(), 'open', 'opened')).toEqual({ code: 0, out: `${url}\n`, error: '' })
    const page = `${server().url}/services/opened`
    expect(await client(server(), 'open', 'opened', '--dashboard', '--json')).toMatchObject({
      out: `${JSON.stringify({ url: page }, null, 2)}\n`,
    })
    expect(await client(server(), 'open', '--dashboard')).toMatchObject({ out: `${server().url}/\n` })
    await client(server(), 'create', 'inner', '--type', 'background_worker')
    expect(await client(server(), 'open', 'inner')).toMatchObject({ code: 5, out: '' })
  })

  test('datastores are listed without their passwords, and deleted once that is confirmed', async () => {
    const made = await client(server(), 'db', 'create', 'store', '--kind', 'postgresql', 'backup_retention=3')
    expect(made).toMatchObject({ code: 1, out: '', error: expect.stringContaining('no container engine') })
    const { password } = (await server().api('GET', '/datastores/store')).body
    const shown = await client(server(), 'db', 'show', 'store')
    expect(linesOf(shown.out)).toEqual(expect.arrayContaining(['kind\trelational', 'backups kept\t3']))
    const listed = await client(server(), 'db', 'list')
    expect(listed.out).toMatch(/^store\tproduction\trelational\t\d+\tfailed\t/m)
    expect(shown.out + listed.out).not.toContain(password)
    expect((await client(server(), 'db', 'show', 'store', '--json')).out).toContain(password)
    expect(await client(server(), 'db', 'backup', 'store')).toMatchObject({ code: 5 })
    expect(await client(server(), 'db', 'download', 'store')).toMatchObject({ code: 4 })
    expect(await client(server(), 'db', 'delete', 'store')).toMatchObject({ code: 2, out: '' })
    for (const kind of [[], ['--kind', 'oracle']])
      expect(await client(server(), 'db', 'create', 'other', ...kind)).toMatchObject({ code: 2, out: '' })
  })
}
