import type { H3Event } from 'h3'
import { browserAddress } from '../accounts/browser-address.ts'

/** The scheme, host and port that the client of a request uses. */
export function originOf({ node: { req } }: H3Event): string {
  return browserAddress(req)?.origin ?? 'http://127.0.0.1:7878'
}
