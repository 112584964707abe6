import type { TestServer } from './server.ts'

/** A line of the text exposition format: its name, labels and value. */
export interface ExposedSample {
  name: string
  labels: Record<string, string>
  value: number
}

/** The server's metrics for Prometheus, as text. */
export async function scrape(server: TestServer): Promise<string> {
  const headers = { authorization: `Bearer ${server.token}` }
  return (await server.request('GET', '/metrics', undefined, { headers })).body as string
}

/** The samples of a text whose label values contain no quotes. */
export function samplesIn(text: string): ExposedSample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key!, text!])
      return {
        name: name!,
        labels: Object.fromEntries(pairs) as Record<string, string>,
        value: Number(value),
      }
    })
}
