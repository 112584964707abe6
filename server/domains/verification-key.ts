import { useContext } from '../context.ts'

/** Returns the key by which the data plane proves that it belongs to this server. It is the same after every start. */
export function verificationKey(): string {
  return useContext().vault.fingerprint('verification of domains')
}
