import type { Delivery } from '#server/hooks/delivery.ts'
import type { Branches, GitConnection, Provider, Repositories, Repository } from '#server/git/schema.ts'
import type { z } from 'zod'
import type { Call } from '../../call.ts'
import { printList } from '../columns.ts'
import { timeText } from '../figures.ts'
import { segment } from '../target.ts'
import { withApi } from '../with-api.ts'

/** The API's words are neutral; people know the names. */
const PROVIDERS: Record<Provider, string> = { gitprov_a: 'GitHub', gitprov_b: 'GitLab' }
const SHORT_SHA = 7

const CONNECTIONS = '/git/connections'
const NO_CONNECTION = 'There are no git connections. Connect an account in the dashboard, under Git.'

/** Lists the accounts at git providers that are connected. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const connections = await withApi(call, (api) => api.get<GitConnection[]>(CONNECTIONS))
  printList(out, connections, {
    columns: [
      { title: 'id', text: ({ id }) => id, isWhole: true },
      { title: 'provider', text: ({ provider }) => PROVIDERS[provider] },
      { title: 'account', text: ({ account }) => account ?? '' },
      { title: 'kind', text: ({ auth }) => auth },
      { title: 'status', text: ({ status }) => status },
      { title: 'services', text: ({ services }) => services.join(', ') },
    ],
    name: ({ id }) => id,
    emptyNote: NO_CONNECTION,
  })
}

/** Lists the repositories that a connection, or all of them, may read. */
export async function repositories(call: Call): Promise<void> {
  const { out } = call
  const answers = await withApi(call, async (api) => {
    const ids = call.words[0] === undefined ? await connected() : [call.words[0]]
    const path = (id: string) => `${CONNECTIONS}/${segment(id)}/repositories`
    return Promise.all(ids.map((id) => api.get<z.infer<typeof Repositories>>(path(id))))

    async function connected(): Promise<string[]> {
      const all = await api.get<GitConnection[]>(CONNECTIONS)
      return all.filter(({ status }) => status === 'connected').map(({ id }) => id)
    }
  })
  const rows = answers.flatMap(({ repositories }) => repositories)
  printList<Repository>(out, rows, {
    columns: [
      { title: 'name', text: ({ full_name }) => full_name, isWhole: true },
      { title: 'branch', text: ({ default_branch }) => default_branch ?? '' },
      { title: 'access', text: (row) => (row.private ? 'private' : 'public') },
      { title: 'changed', text: ({ updated_at }) => timeText(out, updated_at) },
      { title: 'url', text: ({ clone_url }) => clone_url },
    ],
    name: ({ full_name }) => full_name,
    emptyNote: answers.length === 0 ? NO_CONNECTION : 'The connections may read no repository.',
  })
  if (answers.some(({ truncated }) => truncated))
    out.note('There are more; only 1,000 of a connection are listed.')
}

/** Lists the branches of a repository, as its remote has them now. */
export async function branches(call: Call): Promise<void> {
  const { out, words } = call
  const answer = await withApi(call, (api) =>
    api.get<z.infer<typeof Branches>>('/git/branches', { repo_url: words[0] }),
  )
  if (out.isJson) return out.json(answer)
  const { default_branch: main } = answer
  for (const branch of answer.branches)
    out.line(`${out.cleaned(branch)}${out.isTerminal && branch === main ? ' *' : ''}`)
}

/** Lists what the push webhook has received. */
export async function deliveries(call: Call): Promise<void> {
  const { out } = call
  const query = { limit: call.text('limit'), verdict: call.text('verdict') }
  const rows = await withApi(call, (api) => api.get<Delivery[]>('/git/deliveries', query))
  printList(out, rows, {
    columns: [
      { title: 'at', text: ({ at }) => timeText(out, at) },
      { title: 'event', text: ({ event }) => event ?? '' },
      { title: 'repository', text: ({ repository }) => repository ?? '' },
      { title: 'ref', text: ({ ref }) => ref ?? '' },
      { title: 'commit', text: ({ commit }) => commit?.slice(0, SHORT_SHA) ?? '' },
      { title: 'verdict', text: ({ verdict }) => verdict },
      { title: 'why', text: ({ reason }) => reason ?? '' },
      { title: 'deploys', text: (row) => row.deploys.join(', '), isWhole: true },
    ],
    name: ({ id }) => id,
    emptyNote: 'No push was received yet. The dashboard tells the address of the webhook, under Git.',
  })
}
