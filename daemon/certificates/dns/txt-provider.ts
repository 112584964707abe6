/** Puts a TXT record into DNS and takes it out again. Each is idempotent and throws `Error` that says what was refused. */
export interface TxtProvider {
  present(name: string, value: string): Promise<void>
  cleanUp(name: string, value: string): Promise<void>
}
