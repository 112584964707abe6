import type { Node, NodeCheck, NodeInput, NodeInvitation, NodePatch } from '#server/nodes/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, wrong } from '../../fault.ts'
import { confirm } from '../ask.ts'
import { printFields, printList, printTable } from '../columns.ts'
import { sizeText, timeText } from '../figures.ts'
import { pathTo, qualifiedName } from '../target.ts'
import { withApi } from '../with-api.ts'

const PATH = '/nodes'
/** The probes of a pair wait for what does not come. */
const CHECK_LIMIT_MS = 2 * 60_000

/** Lists the nodes. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const nodes = await withApi(call, (api) => api.get<Node[]>(PATH))
  printList(out, nodes, {
    columns: [
      { title: 'name', text: ({ name }) => name, isWhole: true },
      { title: 'status', text: statusText },
      { title: 'roles', text: ({ roles }) => roles.join(', ') || 'worker' },
      { title: 'address', text: ({ address }) => address ?? '' },
      { title: 'instances', text: ({ instances }) => String(instances) },
      { title: 'bound', text: ({ bound }) => String(bound.length) },
      { title: 'cpus', text: ({ cpus }) => String(cpus ?? '') },
      { title: 'memory', text: ({ memory_bytes: bytes }) => (bytes === null ? '' : sizeText(bytes)) },
      { title: 'why', text: ({ reason }) => reason ?? '' },
    ],
    name: ({ name }) => name,
    emptyNote: 'There are no nodes.',
  })
}

/** Shows one node, and what has its data there. */
export async function show(call: Call): Promise<void> {
  const { out } = call
  const node = await withApi(call, (api) => api.get<Node>(nodePath(call)))
  if (out.isJson) return out.json(node)
  if (out.isQuiet) return out.line(node.name)
  printFields(out, [
    ['name', node.name],
    ['id', node.id],
    ['status', statusText(node)],
    ['why', node.reason],
    ['roles', node.roles.join(', ') || 'worker'],
    ['address', node.address],
    ['public', node.public_address],
    ['labels', labelTexts(node).join(', ')],
    ['engine', node.engine_version],
    ['architecture', node.architecture],
    ['cpus', node.cpus === null ? null : String(node.cpus)],
    ['memory', node.memory_bytes === null ? null : sizeText(node.memory_bytes)],
    ['free disk', node.disk_free_bytes === null ? null : sizeText(node.disk_free_bytes)],
    ['instances', String(node.instances)],
    ['bound', node.bound.map((each) => `${each.kind} ${qualifiedName(each)}`).join(', ')],
    ['last seen', timeText(out, node.last_seen_at)],
  ])
}

/** Prints the command with which a machine joins, and which ports have to be open for it. */
export async function joinToken(call: Call): Promise<void> {
  const { out } = call
  const input: Partial<NodeInput> = call.has('entry') ? { role: 'entry' } : {}
  const invitation = await withApi(call, (api) => api.send<NodeInvitation>('POST', PATH, input))
  if (out.isJson) return out.json(invitation)
  if (invitation.command === null) throw wrong('this token sees no secrets, as the command to join is one')
  out.line(out.isQuiet ? (invitation.token ?? '') : invitation.command)
  out.note(`Run this on the new machine, as root. It holds until ${timeText(out, invitation.expires_at)}.`)
  out.note(`Between the machines, open TCP 2377, 7946 and ${invitation.node_port}, and UDP 7946 and 4789.`)
}

/** Moves what can move from a node, which takes nothing new from now on. */
export async function drain(call: Call): Promise<void> {
  const node = await changed(call, { availability: 'drain' })
  call.out.done(`${node.name} is ${statusText(node)}`, node)
  if (node.reason !== null) call.out.note(node.reason)
}

/** Lets a node take instances again. */
export async function activate(call: Call): Promise<void> {
  const node = await changed(call, { availability: 'active' })
  call.out.done(`${node.name} is ${statusText(node)}`, node)
}

/** Has a node serve requests, or not any more. */
export async function entry(call: Call): Promise<void> {
  const isOff = call.has('off')
  const address = call.text('address')
  const node = await changed(call, {
    entry: !isOff,
    ...(address !== null && { public_address: address === 'none' ? null : address }),
  })
  const named = node.public_address ?? node.address
  call.out.done(isOff ? `${node.name} is no entry any more` : `${node.name} is an entry`, node)
  call.out.note(
    isOff
      ? `Take ${named} out of DNS.`
      : `It serves once it has what it needs. Then add ${named} to DNS, but not to the dashboard's host: if a wildcard covers that, it needs a record of its own with the server's address.`,
  )
}

