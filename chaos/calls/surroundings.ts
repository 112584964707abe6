import { about, pickService, type CallKind } from './call.ts'

/** The keys of variables. */
export const VARIABLES = ['A', 'B', 'C']
const HOSTS = ['www.example.org', 'shop.example.org', 'api.example.net']

/** Calls about what surrounds a service: variables, env groups, custom domains. */
export const SURROUNDING_CALLS: readonly CallKind[] = [
  {
    name: 'set variables',
    weight: 4,
    draw(scene) {
      const found = pickService(scene, () => true)
      if (!found) return null
      const { draw, round, text } = scene
      const key = draw.pick(VARIABLES)
      const unset = draw.chance(0.3) ? VARIABLES.filter((other) => other !== key).slice(0, 1) : []
      const body = { set: [{ key, value: text }], unset }
      return about(found.place, { method: 'PATCH', below: '/env', body }, round, ({ variables }) => {
        variables[key] = text
        for (const name of unset) delete variables[name]
      })
    },
  },
  {
    name: 'replace variables',
    weight: 2,
    draw(scene) {
      const found = pickService(scene, () => true)
      if (!found) return null
      const body = { vars: [{ key: 'D', value: scene.text }] }
      return about(found.place, { method: 'PUT', below: '/env', body }, scene.round, (record) => {
        record.variables = { D: scene.text }
      })
    },
  },
  {
    name: 'link an env group',
    weight: 3,
    draw(scene) {
      const groups = Object.keys(scene.model.groups)
      const found = pickService(scene, (record) => record.groups.length < groups.length)
      if (!found) return null
      const group = groups.find((name) => !found.record.groups.includes(name))!
      const call = { method: 'POST' as const, below: '/env-groups', body: { group } }
      return about(found.place, { ...call, others: [`group ${group}`] }, scene.round, (record) => {
        record.groups.push(group)
      })
    },
  },
  {
    name: 'unlink an env group',
    weight: 2,
    draw(scene) {
      const found = pickService(scene, ({ groups }) => groups.length > 0)
      if (!found) return null
      const group = scene.draw.pick(found.record.groups)
      const call = { method: 'DELETE' as const, below: `/env-groups/${group}` }
      return about(found.place, { ...call, others: [`group ${group}`] }, scene.round, (record) => {
        record.groups = record.groups.filter((name) => name !== group)
      })
    },
  },
  {
    name: 'add a custom domain',
    weight: 2,
    draw(scene) {
      const taken = Object.values(scene.model.services).flatMap(({ settings }) => settings.custom_domains)
      const domain = HOSTS.find((host) => !taken.includes(host))
      const found = pickService(scene, ({ kind }) => kind === 'image' || kind === 'site')
      if (!found || domain === undefined) return null
      const call = { method: 'POST' as const, below: '/domains', body: { domain } }
      return about(found.place, { ...call, others: [domain] }, scene.round, ({ settings }) => {
        settings.custom_domains = [...settings.custom_domains, domain]
      })
    },
  },
  {
    name: 'remove a custom domain',
    weight: 1,
    draw(scene) {
      const found = pickService(scene, ({ settings }) => settings.custom_domains.length > 0)
      if (!found) return null
      const domain = scene.draw.pick(found.record.settings.custom_domains)
      const call = { method: 'DELETE' as const, below: `/domains/${domain}` }
      return about(found.place, { ...call, others: [domain] }, scene.round, ({ settings }) => {
        settings.custom_domains = settings.custom_domains.filter((host) => host !== domain)
      })
    },
  },
]
