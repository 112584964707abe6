import type { Authorization, Client, Order } from 'acme-client'
import { hasNextKey, nextKey } from '#server/certificates/files.ts'
import { assembleChain, type KeyedChain } from '#server/certificates/pem.ts'
import { getCertificate, setOrder } from '#server/certificates/store.ts'
import { messageOf } from '#server/errors.ts'
import type { loadAcme } from './authority.ts'
import { AcmeProblem } from './problem.ts'
import { retryAfterOf, settled } from './settled.ts'

export type ChallengeType = 'http-01' | 'tls-alpn-01' | 'dns-01'

/** How control of a name is proved to the authority. */
export interface Prover {
  type: ChallengeType
  /** Publishes the proof where the authority looks for its type. Returns a function that removes it. */
  show(name: string, token: string, proof: string, authorization: Authorization): Promise<() => Promise<void>>
}

type Acme = Awaited<ReturnType<typeof loadAcme>>

/**
 * Completes an order for a name, or continues the one that a restart cut off: the authority says which step is next,
 * nothing is remembered. `replaces` names the certificate that it renews (RFC 9773 section 5), if there is renewal advice.
 */
export async function obtainCertificate(
  client: Client,
  acme: Acme,
  name: string,
  prover: Prover,
  replaces: string | null,
): Promise<KeyedChain> {
  let order = (await unfinishedOrder(client, name)) ?? (await newOrder(client, name, replaces))
  const makeKey = async () => (await acme.crypto.createPrivateEcdsaKey('P-256')).toString()
  // Stored before the authority signs it: the key of a certificate must not be lost with the process.
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
  return checkChain(name, await client.getCertificate(order), key)
}

/** Returns the issued chain after checks. Throws what is wrong with it, and the order is not continued. */
function checkChain(name: string, chain: string, key: string): KeyedChain {
  try {
    const keyed = assembleChain(chain, key, 'left out')
    const { hosts } = keyed.facts
    if (!hosts.includes(name)) throw new Error(`certificate: it is for ${hosts.join(', ')}, not for ${name}`)
    return keyed
  } catch (error) {
    setOrder(name, null)
    throw new Error(`the issued certificate cannot be used: ${messageOf(error)}`, { cause: error })
  }
}

/** Waits until the authority has processed an order. */
function settledOrder(client: Client, order: Order): Promise<Order> {
  return settled(() => client.getOrder(order))
}

/** Returns the order that was in progress when the server stopped; null if there is none that can still succeed. */
async function unfinishedOrder(client: Client, name: string): Promise<Order | null> {
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
      // An earlier order has replaced it, for example one whose URL was lost with the process: order without `replaces`.
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
      `the certificate authority does not offer ${prover.type} for ${authorization.identifier.value}`,
    )
  const proof = await client.getChallengeKeyAuthorization(challenge)
  const { value } = authorization.identifier
  const removeProof = await prover.show(value, challenge.token, proof, authorization)
  try {
    await client.completeChallenge(challenge)
    await settled(() => readAuthorization(client, authorization))
  } catch (error) {
    // An authority that asks for a retry later is not asked for the reason.
    throw (retryAfterOf(error) > 0 ? null : await refusalOf(client, authorization)) ?? error
  } finally {
    await removeProof()
  }
}

/** Returns what the authority found wrong with a proof, in its own words; null if it did not say. */
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
