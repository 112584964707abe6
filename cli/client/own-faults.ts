import { EXIT, Fault } from '../fault.ts'

/** The exit code of a fault of a command that otherwise ends with the code of what it ran; few programs use it. */
const OWN_FAULT = 125

/** Does a part of such a command. Wrong words keep their exit code. */
export async function withOwnFaults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Fault) || error.exitCode === EXIT.wrongWords) throw error
    throw new Fault(OWN_FAULT, error.message, { code: error.code, cause: error })
  }
}
