import { storedLevel } from './filter.ts'

/** A service whose lines are labelled. */
export interface Labelled {
  id: string
  name: string
}

const INSTANCE = ',"instance":"'

/**
 * Adds service, deploy and level to a stored line, without parsing it. The result is a line as `linesOf` and the filters expect
 * it: it begins in the same way and ends with a text.
 */
export function labelLine(
  line: string,
  service: Labelled,
  deployOf: (instance: string) => string | undefined,
): string {
  const instance = instanceOf(line)
  const deploy = instance === undefined ? undefined : deployOf(instance)
  const labels = {
    service_id: service.id,
    service: service.name,
    ...(deploy === undefined ? {} : { deploy_id: deploy }),
    level: storedLevel(line),
  }
  return `${line.slice(0, -1)},${JSON.stringify(labels).slice(1)}`
}

/** The instance of a stored line; undefined without one. A quote inside the text is escaped, so this is never found there. */
export function instanceOf(line: string): string | undefined {
  const at = line.lastIndexOf(INSTANCE)
  return at === -1 ? undefined : line.slice(at + INSTANCE.length, -'"}'.length)
}
