/**
 * How long the server waits before it acts by itself: periods, grace times and pauses that a person may notice. They are in
 * one table so that a test can start a server that waits less (test/support/server.ts); nothing else changes them. Time
 * limits are not in it: they stay next to what they limit.
 */
const USUAL = {
  /** Between two full checks of the engine's instances and datastores, for changes that no event reported. */
  sweepEveryMs: 15_000,
  /** Between two probes of a running instance, and of a datastore. */
  probeEveryMs: 5_000,
  datastoreProbeEveryMs: 10_000,
  /** Between two pings through a tunnel to a datastore, and through a shell; its client has that long to answer. */
  tunnelProbeEveryMs: 30_000,
  /** How long the ticket of a new shell is valid, how long nothing may pass through a shell, and how long it may be open. */
  shellTicketMs: 30_000,
  shellIdleMs: 15 * 60_000,
  shellLastsMs: 8 * 3_600_000,
  /** How long a running instance's probe may fail until it leaves the routes, unless it is the last one. */
  failingLeavesAfterMs: 15_000,
  /** How long it may fail until the instance is restarted. */
  failingRestartsAfterMs: 60_000,
  /** Shorter downtimes of a service are not reported, because instances are started again within seconds. */
  downAfterMs: 10_000,
  /** How long a worker must be up to be ready. */
  workerUpMs: 3_000,
  /** A program that listens only on one wrong port for this long is not about to open the right one. */
  portSettlesMs: 10_000,
  /** How long a start is considered normal; until then its log stays short. */
  quietStartMs: 10_000,
  /** The pause before a program that stopped is started again. It doubles each time, up to the second value. */
  crashPauseMs: 1_000,
  maxCrashPauseMs: 60_000,
  /**
   * How long an instance keeps running after it left rotation, because connections between containers do not pass the data
   * plane.
   */
  afterRotationMs: 5_000,
  /** The longest between the signal that asks a program to stop and the one that kills it, whatever its service allows. */
  longestStopMs: 300_000,
  /** The pause before an engine that does not answer is asked again. */
  engineRetryMs: 2_000,
  /** The pause before reading an instance's output is tried again after a failure. */
  outputRetryMs: 5_000,
  /** The pause before a failed log drain is tried again. It doubles with each failure, up to the second value. */
  drainPauseMs: 1_000,
  maxDrainPauseMs: 60_000,
  /** Between two requests that say that the server and its engine are well. */
  heartbeatEveryMs: 60_000,
  /** Between two checks of domains and of certificates. */
  domainsEveryMs: 5_000,
  certificatesEveryMs: 5_000,
  /** How long a new version of the server is judged before it may change anything. */
  trialMs: 60_000,
}

export type Schedule = Readonly<typeof USUAL>

/** The variable in which a test sets shorter waits, as JSON. */
const VARIABLE = 'DEPLOYER_TEST_SCHEDULE'

export const schedule: Schedule = { ...USUAL, ...given(process.env[VARIABLE]) }

/** Throws when a name is unknown or a value is not a number of milliseconds. */
function given(text: string | undefined): Partial<Schedule> {
  if (!text) return {}
  const values = JSON.parse(text) as Record<string, unknown>
  for (const [name, ms] of Object.entries(values)) {
    if (!(name in USUAL)) throw new Error(`${VARIABLE}: there is no ${name}`)
    if (typeof ms !== 'number' || !(ms > 0)) throw new Error(`${VARIABLE}: ${name} must be milliseconds`)
  }
  return values
}
