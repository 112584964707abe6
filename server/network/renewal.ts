/**
 * Uses a stored credential. When the other side refuses it, `renew` gets another one and `use` is called once more. `renew`
 * returns null when the failure has another cause or there is no other credential.
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
