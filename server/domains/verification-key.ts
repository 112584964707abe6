import { useContext } from '../context.ts'

/** By which the data plane proves that it is this server's: the same after every start, and no secret of anything else. */
export function verificationKey(): string {
  return useContext().vault.fingerprint('verification of domains')
}
