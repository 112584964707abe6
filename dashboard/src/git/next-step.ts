import type { GitAuthorization } from '../api/types.ts'

/** Where providers send the browser back to. */
export function callbackUrl(): string {
  return `${location.origin}/git/callback`
}

/** Continues to the provider, by a link or by a form; answers false when nothing is left to do. */
export function goOn({ status, method, url, fields }: GitAuthorization): boolean {
  if (status === 'connected' || url === null) return false
  if (method === 'get') location.assign(url)
  else submitForm(url, fields)
  return true
}

function submitForm(url: string, fields: Record<string, string>): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = url
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input')
    Object.assign(input, { type: 'hidden', name, value })
    form.append(input)
  }
  document.body.append(form)
  form.submit()
}
