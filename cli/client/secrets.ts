import { EXIT, Fault } from '../fault.ts'

/** A secret that the server showed. Throws Fault when it is null, because the token sees none. */
export function shown(secret: string | null): string {
  if (secret !== null) return secret
  throw new Fault(
    EXIT.notSignedIn,
    'this token sees no secrets; use one that does, such as that of deployer login',
  )
}
