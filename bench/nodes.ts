// Measures what several machines cost beside one: rollouts, requests to an instance elsewhere, images, and the loss of a node.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { endOf } from '../test/engine/live.ts'
import { startPlace, type Place } from '../test/nodes/place.ts'
import { startStand } from '../test/stand/index.ts'
import type { Machine } from '../test/stand/machine.ts'
import { lackForMachines } from '../test/stand/machines.ts'
import { builtServer } from '../test/support/build.ts'
import { median } from './lib/figures.ts'

const ROLLOUTS = 5
const REQUEST_ROUNDS = 10
const REQUESTS_A_ROUND = 200
const IMAGES = 3
const IMAGE_MIB = 64
const PAGE_BYTES = 1_000
const AIMS: Record<string, string> = {
  'request on a kept connection': '; aim: 1.1',
  'request on a fresh connection': '; aim: 1.5',
}
const REGISTRY_PORT = 5_001
/** Answers `/fresh` on a connection that it closes, so that the next request needs another one. */
const SERVER = `require('http').createServer((q,s)=>{if(q.url==='/fresh')s.setHeader('connection','close');s.end('a'.repeat(${PAGE_BYTES}))}).listen(process.env.PORT)`
/** Fills a file with bytes that exist nowhere else. */
const FILL = `head -c ${IMAGE_MIB * 1024 * 1024} /dev/urandom > /filling`

if (process.env.NODE_OF_TESTS) await measureOnMachines()
else await enterOwnNetwork()

/** Machines need a network of their own, and the stand's registry is in this one. */
async function enterOwnNetwork(): Promise<void> {
  await builtServer()
  const stand = await startStand()
  const entering = fileURLToPath(new URL('../test/acme/in-own-network', import.meta.url))
  const env = { ...process.env, NODE_OF_TESTS: process.execPath }
  const child = spawn(entering, [import.meta.filename], { stdio: 'inherit', env })
  const [code] = await once(child, 'exit')
  await stand.stop()
  process.exitCode = code as number
}

async function measureOnMachines(): Promise<void> {
  const lack = await lackForMachines()
  if (lack !== null) return console.log(`nodes: not measured, ${lack}`)
  const place = await startPlace()
  try {
    const [, second, third] = place.machines
    await place.run('shop', `exec node -e "${SERVER}"`, { image: 'node:26-bookworm-slim', instances: 2 })
    const alone = await rollouts(place)
    const joins = [await secondsOf(() => place.join(second)), await secondsOf(() => place.join(third))]
    const [first, later] = joins.map((each) => each.toFixed(1))
    console.log(
      `join, from the request for its command until ready  ${first} s the first node, ${later} s the next`,
    )
    // The first takes the image to the nodes.
    await rollOut(place)
    print('rollout of two instances', await rollouts(place), 'on three nodes', alone, 'on one', 's')
    await requests(place, second)
    await images(place, second)
    await loss(place)
  } finally {
    await place.stop()
  }
}

async function rollouts(place: Place): Promise<number> {
  const seconds: number[] = []
  for (let round = 0; round < ROLLOUTS; round++) seconds.push(await rollOut(place))
  return median(seconds)
}

/** How many seconds a rollout of the shop takes. */
function rollOut({ server }: Place): Promise<number> {
  return secondsOf(async () => {
    const { body } = await server.api('POST', '/services/shop/restart')
    const { status, error } = await endOf(server, body.id)
    if (status !== 'live') throw new Error(`${status}: ${error}`)
  })
}

/** How many seconds some work takes. */
async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return (performance.now() - began) / 1_000
}

/** Requests to an instance on another node beside those to one on the server's, in turns. */
async function requests(place: Place, other: Machine): Promise<void> {
  for (const machine of [place.machines[0], other]) {
    const fields = { image: 'node:26-bookworm-slim', placement: { nodes: [machine.name] } }
    await place.run(machine.name, `exec node -e "${SERVER}"`, fields)
  }
  for (const path of ['/kept', '/fresh']) {
    const near: number[] = []
    const far: number[] = []
    for (let round = 0; round < REQUEST_ROUNDS; round++) {
      near.push(...(await ask(place, place.machines[0].name, path)))
      far.push(...(await ask(place, other.name, path)))
    }
    print(
      `request on a ${path.slice(1)} connection`,
      median(far),
      'to another node',
      median(near),
      'to the own',
      'ms',
    )
  }
}

