import { z } from 'zod'
import type { Reach } from './reach.ts'

/** What a caller sees of an answer. */
export interface Sight {
  secrets: boolean
  /** Null for a caller who reaches everything. */
  reach: Reach | null
  /** What stands in for a secret that is not shown; null when absent. */
  inPlace?: (secret: unknown) => unknown
}

/** What is shown of a value in the form of a schema; undefined when it is not for this caller. */
type Show = (value: unknown, sight: Sight) => unknown

/** How much of a resource is for callers with a reach, by its schema: the whole, a part, or undefined for nothing. */
const parts = z.registry<{ partFor: unknown }>()

/**
 * A field of an answer that is a secret: null for callers without `secrets`. The mark is also in the OpenAPI document, as
 * `x-secret`.
 */
export function secret<S extends z.ZodType>(schema: S) {
  return schema.nullable().meta({ 'x-secret': true })
}

/**
 * Declares that values of this schema belong to an environment or a service: `partFor` returns what of one a restricted
 * caller may see, or undefined for nothing.
 */
export function reachable<S extends z.ZodType>(
  schema: S,
  partFor: (value: z.output<S>, reach: Reach) => z.output<S> | undefined,
): S {
  parts.add(schema, { partFor })
  return schema
}

/**
 * What answers with this schema show to whom. Computed once, from the marks of the schema and all schemas inside it, so that
 * no endpoint can forget one. Throws TypeError for a mark inside a schema that it cannot follow.
 */
export function showing(schema: z.ZodType): (value: unknown, sight: Sight) => unknown {
  const show = showOf(schema)
  return (value, sight) => {
    const shown = show ? show(value, sight) : value
    // What a caller may not reach is refused when it is looked up, before anything is done: this is a mistake of the server.
    if (shown === undefined && value !== undefined) throw new TypeError('the answer is not for its caller')
    return shown
  }
}

const known = new WeakMap<z.core.$ZodType, Show | null>()
/** Those that are being looked at. */
const open = new Set<z.core.$ZodType>()

/** Null when values of this schema are shown to everyone as they are. */
function showOf(schema: z.core.$ZodType): Show | null {
  const found = known.get(schema)
  if (found !== undefined) return found
  if (open.has(schema)) throw new TypeError('a schema of an answer contains itself')
  open.add(schema)
  const show = withMarks(schema, inside(schema))
  open.delete(schema)
  known.set(schema, show)
  return show
}

function withMarks(schema: z.core.$ZodType, inner: Show | null): Show | null {
  const partFor = parts.get(schema)?.partFor as ((value: unknown, reach: Reach) => unknown) | undefined
  const isSecret = z.globalRegistry.get(schema)?.['x-secret'] === true
  if (!partFor && !isSecret) return inner
  return (value, sight) => {
    if (value === null || value === undefined) return value
    if (isSecret && !sight.secrets) return sight.inPlace?.(value) ?? null
    const part = partFor && sight.reach ? partFor(value, sight.reach) : value
    return part !== undefined && inner ? inner(part, sight) : part
  }
}

function inside(schema: z.core.$ZodType): Show | null {
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'object':
      return objectOf(def)
    case 'array':
      return arrayOf(def.element)
    case 'nullable':
    case 'optional':
    case 'default':
    case 'readonly':
      return wrapped(def.innerType)
    case 'union':
      return oneOf(def.options)
    default:
      return assertUnmarked(schema)
  }
}

function objectOf({ shape, catchall }: z.core.$ZodObjectDef): Show | null {
  if (catchall && showOf(catchall)) throw new TypeError('fields without a name are not for every caller')
  const fields = Object.entries(shape).flatMap(([name, field]) => {
    const show = showOf(field)
    return show ? [[name, show] as const] : []
  })
  if (fields.length === 0) return null
  return (value, sight) => {
    const shown = { ...(value as Record<string, unknown>) }
    for (const [name, show] of fields) {
      if (shown[name] === undefined) continue
      // Without a value the answer would not fit its schema, so it is not sent at all.
      const part = show(shown[name], sight)
      if (part === undefined) throw new TypeError(`${name} of the answer is not for its caller`)
      shown[name] = part
    }
    return shown
  }
}

function arrayOf(element: z.core.$ZodType): Show | null {
  const show = showOf(element)
  if (!show) return null
  return (value, sight) =>
    (value as unknown[]).map((item) => show(item, sight)).filter((item) => item !== undefined)
}

function wrapped(inner: z.core.$ZodType): Show | null {
  const show = showOf(inner)
  return show && ((value, sight) => (value === null || value === undefined ? value : show(value, sight)))
}

/** Answers of several forms: what is a secret in any form that one has is one. */
function oneOf(options: readonly z.core.$ZodType[]): Show | null {
  const shows = options.map(showOf)
  if (shows.every((show) => show === null)) return null
  return (value, sight) => {
    const fitting = shows.filter((_, index) => z.safeParse(options[index]!, value).success)
    if (fitting.length === 0) throw new TypeError('the answer has none of its forms')
    return fitting.reduce((shown, show) => (show && shown !== undefined ? show(shown, sight) : shown), value)
  }
}

/** Throws TypeError when something inside a schema that answers rarely have is marked: nobody would look there. */
function assertUnmarked(schema: z.core.$ZodType): null {
  const { def } = (schema as z.core.$ZodTypes)._zod
  for (const part of Object.values(def).flat())
    if (part instanceof z.core.$ZodType && showOf(part))
      throw new TypeError(`a schema of the type ${def.type} contains what is not for every caller`)
  return null
}
