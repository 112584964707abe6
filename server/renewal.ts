/**
 * Does something with a credential that is kept between uses. The other side may refuse it before its time: `renew` then
 * gives another, with which it is tried once more, and null when the fault is another one or there is no other credential.
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