/** Says how many managers there are to be, and which. */
export async function managers(call: Call): Promise<void> {
  const [count, ...names] = call.words
  const input: Partial<NodeInput> = { managers: countOf(count!), ...(names.length > 0 && { nodes: names }) }
  const nodes = await withApi(call, (api) => api.send<Node[]>('POST', PATH, input))
  call.out.done(
    input.managers === 1
      ? 'the node of the server becomes the only manager'
      : `there are going to be ${count} managers: node ls shows when it is done`,
    nodes,
  )
  if (input.managers !== 1)
    call.out.note('Between them, open TCP 2377 both ways. A manager has the keys of all agents.')
}

function countOf(word: string): number {
  if (/^[1-9]\d?$/.test(word)) return Number(word)
  throw wrong(`${word}: say 3 or 1`)
}

export async function rename(call: Call): Promise<void> {
  const node = await changed(call, { name: call.words[1]! })
  call.out.done(`${call.words[0]} is ${node.name} now`, node)
}

/** Sets labels of a node, and removes those that are given without a value. */
export async function label(call: Call): Promise<void> {
  const given = call.words.slice(1).map(labelOf)
  const node = await withApi(call, async (api) => {
    const { labels } = await api.get<Node>(nodePath(call))
    const kept = Object.entries({ ...labels, ...Object.fromEntries(given) }).filter(
      ([, value]) => value !== '',
    )
    return api.send<Node>('PATCH', nodePath(call), { labels: Object.fromEntries(kept) })
  })
  call.out.done(`${node.name} has ${labelTexts(node).join(', ') || 'no labels'}`, node)
}

/** Removes a node, once it is confirmed. */
export async function remove(call: Call): Promise<void> {
  const isLost = call.has('lost')
  const name = await withApi(call, async (api) => {
    const { name, bound } = await api.get<Node>(nodePath(call))
    const cost = isLost && bound.length > 0 ? ` What has its data there becomes unavailable.` : ''
    await confirm(call, `Remove the node ${name}?${cost}`)
    await api.send('DELETE', nodePath(call), undefined, { query: isLost ? { lost: 'true' } : {} })
    return name
  })
  call.out.done(`${name} is removed`)
}

/** Tries whether a node and the others reach each other. Returns 1 when something is closed, else 0. */
export async function check(call: Call): Promise<number> {
  const { out } = call
  const found = await withApi(call, (api) =>
    api.send<NodeCheck>('POST', `${nodePath(call)}/check`, undefined, { limitMs: CHECK_LIMIT_MS }),
  )
  const wrongs = found.checks.filter(({ ok }) => !ok)
  if (out.isJson) out.json(found)
  else if (out.isQuiet) wrongs.forEach(({ what }) => out.line(what))
  else {
    printTable(out, found.checks, [
      { title: 'result', text: ({ ok }) => (ok ? 'passed' : 'failed'), isWhole: true },
      { title: 'from', text: ({ from }) => from, isWhole: true },
      { title: 'to', text: ({ to }) => to, isWhole: true },
      { title: 'what', text: ({ what }) => what, isWhole: true },
      { title: 'found', text: ({ message }) => message },
    ])
    if (out.isTerminal) for (const { message } of wrongs) out.note(out.cleaned(message))
  }
  return found.ok ? 0 : EXIT.failed
}

function changed(call: Call, patch: NodePatch): Promise<Node> {
  return withApi(call, (api) => api.send<Node>('PATCH', nodePath(call), patch))
}

function nodePath(call: Call): string {
  return pathTo('nodes', { name: call.words[0]! })
}

function statusText({ status, progress }: Node): string {
  return status === 'draining' && progress ? `draining ${progress.done} of ${progress.total}` : status
}

function labelTexts({ labels }: Node): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`)
}

/** A word such as `disk=ssd`. Throws Fault for any other. */
function labelOf(word: string): [name: string, value: string] {
  const at = word.indexOf('=')
  if (at < 1) throw wrong(`${word}: say label=value, or label= to remove it`)
  return [word.slice(0, at), word.slice(at + 1)]
}