/** How many milliseconds each of some requests to a service took, one after another. */
async function ask({ server }: Place, service: string, path: string): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = { host: `${service}.localhost` }
  const took: number[] = []
  for (let sent = 0; sent < REQUESTS_A_ROUND; sent++) {
    const began = performance.now()
    const outgoing = request({ host: server.host, port: server.httpPort, path, agent, headers }).end()
    const [response] = await once(outgoing, 'response')
    if (response.statusCode !== 200) throw new Error(`${service} answered ${response.statusCode}`)
    response.resume()
    await once(response, 'end')
    took.push(performance.now() - began)
  }
  agent.destroy()
  return took
}

/** How much longer a deploy takes whose image has to go to another node, beside a push and a pull of such an image by hand. */
async function images(place: Place, other: Machine): Promise<void> {
  const [own] = place.machines
  const registry = await startRegistry(own)
  const added: number[] = []
  const byHand: number[] = []
  for (let round = 0; round < IMAGES; round++) {
    const near = await deployImage(place, own)
    added.push((await deployImage(place, other)) - near)
    const name = `${registry}/by-hand:${round}`
    await makeImage(own, name)
    byHand.push(
      await secondsOf(async () => {
        await own.docker('push', '-q', name)
        await other.docker('pull', '-q', name)
      }),
    )
  }
  const what = `image of ${IMAGE_MIB} MiB to a second node`
  print(what, median(added), 'by a deploy', median(byHand), 'by docker push and pull', 's')
}

/** Starts a registry for the other machines too; returns the host of its images. */
async function startRegistry(own: Machine): Promise<string> {
  const host = `${own.address}:${REGISTRY_PORT}`
  const configuration = `{version: 0.1, storage: {filesystem: {rootdirectory: /var/lib/registry}}, http: {addr: "${host}"}}`
  const serve = `echo '${configuration}' > /by-hand.yml && exec registry serve /by-hand.yml`
  await own.docker('run', '-d', '--network', 'host', '--entrypoint', 'sh', 'registry:3', '-c', serve)
  return host
}

async function makeImage(own: Machine, name: string): Promise<void> {
  const container = (await own.docker('run', '-d', 'busybox:1', 'sh', '-c', FILL)).trim()
  await own.docker('wait', container)
  await own.docker('commit', container, name)
  await own.docker('rm', container)
}

/** How many seconds the deploy of such an image on one machine takes, from its upload until it is live. */
function deployImage(place: Place, { name }: Machine): Promise<number> {
  const placement = { nodes: [name] }
  return secondsOf(() =>
    place.deploy(`image-on-${name}`, String(performance.now()), { placement }, `RUN ${FILL}\n`),
  )
}

/** How long a lost node's instances are missing. */
async function loss(place: Place): Promise<void> {
  const instances = await place.settles('shop', (nodes) => nodes.length === 2)
  const lost = instances
    .map((instance) => place.machineOf(instance))
    .find((machine) => machine !== place.machines[0])
  if (!lost) throw new Error('no instance is on another node')
  const seconds = await secondsOf(async () => {
    await lost.cutOff()
    await place.settles('shop', (nodes) => nodes.length === 2 && !nodes.includes(lost.name))
  })
  console.log(`node lost to all instances answering  ${seconds.toFixed(1)} s (aim: at most 20 s)`)
}

function print(what: string, ours: number, where: string, other: number, beside: string, unit: string): void {
  const ratio = `ratio ${(ours / other).toFixed(2)}${AIMS[what] ?? ''}`
  const figures = `${ours.toFixed(2)} ${unit} ${where}, ${other.toFixed(2)} ${unit} ${beside}`
  console.log(`${what.padEnd(38)}median ${figures} (${ratio})`)
}
