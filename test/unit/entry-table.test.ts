import { describe, expect, test } from 'vitest'
import { copyAt, nameOfFile, withCopies } from '#daemon/entries/paths.ts'
import { entryTable } from '#daemon/entries/table.ts'
import { DASHBOARD_TARGET, type RouteTable } from '#proxy/protocol.ts'

const DATA = '/var/lib/deployer'

function tableOf(fields: Partial<RouteTable>): RouteTable {
  return {
    ...{ version: 1, listeners: [], hosts: {}, targets: {}, zones: {}, certificates: {} },
    ...{ acme_challenges: {}, tls_challenges: {}, verification_key: '', hsts_seconds: 0, h2c: false },
    ...{ trusted_proxies: [], upstream_timeout_ms: 1, max_connections_per_ip: 1 },
    ...fields,
  }
}

describe('the table of an entry', () => {
  test('leads to containers of the own node through the network across the nodes, and to nothing of its own', () => {
    const upstreams = ['10.208.16.20', '10.208.48.20', '127.0.0.1', '10.208.32.20', 'fd00::1'].map(
      (host, index) => ({
        ...{ instance: `ins-${index}`, host, port: 80 },
      }),
    )
    const { targets } = entryTable(
      tableOf({ targets: { 'svc-1': { id: 'svc-1', state: 'serving', upstreams } } }),
      [],
      [
        { subnet: '10.208.16.0/20', overlay_subnet: '10.208.48.0/20' },
        // It has no containers elsewhere yet.
        { subnet: '10.208.32.0/20', overlay_subnet: null },
      ],
    )
    expect(targets['svc-1']!.upstreams).toEqual(
      ['ins-0', 'ins-1'].map((instance) => ({ instance, host: '10.208.48.20', port: 80 })),
    )
  })

  test('listens on the ports of the own data plane, at its own address', () => {
    const listeners = [
      { address: '[::]:80', protocol: 'http' as const },
      { address: '192.0.2.1:0', protocol: 'https' as const },
    ]
    const bound = [
      { address: '[::]:80', host: '::', port: 80 },
      { address: '192.0.2.1:0', host: '192.0.2.1', port: 41_234 },
    ]
    expect(entryTable(tableOf({ listeners }), bound, []).listeners).toEqual([
      { address: '0.0.0.0:80', protocol: 'http' },
      { address: '0.0.0.0:41234', protocol: 'https' },
    ])
  })

  test('listens on each port once, and on none that the server keeps to its machine', () => {
    const listeners = (...addresses: string[]) =>
      addresses.map((address) => ({ address, protocol: 'http' as const }))
    const bound = [
      { address: '192.0.2.1:80', host: '192.0.2.1', port: 80 },
      { address: '192.0.2.2:80', host: '192.0.2.2', port: 80 },
      { address: '127.0.0.1:8080', host: '127.0.0.1', port: 8_080 },
      { address: '[::1]:8081', host: '::1', port: 8_081 },
      { address: 'localhost:8082', host: '127.0.0.1', port: 8_082 },
    ]
    const table = tableOf({ listeners: listeners(...bound.map(({ address }) => address)) })
    expect(entryTable(table, bound, []).listeners).toEqual(listeners('0.0.0.0:80'))
  })

  test('leaves the dashboard and the names of networks to the server', () => {
    const dashboard = { id: DASHBOARD_TARGET, state: 'serving' as const, upstreams: [] }
    const other = { ...dashboard, id: 'svc-1' }
    const pair = { certificate: '/a', key: '/b' }
    const table = entryTable(
      tableOf({
        hosts: { 'deployer.example.com': DASHBOARD_TARGET, 'app.example.com': 'svc-1' },
        targets: { [DASHBOARD_TARGET]: dashboard, 'svc-1': other },
        certificates: { 'deployer.example.com': pair, 'app.example.com': pair },
        zones: { 'env-1': { subnet: '10.208.16.0/20', gateway: '10.208.16.1', names: {} } },
      }),
      [],
      [],
    )
    expect(table).toMatchObject({ hosts: { 'app.example.com': 'svc-1' }, targets: { 'svc-1': other } })
    expect(Object.keys({ ...table.hosts, ...table.targets, ...table.zones })).toEqual([
      ...['app.example.com', 'svc-1'],
    ])
    expect(table.certificates).toEqual({ 'app.example.com': pair })
  })
})

describe('the keys that an entry gets', () => {
  const dashboard = 'deployer.example.com'
  const pair = (name: string) => ({ certificate: `${DATA}/${name}.crt`, key: `${DATA}/${name}.key` })
  const keysOf = (certificates: RouteTable['certificates']): string[] => {
    const hosts = { [dashboard]: DASHBOARD_TARGET, 'app.example.com': 'svc-1' }
    const { files } = withCopies(entryTable(tableOf({ hosts, certificates }), [], []), DATA)
    return files.map(({ path }) => path).filter((path) => path.endsWith('.key'))
  }

  test("are not that of the dashboard's own certificate", () => {
    expect(keysOf({ [dashboard]: pair('own'), 'app.example.com': pair('app') })).toEqual([`${DATA}/app.key`])
  })

  test('are that of a wildcard certificate which the dashboard has in common with services', () => {
    expect(keysOf({ [dashboard]: pair('wildcard'), 'app.example.com': pair('wildcard') })).toEqual([
      `${DATA}/wildcard.key`,
    ])
  })
})

describe('the copies that a table needs', () => {
  const certificate = (host: string) => ({
    certificate: `${DATA}/certificates/${host}/1234.fullchain.pem`,
    key: `${DATA}/certificates/${host}/1234.privkey.pem`,
  })
  const table = tableOf({
    certificates: {
      'a.example.com': certificate('_.example.com'),
      'b.example.com': certificate('_.example.com'),
    },
    tls_challenges: { 'c.example.com': certificate('c.example.com') },
    targets: {
      'svc-1': {
        ...{ id: 'svc-1', state: 'serving', upstreams: [] },
        site: { folder: `${DATA}/sites/dep-2`, earlier: [{ folder: `${DATA}/sites/dep-1`, until: 5 }] },
      },
    },
  })
  const found = withCopies(table, DATA)

  test('are each brought once, under names that have nothing of a host', () => {
    expect(found.files.map(({ path }) => path)).toEqual([
      ...Object.values(certificate('_.example.com')),
      ...Object.values(certificate('c.example.com')),
    ])
    for (const { name } of found.files) expect(name).toMatch(/^[0-9a-f]{32}\.pem$/)
    expect(new Set(found.files.map(({ name }) => name)).size).toBe(4)
  })

  test('keep the name of a folder, by which caches know what is in it', () => {
    expect(found.folders).toEqual([
      { path: `${DATA}/sites/dep-2`, name: 'dep-2' },
      { path: `${DATA}/sites/dep-1`, name: 'dep-1' },
    ])
  })

  test('take the place of all paths of this server', () => {
    expect(JSON.stringify(found.table)).not.toContain(DATA)
    expect(found.table.targets['svc-1']!.site).toEqual({
      folder: '/data/files/dep-2',
      earlier: [{ folder: '/data/files/dep-1', until: 5 }],
    })
    const { certificate: path } = certificate('_.example.com')
    expect(found.table.certificates['b.example.com']!.certificate).toBe(copyAt(nameOfFile(DATA, path)))
  })

  test('have the same names on a server whose data moved to another directory', () => {
    expect(nameOfFile('/other', `/other/certificates/x/1.privkey.pem`)).toBe(
      nameOfFile(DATA, `${DATA}/certificates/x/1.privkey.pem`),
    )
  })
})
