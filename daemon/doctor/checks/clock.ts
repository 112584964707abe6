import { rootCertificates } from 'node:tls'
import { seeksCertificates } from '#server/certificates/hosts.ts'
import { isLocalName } from '#server/domains/names.ts'
import { messageOf } from '#server/errors.ts'
import { judgedAgents } from '#server/network/agents.ts'
import { DESTINATIONS } from '#server/network/judged.ts'
import { request } from '#server/network/request.ts'
import { VERSION } from '#server/version.ts'
import { failed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'
import type { Facts } from '../facts.ts'

/** A difference that is no longer the network: schedules and logs are off by as much. */
const WARNING_MS = 30_000
/** Authorities refuse requests, and their certificates seem not to be valid yet. */
const FAILED_MS = 5 * 60_000
/** Less than a check may take. */
const AUTHORITY_MS = 2_000
/** A date in a header has whole seconds (RFC 9110 section 5.6.7). */
const DATE_STEP_MS = 1_000
/** What TLS says about an authority's certificate when the clock is wrong. */
const CLOCK_FAULTS = ['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']

const SET_CLOCK =
  'Set the clock and keep it set: timedatectl set-ntp true, with systemd-timesyncd or chrony installed; timedatectl shows the state.'

export const clock: Check = {
  id: 'clock',
  title: 'Clock',
  fix: SET_CLOCK,
  async look(facts, signal) {
    const [authority, engine] = await Promise.all([askAuthority(facts, signal), facts.engineInfoIfAny()])
    const verdicts = authority ? [authority] : []
    const gapMs = engine?.clockGapMs ?? null
    if (gapMs !== null) verdicts.push(judgeGap(gapMs, "the engine's"))
    return verdicts.length > 0
      ? worstOf(verdicts)
      : skipped(
          'there is nothing to compare it with: the engine does not answer, and no certificates are needed',
        )
  },
}

/** Judges how far another clock, whose name follows, is ahead of this host's. */
export function judgeGap(gapMs: number, whose: string): Verdict {
  const size = Math.abs(gapMs)
  const seconds = Math.round(size / 1_000)
  const text = `the clock is ${seconds} s ${gapMs > 0 ? 'behind' : 'ahead of'} ${whose}`
  if (size >= FAILED_MS) return failed(text, SET_CLOCK)
  return size >= WARNING_MS ? warning(text, SET_CLOCK) : passed(`the clock agrees with ${whose}`)
}

/** Compares the clock with that of the certificate authority; null where no certificates are ordered. */
async function askAuthority({ options, recordsFault }: Facts, signal: AbortSignal): Promise<Verdict | null> {
  const { acme, tls, baseDomain } = options
  const isNeeded = recordsFault === null ? seeksCertificates() : tls !== 'off' && !isLocalName(baseDomain)
  if (!isNeeded) return null
  const url = new URL(acme.directory)
  const ca = acme.trusted === null ? {} : { ca: [...rootCertificates, acme.trusted] }
  const askedAt = Date.now()
  try {
    const answer = await request({
      url,
      headers: { 'user-agent': `deployer/${VERSION}` },
      agents: judgedAgents(() => DESTINATIONS, ca),
      signal: AbortSignal.any([signal, AbortSignal.timeout(AUTHORITY_MS)]),
    })
    answer.destroy()
    const date = Date.parse(answer.headers.date ?? '')
    if (Number.isNaN(date)) return null
    return judgeGap(dateGap(date, askedAt, Date.now()), `that of ${url.host}`)
  } catch (error) {
    const { code = messageOf(error) } = error as NodeJS.ErrnoException
    if (CLOCK_FAULTS.includes(code))
      return failed(
        `by this clock the certificate of ${url.host} is not valid (${code}): the clock is wrong`,
        SET_CLOCK,
      )
    return warning(
      `the certificate authority ${url.host} does not answer (${code}), so certificates cannot be renewed now`,
      `See why with curl -v ${url.origin}/ on this host: outgoing connections to it must be allowed.`,
    )
  }
}

/** How far the moment of a header is outside the time in which it was asked for. */
export function dateGap(date: number, askedAt: number, answeredAt: number): number {
  if (date > answeredAt) return date - answeredAt
  return Math.min(0, date + DATE_STEP_MS - askedAt)
}
