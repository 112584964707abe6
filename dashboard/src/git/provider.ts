import type { GitConnection } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'

/** The names of the providers. */
export const PROVIDER: Record<GitConnection['provider'], string> = {
  gitprov_a: 'GitHub',
  gitprov_b: 'GitLab',
}

/** How a connection signs in. */
export const AUTH: Record<GitConnection['auth'], string> = {
  hosted_app: 'Private app',
  oauth: 'OAuth',
  token: 'Personal access token',
}

export const STATUS: Record<GitConnection['status'], { tone: Tone; label: string }> = {
  connected: { tone: 'success', label: 'Connected' },
  pending: { tone: 'warning', label: 'Not finished' },
}

/** A title that tells a connection from the others. */
export function connectionTitle({ provider, base_url, account }: GitConnection): string {
  const place = base_url === null ? PROVIDER[provider] : `${PROVIDER[provider]} at ${new URL(base_url).host}`
  return account === null ? place : `${account} on ${place}`
}
