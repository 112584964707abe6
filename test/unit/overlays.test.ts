import { afterAll, beforeAll, expect, test } from 'vitest'
import { environmentOf, networkName, overlayName } from '#daemon/environments/names.ts'
import { placeIn, type Network } from '#daemon/environments/networks.ts'
import { HOST_END, hostOn, overlayAddress, type Overlay } from '#server/environments/overlay.ts'
import { PROBE_ADDRESS, PROBE_NAME, ZoneBook } from '#daemon/proxy/zones.ts'
import {
  findEnvironment,
  quarantinedSubnets,
  setOverlaySubnet,
  setSubnet,
} from '#server/environments/store.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { openContext } from '../support/context.ts'

const SUBNET = '10.208.0.0/20'
const OVERLAY = '10.208.48.0/20'

let close: () => Promise<void>
let environmentId: string
beforeAll(async () => {
  ;({ close } = await openContext())
  environmentId = findEnvironment().id
  setSubnet(environmentId, SUBNET)
})
afterAll(() => close())

const upstream = (host: string) => ({ instance: host, host, port: 80 })
/** The names of the zones, without the one of the probe. */
const namesOf = (book: ZoneBook) =>
  Object.values(book.zones).map(({ subnet, gateway, names: { [PROBE_NAME]: probe, ...names } }) => {
    expect(probe).toEqual([PROBE_ADDRESS])
    return { subnet, gateway, names }
  })

test('the names of both networks of an environment lead back to it', () => {
  const environment = { id: 'env-0123456789abcdef0123' }
  expect(overlayName(environment)).not.toBe(networkName(environment))
  for (const name of [networkName(environment), overlayName(environment)])
    expect(environmentOf(name)).toBe(environment.id)
})

test('on one node an environment has one zone', () => {
  const book = new ZoneBook()
  book.add(environmentId, 'web', [upstream('10.208.0.16'), upstream('127.0.0.1')])
  expect(namesOf(book)).toEqual([{ subnet: SUBNET, gateway: '10.208.0.1', names: { web: ['10.208.0.16'] } }])
})

test('on several nodes the bridge sees what is on it at its address there, the overlay everything at its own', () => {
  setOverlaySubnet(environmentId, OVERLAY)
  const book = new ZoneBook()
  book.add(environmentId, 'web', [upstream('10.208.0.16'), upstream('10.208.49.2'), upstream('127.0.0.1')])
  expect(namesOf(book)).toEqual([
    { subnet: SUBNET, gateway: '10.208.0.1', names: { web: ['10.208.0.16', '10.208.49.2'] } },
    { subnet: OVERLAY, gateway: HOST_END, names: { web: ['10.208.48.16', '10.208.49.2'] } },
  ])
  expect(hostOn(ownNodeId(), environmentId, '10.208.1.2')).toBe('10.208.1.2')
  expect(hostOn('nod-00000000000000000000', environmentId, '10.208.1.2')).toBe('10.208.49.2')
})

test('a container of the own node is in both networks, one of another node in the overlay alone', () => {
  const addressOf = (address: string) => overlayAddress(findEnvironment(), address)
  const overlay: Overlay = { id: 'o', name: 'over', subnet: OVERLAY, nameServer: '10.208.48.15', addressOf }
  const own: Network = { id: 'b', name: 'bridge', subnet: SUBNET, addressOf: (each) => each, overlay }
  expect(placeIn(own, '10.208.15.254')).toEqual({
    network: 'bridge',
    address: '10.208.15.254',
    joined: [{ network: 'over', address: '10.208.63.254' }],
  })
  expect(placeIn({ ...own, overlay: null }, '10.208.0.16')).toEqual({
    network: 'bridge',
    address: '10.208.0.16',
  })
  const there: Network = { ...overlay, subnet: SUBNET, overlay: null }
  expect(placeIn(there, '10.208.0.16')).toEqual({ network: 'over', address: '10.208.48.16' })
})

test('the subnet of an overlay that is gone rests', () => {
  setOverlaySubnet(environmentId, null)
  expect(quarantinedSubnets()).toEqual([OVERLAY])
  expect(() => overlayAddress(findEnvironment(), '10.208.0.16')).toThrow('no network across the nodes')
})
