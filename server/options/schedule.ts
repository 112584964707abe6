/**
 * How long the server waits before it acts by itself: periods, graces and pauses that a person may see pass. They are in one
 * table so that a test can start a server that waits less (test/support/server.ts); nothing else sets them. Limits that end
 * what hangs are not in it: they stay beside what they bound.
 */
const USUAL = {
  /** A whole look at the engine, for what no event reported: instances and datastores. */
  sweepEveryMs: 15_000,
  /** Between two probes of a running instance, and of a datastore. */
  probeEveryMs: 5_000,
  datastoreProbeEveryMs: 10_000,
  /** A running instance whose probe fails for this long leaves the routes, unless it is the last. */
  failingLeavesAfterMs: 15_000,
  /** And is restarted after this long. */
  failingRestartsAfterMs: 60_000,
  /** A service that is down for less is no news: instances are started again within seconds. */
  downAfterMs: 10_000,
  /** A worker that is up for this long is ready. */
  workerUpMs: 3_000,
  /** A program that listens on one other port alone for this long is not on its way to the right one. */
  portSettlesMs: 10_000,
  /** A start is as it should be until then, and its log stays short. */
  quietStartMs: 10_000,
  /** Before a program that ended is started again; each further end doubles it, up to the second. */
  crashPauseMs: 1_000,
  maxCrashPauseMs: 60_000,
  /** Connections between containers do not pass the data plane: an instance outlives its rotation by this. */
  afterRotationMs: 5_000,
  /** From the signal that asks a program to end to the one that ends it, in whole seconds. */
  stopGraceMs: 30_000,
  /** Before an engine that does not answer is asked again. */
  engineRetryMs: 2_000,
  /** Before the output of an instance that cannot be read is tried again. */
  outputRetryMs: 5_000,
  /** Before a log drain that failed is tried again; each further failure doubles it, up to the second. */
  drainPauseMs: 1_000,
  maxDrainPauseMs: 60_000,
  /** Between two looks at domains and at certificates. */
  domainsEveryMs: 5_000,
  certificatesEveryMs: 5_000,
}

export type Schedule = Readonly<typeof USUAL>

/** The variable in which a test says what to wait less for, as JSON. */
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
