import type { Authorization, Client, Order } from 'acme-client'
import { hasNextKey, nextKey } from '#server/certificates/files.ts'
import { assembleChain, type KeyedChain } from '#server/certificates/pem.ts'
import { getCertificate, setOrder } from '#server/certificates/store.ts'
import { messageOf } from '#server/errors.ts'
import type { loadAcme } from './authority.ts'
import { AcmeProblem } from './problem.ts'
import { laterBy, settled } from './settled.ts'

export type ChallengeType = 'http-01' | 'tls-alpn-01' | 'dns-01'

/** How it is proved that a name is this server's. */
export interface Prover {
  type: ChallengeType
  /** Shows the proof, in the form of its type, where the authority looks; answers what takes it away. */
  show(name: string, token: string, proof: string, authorization: Authorization): Promise<() => Promise<void>>
}

type Acme = Awaited<ReturnType<typeof loadAcme>>

/**
 * Brings an order for a name to its end, or takes up the one that a restart cut off: each step is asked of the authority,
 * not remembered. `replaces` names the certificate that it renews (RFC 9773 section 5), for an authority that gives advice.
 */
export async function obtainCertificate(
  client: Client,
  acme: Acme,
  name: string,
  prover: Prover,
  replaces: string | null,
): Promise<KeyedChain> {
  let order = (await formerOrder(client, name)) ?? (await newOrder(client, name, replaces))
  const makeKey = async () => (await acme.crypto.createPrivateEcdsaKey('P-256')).toString()
  // Kept before the authority signs for it: what is signed must not be lost with the process.
  const key = await nextKey(name, makeKey)
  if (order.status === 'pending') {
    for (const authorization of await client.getAuthorizations(order))
      await prove(client, authorization, prover)
    order = await settledOrder(client, order)
  }
  if (order.status === 'ready') {
    const [, request] = await acme.crypto.createCsr({ altNames: [name] }, key)
    order = await client.finalizeOrder(order, request)
  }
  if (order.status !== 'valid') order = await settledOrder(client, order)
  return usableFor(name, await client.getCertificate(order), key)
}

/** What was issued for a name, when it can be shown. Throws what is wrong with it; its order is then done with. */
function usableFor(name: string, chain: string, key: string): KeyedChain {
  try {
    const keyed = assembleChain(chain, key, 'left out')
    const { hosts } = keyed.facts
    if (!hosts.includes(name)) throw new Error(`certificate: it names ${hosts.join(', ')}, not ${name}`)
    return keyed
  } catch (error) {
    setOrder(name, null)
    throw new Error(`what the authority gave cannot be used: ${messageOf(error)}`, { cause: error })
  }
}

/** Waits until the authority has gone on with an order. */
function settledOrder(client: Client, order: Order): Promise<Order> {
  return settled(() => client.getOrder(order))
}

/** The order that was under way when the server ended; null when there is none that can still end well. */
async function formerOrder(client: Client, name: string): Promise<Order | null> {
  const url = getCertificate(name)?.order_url ?? null
  if (url === null || !hasNextKey(name)) return null
  try {
    const order = await client.getOrder({ url } as Order)
    return order.status === 'invalid' ? null : order
  } catch (error) {
    if (error instanceof AcmeProblem) return null
    throw error
  }
}

async function newOrder(client: Client, name: string, replaces: string | null): Promise<Order> {
  const identifiers = [{ type: 'dns', value: name }]
  const order = await client
    .createOrder({ identifiers, ...(replaces === null ? {} : { replaces }) })
    .catch((error: unknown) => {
      // An earlier order has named it, as one does whose address was lost with the process: this is one of its own.
      if (!(error instanceof AcmeProblem) || error.kind !== 'alreadyReplaced') throw error
      return client.createOrder({ identifiers })
    })
  setOrder(name, order.url)
  return order
}

async function prove(client: Client, authorization: Authorization, prover: Prover): Promise<void> {
  if (authorization.status === 'valid') return
  const challenge = authorization.challenges.find(({ type }) => type === prover.type)
  if (!challenge)
    throw new Error(
      `the certificate authority offers no ${prover.type} for ${authorization.identifier.value}`,
    )
  const proof = await client.getChallengeKeyAuthorization(challenge)
  const { value } = authorization.identifier
  const takeAway = await prover.show(value, challenge.token, proof, authorization)
  try {
    await client.completeChallenge(challenge)
    await settled(() => readAuthorization(client, authorization))
  } catch (error) {
    // Who says to come later is not asked why.
    throw (laterBy(error) > 0 ? null : await refusalOf(client, authorization)) ?? error
  } finally {
    await takeAway()
  }
}

/** What an authority found wrong with a proof, in its own words; null when it did not say. */
async function refusalOf(client: Client, authorization: Authorization): Promise<AcmeProblem | null> {
  const now = await readAuthorization(client, authorization).catch(() => null)
  const challenges = (now?.challenges ?? []) as { error?: { type?: string; detail?: string } }[]
  const found = challenges.find(({ error }) => error?.detail)?.error
  return found ? new AcmeProblem(found.type?.split(':').at(-1) ?? '', found.detail!, null) : null
}

async function readAuthorization(client: Client, { url }: Authorization): Promise<Authorization> {
  const [read] = await client.getAuthorizations({ authorizations: [url] } as Order)
  return read!
}
