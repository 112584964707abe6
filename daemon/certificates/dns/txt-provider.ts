/** Creates a TXT record in DNS and removes it. Both are idempotent and throw an `Error` that says what was refused. */
export interface TxtProvider {
  present(name: string, value: string): Promise<void>
  cleanUp(name: string, value: string): Promise<void>
}
