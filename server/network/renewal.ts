/**
 * Uses a credential that is kept between uses. When the other side refuses it, `renew` gives another one and `use` is tried once
 * more. `renew` answers null when the fault is something else or there is no other credential.
 */
export async function withRenewal<Credential, Result>(
  kept: Credential,
  use: (credential: Credential) => Promise<Result>,
  renew: (fault: unknown, refused: Credential) => Promise<Credential | null>,
): Promise<Result> {
  try {
    return await use(kept)
  } catch (fault) {
    const other = await renew(fault, kept)
    if (other === null) throw fault
    return await use(other)
  }
}
