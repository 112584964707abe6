import type { Comparison, Discarded } from '#server/deploys/comparison-schema.ts'
import { linesOf } from '#server/deploys/difference-lines.ts'
import { discardNames } from '#server/deploys/discard-names.ts'
import type { Call } from '../../call.ts'
import type { Output } from '../../output.ts'
import { confirm } from '../ask.ts'
import { pathTo, segment, serviceOf } from '../target.ts'
import { withApi } from '../with-api.ts'

/** Prints what is saved of a service and not live. */
export async function changes(call: Call): Promise<void> {
  const { name, comparison } = await withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    const query = { environment: service.environment }
    const comparison = await api.get<Comparison>(pathTo('services', service, '/changes'), query)
    return { name: service.name, comparison }
  })
  const { from } = comparison
  print(
    call.out,
    comparison,
    from === null ? `Nothing of ${name} is live yet.` : `Everything saved is live: ${from.id}`,
  )
}

/** Puts what is saved of a service back to what is live, once it is confirmed. */
export async function discard(call: Call): Promise<void> {
  const { out } = call
  const answer = await withApi(call, async (api) => {
    const service = await serviceOf(call, api)
    const query = { environment: service.environment }
    const path = pathTo('services', service, '/changes')
    const comparison = await api.get<Comparison>(path, query)
    const { count } = comparison
    if (call.mayAsk && !call.has('yes'))
      for (const text of linesOf(comparison)) out.note(out.cleaned(text, process.stderr))
    if (count > 0) await confirm(call, `Discard what is saved of ${service.name} and not live (${count})?`)
    return api.send<Discarded>('POST', `${path}/discard`, discardNames(comparison), { query })
  })
  if (out.isJson) return out.json(answer)
  for (const text of answer.discarded) out.line(out.cleaned(text))
  for (const { change, reason } of answer.kept) out.note(`Not discarded: ${out.cleaned(change)}: ${reason}`)
  if (answer.discarded.length + answer.kept.length === 0) out.note('There was nothing to discard.')
}

/** Prints what a deploy changed against the one that was live before it, or another one. */
export async function compare(call: Call): Promise<void> {
  const [id, other] = call.words as [string, string | undefined]
  const comparison = await withApi(call, (api) =>
    api.get<Comparison>(`/deploys/${segment(id)}/compare`, { with: other ?? null }),
  )
  const { from, to } = comparison
  if (from !== null && to !== null && from.commit_sha !== to.commit_sha && !call.out.isJson)
    call.out.line(`commit: ${from.commit_sha ?? 'none'} -> ${to.commit_sha ?? 'none'}`)
  print(
    call.out,
    comparison,
    from === null ? 'There is no earlier version to compare with.' : `Set up as ${from.id} is.`,
  )
}

function print(out: Output, comparison: Comparison, emptyNote: string): void {
  if (out.isJson) return out.json(comparison)
  for (const text of linesOf(comparison)) out.line(out.cleaned(text))
  if (comparison.count === 0) out.note(emptyNote)
  const { unknown } = comparison
  if (unknown.length > 0) out.note(`Not known, since one of the two did not record it: ${unknown.join(', ')}`)
}
