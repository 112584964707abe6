import { BASE_DOMAIN, PRODUCTION, splitPlace } from '../model.ts'
import { freePlace, pathOf, type CallKind } from './call.ts'

const ENVIRONMENTS = ['staging', 'other']
const DOMAINS = ['one.test', 'two.test']
const GROUPS = ['shared', 'more']
const TOKENS = ['laptop', 'ci', 'phone']
/** Each takes memory of its own. */
const MAX_DATASTORES = 1
const MEMORY_MIB = [64, 96, 128]

/** Calls about everything but services. */
export const OTHER_CALLS: readonly CallKind[] = [
  {
    name: 'create an environment',
    weight: 2,
    draw({ model }) {
      const name = ENVIRONMENTS.find((each) => !model.environments.includes(each))
      if (name === undefined) return null
      return {
        method: 'POST',
        path: '/environments',
        body: { name },
        subjects: [`environment ${name}`],
        apply: (next) => void next.environments.push(name),
      }
    },
  },
  {
    name: 'delete an environment',
    weight: 1,
    draw({ model, draw }) {
      const holds = (name: string): boolean =>
        [...Object.keys(model.services), ...Object.keys(model.datastores), ...model.leaving].some(
          (place) => splitPlace(place).environment === name,
        )
      const empty = model.environments.filter((name) => name !== PRODUCTION && !holds(name))
      if (empty.length === 0) return null
      const name = draw.pick(empty)
      return {
        method: 'DELETE',
        path: `/environments/${name}`,
        subjects: [`environment ${name}`],
        apply: (next) => void (next.environments = next.environments.filter((each) => each !== name)),
      }
    },
  },
  {
    name: 'add a domain',
    weight: 1,
    draw({ model }) {
      const name = DOMAINS.find((each) => !model.domains.includes(each))
      if (name === undefined) return null
      return {
        method: 'POST',
        path: '/domains',
        body: { name },
        subjects: [`domain ${name}`],
        apply: (next) => void next.domains.push(name),
      }
    },
  },
  {
    name: 'remove a domain',
    weight: 1,
    draw({ model, draw }) {
      const own = model.domains.filter((each) => each !== BASE_DOMAIN)
      if (own.length === 0) return null
      const name = draw.pick(own)
      return {
        method: 'DELETE',
        path: `/domains/${name}`,
        subjects: [`domain ${name}`],
        apply: (next) => void (next.domains = next.domains.filter((each) => each !== name)),
      }
    },
  },
  {
    name: 'create an env group',
    weight: 2,
    draw({ model, text }) {
      const name = GROUPS.find((each) => !model.groups[each])
      if (name === undefined) return null
      return {
        method: 'POST',
        path: '/env-groups',
        body: { name, vars: [{ key: 'G', value: text }] },
        subjects: [`group ${name}`],
        apply: (next) => void (next.groups[name] = { G: text }),
      }
    },
  },
  {
    name: 'change an env group',
    weight: 3,
    draw({ model, draw, text }) {
      const names = Object.keys(model.groups)
      if (names.length === 0) return null
      const name = draw.pick(names)
      const isWhole = draw.chance(0.4)
      const vars = [{ key: draw.pick(['G', 'H']), value: text }]
      return {
        method: isWhole ? 'PUT' : 'PATCH',
        path: `/env-groups/${name}/env`,
        body: isWhole ? { vars } : { set: vars },
        subjects: [`group ${name}`],
        apply(next) {
          const set = Object.fromEntries(vars.map(({ key, value }) => [key, value]))
          next.groups[name] = isWhole ? set : { ...next.groups[name], ...set }
        },
      }
    },
  },
  {
    name: 'delete an env group',
    weight: 1,
    draw({ model, draw }) {
      const names = Object.keys(model.groups)
      if (names.length === 0) return null
      const name = draw.pick(names)
      return {
        method: 'DELETE',
        path: `/env-groups/${name}?force`,
        subjects: [`group ${name}`],
        apply(next) {
          delete next.groups[name]
          for (const service of Object.values(next.services))
            service.groups = service.groups.filter((group) => group !== name)
        },
      }
    },
  },
  {
    name: 'create a key-value store',
    weight: 1,
    draw(scene) {
      const place = freePlace(scene)
      if (place === null || Object.keys(scene.model.datastores).length >= MAX_DATASTORES) return null
      const { environment, name } = splitPlace(place)
      const chosen = { kind: 'keyvalue', memory_limit_mb: scene.draw.pick(MEMORY_MIB) }
      return {
        method: 'POST',
        path: '/datastores',
        body: { name, environment, ...chosen },
        subjects: [place, `environment ${environment}`],
        apply: (next, answer) =>
          void (next.datastores[place] = { id: answer?.id ?? null, ...chosen, stored: null }),
      }
    },
  },
  {
    name: "change a key-value store's memory",
    weight: 1,
    draw({ model, draw }) {
      const places = Object.keys(model.datastores)
      if (places.length === 0) return null
      const place = draw.pick(places)
      const body = { memory_limit_mb: draw.pick(MEMORY_MIB) }
      return {
        method: 'PATCH',
        path: pathOf('datastores', place),
        body,
        subjects: [place],
        apply: (next) => void Object.assign(next.datastores[place]!, body),
      }
    },
  },
  {
    name: 'delete a key-value store',
    weight: 0.5,
    draw({ model, draw }) {
      const places = Object.keys(model.datastores)
      if (places.length === 0) return null
      const place = draw.pick(places)
      return {
        method: 'DELETE',
        path: pathOf('datastores', place, '', '&force'),
        subjects: [place],
        apply(next, answer) {
          delete next.datastores[place]
          if (answer === null) next.leaving.push(place)
        },
      }
    },
  },
  {
    name: 'create a token',
    weight: 2,
    draw({ model }) {
      const name = TOKENS.find((each) => !model.tokens[each])
      if (name === undefined) return null
      return {
        method: 'POST',
        path: '/auth/tokens',
        body: { name },
        needsSession: true,
        subjects: [`token ${name}`],
        apply: (next, answer) =>
          void (next.tokens[name] = { id: answer?.api_token?.id ?? null, secret: answer?.token ?? null }),
      }
    },
  },
  {
    name: 'revoke a token',
    weight: 1,
    draw({ model, draw }) {
      const names = Object.keys(model.tokens)
      if (names.length === 0) return null
      const name = draw.pick(names)
      return {
        method: 'DELETE',
        path: `/auth/tokens/${model.tokens[name]!.id}`,
        needsSession: true,
        subjects: [`token ${name}`],
        apply(next) {
          const secret = next.tokens[name]?.secret
          if (secret) next.revoked.push(secret)
          delete next.tokens[name]
        },
      }
    },
  },
]
