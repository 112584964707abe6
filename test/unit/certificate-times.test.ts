import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { OutagePause, boundedRetryAfterMs, retryMs } from '#daemon/certificates/backoff.ts'
import { isNearEnd } from '#daemon/certificates/expiry.ts'
import { isDue } from '#daemon/certificates/needs.ts'
import { readRetryAfter } from '#server/network/answers.ts'
import { adviceOf, certificateId, isAdviceOld, renewAt } from '#daemon/certificates/renewal.ts'
import { CheckSchedule } from '#daemon/domains/check-schedule.ts'
import type { CertificateRow } from '#server/certificates/store.ts'
import { readDnsProvider } from '#server/options/dns-provider.ts'
import { RateLimit } from '#server/work/rate-limit.ts'

const MINUTE = 60_000
/** The example of RFC 9773, appendix A. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`
const DAY = 24 * 60 * MINUTE

describe('a host that could not get a certificate', () => {
  it('waits a minute, then twice as long each time, up to 12 hours, or up to a fifth longer', () => {
    expect([1, 2, 3, 5].map((failures) => retryMs(failures, 0) / MINUTE)).toEqual([1, 2, 4, 16])
    expect(retryMs(50, 0)).toBe(12 * 60 * MINUTE)
    expect(retryMs(1, 1)).toBe(1.2 * MINUTE)
  })

  it('does not wait longer because of a record written under a clock that was ahead', () => {
    const now = Date.UTC(2026, 10, 22)
    const failed = (updated_at: number, retry_at: number) =>
      ({ status: 'failed', updated_at, retry_at }) as CertificateRow
    expect(isDue(failed(now - MINUTE, now + 7 * DAY), 'https://ca.test/', now)).toBe(false)
    expect(isDue(failed(now + 365 * DAY, now + 366 * DAY), 'https://ca.test/', now)).toBe(true)
    expect([null, now, now + DAY, now + 2 * DAY].map((until) => isAdviceOld(until, now))).toEqual([
      true,
      true,
      false,
      true,
    ])
  })

  it('waits as long as the authority says', () => {
    expect(readRetryAfter('120')).toBe(120_000)
    expect(readRetryAfter('Sun, 22 Nov 2026 00:01:00 GMT', Date.UTC(2026, 10, 22))).toBe(MINUTE)
    expect(readRetryAfter('Sun, 22 Nov 2020 00:01:00 GMT')).toBe(0)
    expect([readRetryAfter(undefined), readRetryAfter('soon')]).toEqual([null, null])
    expect([0, 120_000, 10_000 * DAY].map(boundedRetryAfterMs)).toEqual([MINUTE, 120_000, 30 * DAY])
  })
})

describe('an authority', () => {
  it('is asked for so many new orders a minute', () => {
    let now = 0
    const gate = new RateLimit(2, MINUTE, () => now)
    const at = (ms: number): RateLimit => {
      now = ms
      return gate
    }
    expect(at(0).left).toBe(2)
    expect([0, 1, 2, MINUTE].map((ms) => at(ms).pass())).toEqual([true, true, false, true])
    expect([at(MINUTE).left, at(MINUTE + 1).left]).toEqual([0, 1])
    expect([at(MINUTE).waitMs, at(MINUTE + 1).waitMs]).toEqual([1, 0])
  })

  it('that does not answer is left alone, longer each time, until it does', () => {
    const away = new OutagePause()
    expect(away.isOver(0)).toBe(true)
    expect(away.failed(null, 0)).toBe(30_000)
    // Another order of the same moment says nothing new.
    expect(away.failed(null, 10_000)).toBe(20_000)
    expect(away.isOver(29_999)).toBe(false)
    expect(away.failed(null, 30_000)).toBe(60_000)
    away.answered()
    expect(away.isOver(30_001)).toBe(true)
    expect(away.failed(120 * MINUTE, 40_000)).toBe(120 * MINUTE)
  })

  it('that says when it will answer again is left alone until then, at least as long as otherwise, at most a day', () => {
    const away = new OutagePause()
    expect(away.failed(1_000, 0)).toBe(30_000)
    expect(away.failed(0, 30_000)).toBe(60_000)
    expect(away.failed(30 * DAY, 90_000)).toBe(DAY)
  })
})

describe('a certificate', () => {
  it('is renewed after two thirds of its life', () => {
    expect(renewAt({ notBefore: 0, notAfter: 90 * DAY }, 0)).toBe(60 * DAY)
    expect(renewAt({ notBefore: 0, notAfter: 90 * DAY }, 20 * DAY)).toBe(60 * DAY)
  })

  it('that is issued late in its life, as by a clock that is ahead, lasts half of what is left', () => {
    expect(renewAt({ notBefore: 0, notAfter: 90 * DAY }, 70 * DAY)).toBe(80 * DAY)
  })

  it('is renewed at a moment of the window that its authority advises, which is chosen once', () => {
    const window = { start: '2026-01-01T00:00:00Z', end: '2026-01-03T00:00:00Z' }
    const start = Date.parse(window.start)
    expect(adviceOf(window, 0, 0.5)).toBe(start + DAY)
    expect(adviceOf(window, start + 1, 0.5)).toBe(start + 1)
    expect(adviceOf(undefined, 7)).toBe(7)
    expect(adviceOf({ start: window.end, end: window.start }, 7)).toBe(7)
  })

  it('is identified to its authority as RFC 9773 says', () => {
    expect(certificateId(new X509Certificate(EXAMPLE))).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE')
  })

  it('is near its end in the last 14 days, a short-lived one in the last sixth', () => {
    expect(isNearEnd(0, 90 * DAY, 75 * DAY)).toBe(false)
    expect(isNearEnd(0, 90 * DAY, 77 * DAY)).toBe(true)
    expect(isNearEnd(0, 6 * DAY, 4.9 * DAY)).toBe(false)
    expect(isNearEnd(0, 6 * DAY, 5.1 * DAY)).toBe(true)
  })
})

describe('a name that does not point here', () => {
  it('is checked every 5 s for 10 minutes, each minute for an hour, then every 10 minutes', () => {
    let now = 0
    const checks = new CheckSchedule(6 * 60 * MINUTE, () => now)
    const waitAt = (moment: number) => {
      now = moment
      checks.done('x', false)
      return checks.waitMs('x')
    }
    expect(checks.isDue('x')).toBe(true)
    expect([0, 9 * MINUTE, 11 * MINUTE, 69 * MINUTE, 71 * MINUTE, 10 * DAY].map(waitAt)).toEqual([
      5_000,
      5_000,
      MINUTE,
      MINUTE,
      10 * MINUTE,
      10 * MINUTE,
    ])
    checks.done('x', true)
    expect(checks.isHere('x')).toBe(true)
    expect(checks.waitMs('x')).toBe(6 * 60 * MINUTE)
    expect(waitAt(20 * DAY)).toBe(5_000)
    expect(checks.isHere('x')).toBe(false)
  })
})

describe('--acme-dns', () => {
  const read = (kind: string, variables: Record<string, string>) =>
    readDnsProvider(
      kind,
      Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [`DEPLOYER_ACME_DNS_${name}`, value]),
      ),
    )

  it('reads what its kind needs from variables', () => {
    expect(read('exec', { EXEC: '/bin/true' })).toEqual({ kind: 'exec', program: '/bin/true' })
    expect(read('cloudflare', { TOKEN: 't' })).toEqual({ kind: 'cloudflare', token: 't' })
    expect(read('rfc2136', { SERVER: 'ns.example.com' })).toEqual({
      kind: 'rfc2136',
      server: 'ns.example.com:53',
      tsig: null,
    })
    expect(
      read('rfc2136', {
        SERVER: '[2001:db8::1]:5353',
        TSIG_NAME: 'k',
        TSIG_SECRET: 's',
        TSIG_ALGORITHM: 'HMAC-SHA512.',
      }),
    ).toMatchObject({
      server: '[2001:db8::1]:5353',
      tsig: { name: 'k', secret: 's', algorithm: 'hmac-sha512' },
    })
  })

  it.each([
    ['exec', {}, /DEPLOYER_ACME_DNS_EXEC/],
    ['exec', { EXEC: 'true' }, /absolute path/],
    ['exec', { EXEC: '/nowhere/hook' }, /absolute path/],
    ['rfc2136', {}, /DEPLOYER_ACME_DNS_SERVER/],
    ['rfc2136', { SERVER: 'a b' }, /host/],
    ['rfc2136', { SERVER: 'ns', TSIG_NAME: 'k' }, /TSIG_SECRET/],
    ['rfc2136', { SERVER: 'ns', TSIG_NAME: 'k', TSIG_SECRET: 's', TSIG_ALGORITHM: 'md5' }, /hmac-sha256/],
    ['cloudflare', {}, /DEPLOYER_ACME_DNS_TOKEN/],
    ['route53', {}, /exec, rfc2136 or cloudflare/],
  ])('%s with %j is refused', (kind, variables, why) => {
    expect(() => read(kind, variables)).toThrow(why)
  })
})
